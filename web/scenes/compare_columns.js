// The scenarios side by side, and their differences.
/** @import {Context} from '../types.js' */
import { labelOf } from '../form/fields.js';
import { deviceName, modelName } from '../report/words.js';
import { get } from '../state/paths.js';
import { withoutFaulty } from '../state/scenario.js';
import { text, unitOf, whole } from '../text/format.js';
import { has } from '../text/strings.js';
import { t } from './texts.js';
export const PARTS = ['training', 'serving', 'cost'];
const MOST_WORDS = 2; // of what differs, in a column's name

// The report of some inputs, without the parts that its issues are about: {report, issues, faulty}; undefined report: on its way.
/** @param {Context} context */
function answerOf(context, inputs) {
  const request = context.core.requestFor(inputs);
  const first = context.ask('evaluate', request, '');
  if (!first?.issues) return { report: first, issues: [], faulty: new Set() };
  const rest = withoutFaulty(request, first.issues);
  const second = rest && context.ask('evaluate', rest, '');
  if (rest && !second) return { report: undefined, issues: [], faulty: new Set() };
  const report = second && !second.issues ? second : null;
  return {
    report,
    issues: first.issues,
    faulty: new Set(report ? PARTS.filter((part) => rest[part] === null && request[part] !== null) : PARTS),
  };
}

// Every scenario of the comparison; the first is the open one.
/** @param {Context} context */
export function columns(context) {
  const own = { inputs: context.inputs, report: context.report, issues: context.issues, faulty: context.faulty };
  return [own, ...context.store.others.map((inputs) => ({ inputs, ...answerOf(context, inputs) }))];
}

const written = (all) =>
  [...new Set(all.flatMap(({ inputs }) => Object.keys(inputs)))].filter((path) => path !== 'version').sort();
// The first view has ten digits, and the module all of them: that is no difference.
const DIGITS = 7;
export const rounded = (value) => (typeof value === 'number' ? Number(value.toPrecision(DIGITS)) : value);
export const resolved = ({ report, inputs }, path) => {
  const value = report && get(report.scenario, path);
  if (inputs[path] === 'null') return t('compare.off');
  if (value === undefined || value === null) return inputs[path] ?? (value === null ? t('compare.off') : undefined);
  if (typeof value === 'object') return value.name ?? value.preset ?? inputs[path] ?? t('compare.on');
  return rounded(value);
};
// The name of an input, or of a part that is on or off.
const nameOf = (path) => (PARTS.includes(path) ? t(`group.${path}`) : labelOf(path));
export const shown = (value, path) =>
  value === undefined
    ? '–'
    : typeof value === 'number'
      ? Number.isInteger(value)
        ? whole(value)
        : text(value, unitOf(path))
      : String(value);
// Inputs that were written and differ between scenarios, with their resolved values.
export const differing = (all) =>
  written(all).filter((path) => new Set(all.map((one) => JSON.stringify(resolved(one, path)))).size > 1);

export const fleet = ({ report }) =>
  report && `${whole(report.scenario.cluster.devices)} × ${deviceName(report.scenario)}`;
export const differs = (all, of) => new Set(all.map(of)).size > 1;

// Each column's difference from the others: "512 × B200", "Llama-3.1-8B", "Concurrent requests per replica 64".
export function namesOf(all) {
  const rest = differing(all).filter(
    (path) => path !== 'model' && !path.startsWith('cluster') && !path.endsWith('.devices'),
  );
  const byFleet = differs(all, fleet);
  const byModel = differs(all, ({ report }) => report && modelName(report.scenario));
  const names = all.map((one) => {
    const words = [byModel && one.report && modelName(one.report.scenario), byFleet && fleet(one)].filter(Boolean);
    if (words.length < MOST_WORDS)
      words.push(
        ...rest
          .slice(0, MOST_WORDS - words.length)
          .map((path) => `${nameOf(path)} ${shown(resolved(one, path), path)}`),
      );
    return words.join(', ');
  });
  // Columns with equal names add their other differences.
  const spoken = names.map((name, i) => {
    const equals = all.filter((_, at) => names[at] === name);
    const path =
      equals.length > 1 && rest.find((one) => differs(equals, (column) => JSON.stringify(resolved(column, one))));
    return path
      ? [
          name,
          `${has(`compare.short.${path}`) ? t(`compare.short.${path}`) : nameOf(path)} ${shown(resolved(all[i], path), path)}`,
        ]
          .filter(Boolean)
          .join(', ')
      : name;
  });
  return lettered(spoken);
}

const lettered = (names) =>
  names.map((name, i) =>
    name && names.indexOf(name) === names.lastIndexOf(name)
      ? name
      : [name || t('compare.column', { letter: 'ABCD'[i] }), name && `(${'ABCD'[i]})`].filter(Boolean).join(' '),
  );
