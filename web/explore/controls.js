// The controls of Explore, and what they choose among: inputs from the core's description, figures from the present report.
import { h } from '../dom.js';
import { labelOf } from '../form/fields.js';
import { nameOf } from '../report/names.js';
import { get } from '../state/paths.js';
import { parts, unitOf } from '../text/format.js';
import { parse } from '../text/measure.js';
import { has } from '../text/strings.js';
import { t } from './texts.js';

export const OPENING_MS = 20000; // for which a search that a panel opens with goes on

let ids = 0;

// A label over a control; `hint` is read with it.
export function labelled(label, control, hint) {
  const id = `ex-${++ids}`;
  control.id = id;
  control.dataset.key = id;
  if (hint) control.setAttribute('aria-describedby', `${id}-hint`);
  return h(
    'div',
    { class: 'ex-field' },
    h('label', { for: id }, label),
    control,
    hint && h('small', { id: `${id}-hint` }, hint),
  );
}

const option = ({ value, name }, chosen) => h('option', { value, selected: value === chosen }, name);

// groups: [{name, options: [{value, name}]}] or a plain list of options.
export function select(groups, chosen, onchange) {
  const control = h('select', {});
  fillSelect(control, groups, chosen);
  if (onchange) control.addEventListener('change', () => onchange(control.value));
  return control;
}

export function fillSelect(control, groups, chosen) {
  control.replaceChildren(
    ...groups
      .filter((one) => !one.options || one.options.length)
      .map((one) =>
        one.options
          ? h(
              'optgroup',
              { label: one.name },
              one.options.map((each) => option(each, chosen)),
            )
          : option(one, chosen),
      ),
  );
}

export const textBox = (value, attributes = {}) =>
  h('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', value, ...attributes });

export const button = (name, onclick, attributes = {}) => h('button', { type: 'button', onclick, ...attributes }, name);

export const partName = (path) => t(`group.${path.split('.')[0]}`);
// A name with its part, unless the name contains it: "Training: Step time", "Training cost", "Tokens per joule (serving)".
export const inPart = (path, name) => {
  const part = partName(path);
  return new RegExp(`\\b${part}\\b`, 'i').test(name) ? name : `${part}: ${name}`;
};
export const figureName = (path) => inPart(path, nameOf(path));

export const inputName = (path) => inPart(path, labelOf(path));

// The readable name of an objective or a member such as "step_time_s".
export const memberName = (path) => labelOf(path);
export const objectiveName = (of, name) => nameOf(`${of}.${name}`);

export const reasonName = (of, reason) =>
  has(`reason.${reason}`) ? t(`reason.${reason}`) : t('explore.reason.limit', { name: objectiveName(of, reason) });

// Direct figures of a report come first, then parts of other figures, and ends of intervals last.
const placeOf = (path) => (path.includes('_interval.') ? 2 : path.split('.').length > 2 ? 1 : 0);

// The paths of all numbers of a report that are single figures. The level of an interval is left out, because it never changes.
export function figurePaths(report) {
  const paths = [];
  const visit = (value, path, depth) => {
    if (typeof value === 'number') paths.push(path);
    else if (value && typeof value === 'object' && !Array.isArray(value) && depth < 2)
      for (const [member, one] of Object.entries(value)) visit(one, `${path}.${member}`, depth + 1);
  };
  for (const part of ['training', 'serving', 'cost']) if (report[part]) visit(report[part], part, 0);
  return paths.filter((path) => !path.endsWith('_interval.level')).sort((a, b) => placeOf(a) - placeOf(b));
}

export const figureGroups = (report) => {
  const paths = figurePaths(report);
  return ['training', 'serving', 'cost'].map((part) => ({
    name: t(`group.${part}`),
    options: paths.filter((path) => path.startsWith(`${part}.`)).map((path) => ({ value: path, name: wordsOf(path) })),
  }));
};

// A figure's name with the stack that it is part of, unless the name contains it: "Step time by part: Forward".
function wordsOf(path) {
  const [part, parent, member] = path.split('.');
  const [name, stack] = [nameOf(path), nameOf(`${part}.${parent}`)];
  return member && !name.toLowerCase().includes(stack.toLowerCase()) ? `${stack}: ${name}` : name;
}

const GROUPS = ['model', 'cluster', 'training', 'serving', 'cost'];
const NUMERIC = new Set(['quantity', 'ratio', 'count', 'length']);
export const isNumeric = ({ kind }) => NUMERIC.has(kind);

// The inputs that `keep` takes, by group, for a select.
export const inputGroups = (described, keep) =>
  GROUPS.map((group) => ({
    name: t(`group.${group}`),
    options: described.inputs
      .filter(
        (input) =>
          (input.path === group || input.path.startsWith(`${group}.`)) && !input.path.includes('*') && keep(input),
      )
      .map((input) => ({
        value: input.path,
        name: input.path === group ? t(`group.${group}`) : longLabel(input.path),
      })),
  }));

// A label with what it belongs to: "Memory bandwidth (device, memory)".
function longLabel(path) {
  const parents = path.split('.').slice(1, -1);
  const shown = parents.filter((one) => one !== 'mapping').map((one) => one.replaceAll('_', ' '));
  return shown.length ? `${labelOf(path)} (${shown.join(', ')})` : labelOf(path);
}

export const faults = (issues) =>
  h(
    'div',
    { class: 'infeasible', role: 'alert' },
    issues.slice(0, 5).map(({ path, message }) => h('p', {}, [path, message].filter(Boolean).join(': '))),
  );

// Whether inputs differ from those of a question, but for the paths that its answer sets.
export function hasChanged(before, now, own = []) {
  const rest = (inputs) =>
    JSON.stringify(
      Object.entries(inputs)
        .filter(([path]) => !own.includes(path))
        .sort(),
    );
  return rest(before) !== rest(now);
}

// Says in `line` whether the scenario has changed since an answer: {inputs, own}, its inputs and the paths that it sets.
export function tellStale(line, answer, now) {
  line.textContent = answer && hasChanged(answer.inputs, now, answer.own) ? t('explore.stale.result') : '';
}

// The present value of a figure as it is read, {number, unit}: what bounds are typed after.
export function presentOf(report, path) {
  const value = get(report, path);
  const { number, unit } = typeof value === 'number' ? parts(value, unitOf(path)) : { number: '', unit: '' };
  return { number, unit: unit.replace(/\s/g, ' ') };
}
export const joined = ({ number, unit }) => `${number} ${unit}`.trim();

// A bound as people write it, "$12.3 M" or "1,500 k tokens/s", as the core reads it.
export const plainBound = (words) => words.replace(/\$|,(?=\d{3})/g, '').replace(/(?<=\b[kMGTPE]) (?=tokens?)/, '');
// The same in base units; undefined if it is none.
export const boundIn = (words) => parse(plainBound(words));
