// The results of a search as rows: the members that differ between mappings, their order, and the rows that a filter
// keeps.
import { inputText } from '../text/inputs.js';

const valueAt = (row, key) => (Object.hasOwn(row.overrides, key) ? row.overrides[key] : row[key]);

// Members with the same value in all rows are stated once; the others become columns.
export function columnsOf(rows) {
  const paths = [...new Set(rows.flatMap(({ overrides }) => Object.keys(overrides)))];
  const at = (row, path) => row.overrides[path] ?? null; // a null takes a value back: as good as none
  const same = (path) => rows.every((row) => at(row, path) === at(rows[0], path));
  return { differ: paths.filter((path) => !same(path)), common: paths.filter(same) };
}

const compare = (a, b) => (typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b)));

// Sorts rows by a member or figure; equal rows keep the order of the search.
export const sorted = (rows, key, descending) =>
  rows
    .map((row, at) => [row, at])
    .sort(
      ([a, i], [b, j]) =>
        (key === 'rank' ? a.rank - b.rank : compare(valueAt(a, key), valueAt(b, key))) * (descending ? -1 : 1) || i - j,
    )
    .map(([row]) => row);

// Every word of the filter must be in the row: "tp=8", "full".
export function filtered(rows, words) {
  const wanted = words
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  const pieces = (row) =>
    Object.entries(row.overrides).map(([path, value]) => `${path.split('.').at(-1)}=${value}`.toLowerCase());
  const fits = (word, piece) => (word.includes('=') ? piece === word : piece.includes(word));
  return rows.filter((row) => wanted.every((word) => pieces(row).some((piece) => fits(word, piece))));
}

// The inputs overridden by a mapping: null removes a path, a catalogue entry replaces everything below it.
export function asInputs(inputs, overrides) {
  let all = { ...inputs };
  const below = (path) => (one) => one === path || one.startsWith(`${path}.`);
  for (const [path, value] of Object.entries(overrides)) {
    const replaces = value === null || !path.includes('.');
    if (replaces) all = Object.fromEntries(Object.entries(all).filter(([one]) => !below(path)(one)));
    if (value !== null) all[path] = inputText(path, value);
  }
  return all;
}

// The rows that no other beats in both of two figures, larger being better, by the first.
/**
 * @param {object[]} rows
 * @param {string[]} figures the objective, and the one to trade it against
 */
export function frontOf(rows, [one, two]) {
  const front = [];
  for (const row of [...rows].sort((a, b) => b[one] - a[one] || b[two] - a[two])) {
    if (!front.length || row[two] > front.at(-1)[two]) front.push(row);
  }
  return front;
}

// At most `most` of a front's points, the ends among them.
export function thinned(points, most) {
  const nth = Math.ceil(points.length / most);
  return { nth, points: nth <= 1 ? points : points.filter((_, at) => at % nth === 0 || at === points.length - 1) };
}
