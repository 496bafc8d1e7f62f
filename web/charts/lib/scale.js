// Scales and ticks. Log scales refuse what is not positive by leaving it out of the domain.

/**
 * From a domain to a range of pixels.
 * @typedef {(domain: number[], range: number[]) => (value: number) => number} Scale
 */

/** @type {Scale} */
export const linear =
  ([d0, d1], [r0, r1]) =>
  (value) =>
    r0 + ((value - d0) / (d1 - d0 || 1)) * (r1 - r0);
/** @type {Scale} */
export const log =
  ([d0, d1], [r0, r1]) =>
  (value) =>
    r0 + (Math.log(value / d0) / Math.log(d1 / d0)) * (r1 - r0);

// Round ticks, about `count` of them, inside the domain.
/** @param {number[]} domain */
export function ticks([d0, d1], count = 6) {
  const span = d1 - d0;
  if (!(span > 0)) return [d0];
  const raw = span / count;
  const decade = 10 ** Math.floor(Math.log10(raw));
  const step = decade * ([1, 2, 5, 10].find((one) => one * decade >= raw) ?? 10);
  const list = [];
  for (let value = Math.ceil(d0 / step - 1e-9) * step; value <= d1 + step * 1e-9; value += step)
    list.push(Number(value.toPrecision(12)));
  return list;
}

// Decades inside a domain, thinned so that at most `count` remain.
/** @param {number[]} domain */
export function decades([d0, d1], count = 7) {
  const first = Math.ceil(Math.log10(d0) - 1e-9);
  const last = Math.floor(Math.log10(d1) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / count));
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i)
    .filter((e) => (e - first) % every === 0)
    .map((e) => 10 ** e);
}

// Ticks of a log axis: decades, powers of two for bytes, and 1-2-5 where the domain is short.
export function logTicks(domain, count, unit) {
  const [d0, d1] = domain;
  if (unit === 'B') {
    const first = Math.ceil(Math.log2(d0));
    const last = Math.floor(Math.log2(d1));
    const every = Math.max(1, Math.ceil((last - first + 1) / count));
    return Array.from({ length: Math.floor((last - first) / every) + 1 }, (_, i) => 2 ** (first + i * every));
  }
  if (Math.log10(d1 / d0) > 2.2) return decades(domain, count);
  return [1, 2, 5]
    .flatMap((lead) => decades([d0 / 10, d1], 9).map((decade) => decade * lead))
    .filter((value) => value >= d0 && value <= d1)
    .sort((a, b) => a - b);
}

// The unit that a person would use: GiB for bytes; minutes, hours, days or years for times at least twice as long.
const COUNTED = { B: [2 ** 40, 2 ** 30, 2 ** 20], s: [2 * 31557600, 2 * 86400, 2 * 3600, 2 * 60] };
const TIMES = { [2 * 31557600]: 31557600, [2 * 86400]: 86400, [2 * 3600]: 3600, [2 * 60]: 60 };
const scaleOf = (most, unit) => {
  const found = COUNTED[unit]?.find((one) => most >= one) ?? 1;
  return TIMES[found] ?? found;
};

// Ticks of a logarithmic axis in that unit.
export const unitLogTicks = (domain, count, unit) => {
  if (unit === 'B') return logTicks(domain, count, unit);
  const scale = scaleOf(domain[1], unit);
  return logTicks([domain[0] / scale, domain[1] / scale], count, '').map((value) => value * scale);
};

// Ticks of a linear axis, round in that unit.
export function unitTicks(domain, count, unit) {
  const scale = scaleOf(domain[1], unit);
  return ticks([domain[0] / scale, domain[1] / scale], count).map((value) => value * scale);
}

// The domain of positive values, widened to share `margin` of a decade on both sides.
export function positiveDomain(values, margin = 0.15) {
  const kept = values.filter((value) => value > 0 && Number.isFinite(value));
  if (kept.length === 0) return [1, 10];
  return [Math.min(...kept) * 10 ** -margin, Math.max(...kept) * 10 ** margin];
}

// About how wide a text is at 12 px, without asking the layout.
export const textWidth = (text, size = 12) => String(text).length * size * 0.56;
