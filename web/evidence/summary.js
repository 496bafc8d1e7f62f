// Errors of any selection of runs: no figure of the model, only the distribution of errors.
const sorted = (numbers) => [...numbers].sort((a, b) => a - b);
const median = (numbers) => {
  const list = sorted(numbers);
  const middle = list.length >> 1;
  return list.length % 2 ? list[middle] : (list[middle - 1] + list[middle]) / 2;
};

export function summaryOf(runs) {
  const errors = runs.map(({ error }) => Math.abs(error));
  return {
    count: runs.length,
    median: median(errors),
    mean: errors.reduce((sum, one) => sum + one, 0) / errors.length,
    worst: runs.reduce((worst, one) => (Math.abs(one.error) > Math.abs(worst.error) ? one : worst)),
  };
}

// The runs grouped by `keyOf`: [[key, runs]], the largest median first.
export function grouped(runs, keyOf) {
  const groups = new Map();
  for (const run of runs) groups.set(keyOf(run), [...(groups.get(keyOf(run)) ?? []), run]);
  return [...groups].sort(([, a], [, b]) => summaryOf(b).median - summaryOf(a).median);
}

export const worstFirst = (runs) =>
  [...runs].sort((a, b) => Math.abs(b.error) - Math.abs(a.error) || (a.id < b.id ? -1 : 1));
