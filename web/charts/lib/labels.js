// Ticks and labels that do not touch.

// Ticks 1-2-5 of a logarithmic axis, thinned to decades where they are many.
export function fineTicks([d0, d1], most = 12) {
  const list = (leads) => {
    const ticks = [];
    for (let decade = 10 ** Math.floor(Math.log10(d0)); decade <= d1; decade *= 10) ticks.push(...leads.map((lead) => Number((lead * decade).toPrecision(3))));
    return ticks.filter((value) => value >= d0 * 0.9999 && value <= d1 * 1.0001);
  };
  return [[1, 2, 5], [1, 3], [1]].map(list).find((one) => one.length <= most) ?? list([1]);
}

// Places for texts beside `at`, at least `gap` apart and inside the range, in the order of `at`: [{…one, placed}].
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
