// Ticks and labels that do not touch.
import { svg } from '../../dom.js';
import { text as format } from '../../text/format.js';
import { textWidth } from './scale.js';

// Shortens a name to the room.
export const clip = (name, width) =>
  textWidth(name) <= width ? name : `${name.slice(0, Math.max(3, Math.floor(width / 6.8) - 1))}…`;

// Ticks 1-2-5 of a logarithmic axis, thinned to decades where they are many.
export function fineTicks([d0, d1], most = 12) {
  const list = (leads) => {
    const ticks = [];
    for (let decade = 10 ** Math.floor(Math.log10(d0)); decade <= d1; decade *= 10)
      ticks.push(...leads.map((lead) => Number((lead * decade).toPrecision(3))));
    return ticks.filter((value) => value >= d0 * 0.9999 && value <= d1 * 1.0001);
  };
  return [[1, 2, 5], [1, 3], [1]].map(list).find((one) => one.length <= most) ?? list([1]);
}

// Grid, ticks and names of two logarithmic axes: {domain, at (the scale), label} each; across also `most`
// ticks and how far `below` the axis its name stands.
export function logAxes({ left, right, bottom }, across, up) {
  return [
    fineTicks(up.domain).map((value) => [
      svg('line', { class: 'grid', x1: left, x2: right, y1: up.at(value), y2: up.at(value) }),
      svg('text', { 'x': left - 7, 'y': up.at(value) + 4, 'text-anchor': 'end' }, format(value, '')),
    ]),
    fineTicks(across.domain, across.most).map((value) =>
      svg('text', { 'x': across.at(value), 'y': bottom + 17, 'text-anchor': 'middle' }, format(value, '')),
    ),
    svg('line', { class: 'axis', x1: left, x2: right, y1: bottom, y2: bottom }),
    svg('text', { x: 0, y: 12 }, `↑ ${up.label}`),
    svg('text', { 'x': right, 'y': bottom + across.below, 'text-anchor': 'end' }, `${across.label} →`),
  ];
}

// Positions for texts near `at`, at least `gap` apart and inside the range, in the order of `at`: [{…one, placed}].
export function apart(list, gap, [low, high]) {
  const sorted = [...list].sort((a, b) => a.at - b.at).map((one) => ({ ...one, placed: Math.max(low, one.at + 4) }));
  for (let i = 1; i < sorted.length; i++) sorted[i].placed = Math.max(sorted[i].placed, sorted[i - 1].placed + gap);
  let ceiling = high;
  for (let i = sorted.length - 1; i >= 0; i--) {
    sorted[i].placed = Math.min(sorted[i].placed, ceiling);
    ceiling = sorted[i].placed - gap;
  }
  return sorted;
}

export const square = (x, y, r) => ({ left: x - r, right: x + r, top: y - r, bottom: y + r });
const touch = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
const between = (low, value, high) => Math.min(high, Math.max(low, value));
const ROW = 17; // from the base of one line of text to that of the next
const GAP = 12; // between a mark and its name

// Positions for names near round marks, the first ones first: [{words, x, y, r}] -> [{words, left, base, leader: a path
// from the mark}]. They lie inside the box and off taken areas and each other; a name without room is left out. Nearer
// is better, apart from `cost(area)` in pixels and leaders that cross other things.
export function near(names, { box, taken, cost }) {
  const CROSSING = 80; // px
  const kept = [...taken];
  /** @type {[[number, number], [number, number]][]} from, to */
  const leaders = [];
  return names.flatMap(({ words, x, y, r }) => {
    const wide = textWidth(words) + 2;
    const areas = [];
    for (let row = -12; row <= 14; row++) {
      for (const side of [x + r + GAP, x - r - GAP - wide, x - wide / 2, box.right - wide, box.left + 4]) {
        const left = between(box.left + 4, side, box.right - wide);
        const base = y + 4 + row * ROW;
        areas.push({ left, right: left + wide, top: base - 11, bottom: base + 4, base });
      }
    }
    const far = (area) => Math.hypot(x - between(area.left, x, area.right), y - between(area.top, y, area.bottom)) - r;
    /** @returns {[number, number]} */
    const endOf = (area) => [between(area.left - 3, x, area.right + 1), between(area.top + 2, y, area.base - 4)];
    const others = kept.filter((one) => !crosses(one, [x, y], [x, y]));
    const crossings = (area) =>
      leaders.filter((line) => crosses(area, ...line)).length +
      others.filter((one) => crosses(one, [x, y], endOf(area))).length;
    const [best] = areas
      .filter((area) => area.top >= box.top && area.bottom <= box.bottom && !kept.some((one) => touch(area, one)))
      .map((area) => ({ ...area, price: far(area) + cost(area) + CROSSING * crossings(area) }))
      .sort((a, b) => a.price - b.price);
    if (!best) return [];
    kept.push(best);
    const [toX, toY] = endOf(best);
    leaders.push([
      [x, y],
      [toX, toY],
    ]);
    const away = Math.hypot(toX - x, toY - y);
    const leader =
      away > r + 3 &&
      `M${(x + ((toX - x) * r) / away).toFixed(1)} ${(y + ((toY - y) * r) / away).toFixed(1)}L${toX.toFixed(1)} ${toY.toFixed(1)}`;
    return [{ words, left: best.left, base: best.base, leader }];
  });
}

// Whether the line from a to b crosses an area.
function crosses({ left, right, top, bottom }, [ax, ay], [bx, by]) {
  let [from, to] = [0, 1];
  for (const [low, high, start, step] of [
    [left, right, ax, bx - ax],
    [top, bottom, ay, by - ay],
  ]) {
    if (step === 0 && (start < low || start > high)) return false;
    if (step === 0) continue;
    const [enters, leaves] = [(low - start) / step, (high - start) / step].sort((a, b) => a - b);
    [from, to] = [Math.max(from, enters), Math.min(to, leaves)];
  }
  return from <= to;
}

// Puts texts where they touch no line, mark or earlier text. Both ways take the first of some {x, y, 'text-anchor'} that touches least;
// `place` takes it anyway, `clear` gives null where it lies on a line or a text. `lines`: lists of points; the marks on a line are part of it.
export function placer({ lines, box }) {
  const MARK = 6;
  const taken = [];
  const segments = lines.flatMap((points) =>
    points.length === 1 ? [[points[0], points[0]]] : points.slice(1).map((point, i) => [points[i], point]),
  );
  const areaOf = (words, { x, y, 'text-anchor': anchor }) => {
    const wide = textWidth(words);
    const left = anchor === 'end' ? x - wide : anchor === 'middle' ? x - wide / 2 : x;
    return { left, right: left + wide, top: y - 11, bottom: y + 4 };
  };
  const outside = ({ left, right, top, bottom }) =>
    left < box.left - 1 || right > box.right + 1 || top < box.top - 12 || bottom > box.bottom + 1;
  const price = (area) => {
    const wide = {
      left: area.left - MARK,
      right: area.right + MARK,
      top: area.top - MARK / 2,
      bottom: area.bottom + MARK / 2,
    };
    return (
      (outside(area) ? 1000 : 0) +
      20 * taken.filter((one) => touch(area, one)).length +
      segments.filter(([a, b]) => crosses(wide, a, b)).length
    );
  };
  const best = (words, places) =>
    places
      .map((at) => ({ at, area: areaOf(words, at) }))
      .map((one) => ({ ...one, price: price(one.area) }))
      .sort((a, b) => a.price - b.price)[0];
  const take = ({ at, area }) => (taken.push(area), at);
  return {
    place: (words, places) => take(best(words, places)),
    clear(words, places) {
      const found = best(words, places);
      const lies = found.price >= 20 || segments.some(([a, b]) => crosses(found.area, a, b));
      return lies ? null : take(found);
    },
  };
}
