// Answers of former releases against those of this one.
import { read } from '../state/link.js';
import { get } from '../state/paths.js';

export const MOVED = 0.005; // a share of an answer, below which a reader sees the same digits

// data/releases.json: {"figures": [path], "links": [{"link", "title", "answers": {RELEASE: [value or null, as figures]}}]}
export const scenarios = ({ links }, scenes) =>
  Promise.all(links.map(async (one) => ({ ...one, inputs: (await read(one.link, scenes)).inputs })));

// Changes of a scenario's answers since each recorded release: [{release, path, before, after}]; null for an answer
// that did not exist.
export function movesOf({ answers }, figures, report) {
  return Object.entries(answers).flatMap(([release, were]) =>
    figures
      .map((path, i) => ({ release, path, before: were[i], after: get(report, path) ?? null }))
      .filter(({ before, after }) =>
        before === null || after === null ? before !== after : Math.abs(after / before - 1) > MOVED,
      ),
  );
}
