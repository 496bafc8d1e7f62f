// Evaluates a lesson's claims: "B.serving.tpot_s < 1.02 * A.serving.tpot_s" over the reports of its scenarios. A path's
// first letter names the scenario; "scenario.training.mapping.tp" of a report is the request.
import { evaluate, parse } from '../formula/parse.js';
import { get } from '../state/paths.js';

const COMPARE = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '=': (a, b) => Math.abs(a - b) <= 0.005 * Math.max(Math.abs(a), Math.abs(b)),
};
const PATH = /\b([A-Z])\.([a-z_][\w.]*)/g;

// The value of an expression over reports; paths that no report has are added to `missing`.
export function valueOf(expression, reports, missing = []) {
  const values = new Map();
  const names = expression.replace(PATH, (whole, letter, path) => {
    const value = reports[letter] && get(reports[letter], path);
    const number = typeof value === 'boolean' ? Number(value) : value;
    if (typeof number !== 'number') missing.push(whole);
    const name = `v${values.size}`;
    values.set(name, number);
    return name;
  });
  return evaluate(parse(names), values);
}

function compare(comparison, reports) {
  const match = /^(.*?)(<=|>=|<|>|=)(.*)$/.exec(comparison);
  if (!match) throw new Error(`an expectation needs a comparison: ${comparison}`);
  const missing = [];
  const [left, right] = [valueOf(match[1], reports, missing), valueOf(match[3], reports, missing)];
  return { left, right, missing, holds: missing.length === 0 && COMPARE[match[2]](left, right) };
}

// {left, right, holds, missing} of comparisons joined by "and": of the first that does not hold, or else of the first.
// `missing` lists the paths that no report has. "=" means within half a percent.
export function check(expression, reports) {
  const comparisons = expression.split(' and ').map((one) => compare(one, reports));
  return comparisons.find(({ holds }) => !holds) ?? comparisons[0];
}

// The version under a lesson: lessons were written over the first default scenario, whose mapping stays while one thing
// moves.
export const startOf = (lesson) => ({ ...lesson.start, version: '1' });

// The inputs of a lesson's scenarios: A is its start, the others override it.
export function scenariosOf(lesson) {
  return Object.fromEntries(
    Object.entries({ A: {}, ...lesson.scenarios }).map(([letter, inputs]) => [
      letter,
      { ...startOf(lesson), ...inputs },
    ]),
  );
}
