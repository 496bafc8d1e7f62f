// Measurements of one's own as inputs: "measured.0.path" and "measured.0.value". The core finds the constant that explains each and moves every
// answer. Once another input changes, "measured.0.at" says which scenario was measured, so that the answers can move away from it.
import { versionOf } from './scenario.js';

// At most two digits, as for places of other lists: a link could otherwise state an endless list.
const MINE = /^measured\.(\d{1,2})\./;
const isMine = (path) => MINE.test(path);

// [{path, value, at}] in their order.
export function measurementsIn(inputs) {
  const list = [];
  for (const [path, text] of Object.entries(inputs)) {
    const [start, place] = MINE.exec(path) ?? [];
    if (start) (list[place] ??= {})[path.slice(start.length)] = text;
  }
  return list.filter((one) => one?.path);
}

const others = (inputs) => Object.fromEntries(Object.entries(inputs).filter(([path]) => !isMine(path)));
const withList = (inputs, list) => ({
  ...others(inputs),
  ...Object.fromEntries(
    list.flatMap((one, place) => Object.entries(one).map(([member, text]) => [`measured.${place}.${member}`, text])),
  ),
});

// Adds a measurement of a figure in this scenario; it replaces an earlier one of the same figure.
export const withMeasured = (inputs, path, value) =>
  withList(inputs, [...measurementsIn(inputs).filter((one) => one.path !== path), { path, value }]);
export const withoutMeasured = (inputs, path) =>
  withList(
    inputs,
    measurementsIn(inputs).filter((one) => one.path !== path),
  );

const escaped = (text) => text.replace(/%/g, '%25').replace(/&/g, '%26');

// Inputs as one text, PATH=VALUE joined by "&"; never empty.
function scenarioText(inputs) {
  const pairs = Object.entries(others(inputs))
    .filter(([path]) => path !== 'version')
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return [`version=${versionOf(inputs)}`, ...pairs.map(([path, text]) => `${path}=${escaped(text)}`)].join('&');
}

// The inputs after a change; measurements stay tied to the scenario in which they were made. `choices`: the core's
// choices there, by path.
export function withMeasuredKept(before, after, choices = {}) {
  const list = measurementsIn(after);
  if (list.length === 0 || scenarioText(before) === scenarioText(after)) return after;
  const was = measurementsIn(before);
  const isOld = ({ path, value }) => was.some((one) => one.path === path && one.value === value);
  const at = scenarioText({ ...choices, ...before });
  return withList(
    after,
    list.map((one) => (one.at === undefined && isOld(one) ? { ...one, at } : one)),
  );
}
