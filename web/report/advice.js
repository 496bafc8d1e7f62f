// The best changes, each with its effect on every answer and a button that applies it. They come a moment after the
// answers; their place is kept until then.
/** @import {Context} from '../types.js' */
import { h } from '../dom.js';
import { get } from '../state/paths.js';
import { sayTheSame, withOverrides } from '../state/scenario.js';
import { number, parts, text, whole } from '../text/format.js';
import { t } from './texts.js';

const SHOWN = 3;
const ASKED = 24; // of which one of a kind is shown before a second, with and without a purchase
const SMALL = 0.005; // a change of a figure that is not worth a word
const SAME = 0.01; // how near what the core chooses must come to what a change says

// What to rank by, if the scenario has it.
const AIMS = [
  { id: 'training', part: 'training', question: { for: 'training' } },
  { id: 'token', part: 'serving', question: { for: 'serving', objective: 'tpot_s' } },
  { id: 'cost', part: 'serving', question: { for: 'serving' } },
];

const USERS = 'serving.requests_in_flight';

// A column names its figures in the order in which they are looked for; of all less is better, but memory in use.
export const COLUMNS = [
  { id: 'training', paths: ['training.time_to_train_s'], unit: 's' },
  { id: 'token', paths: ['serving.tpot_s'], unit: 's' },
  { id: 'memory', paths: ['training.memory_bytes.total', 'serving.memory_bytes.total'], unit: 'B' },
  { id: 'cost', paths: ['training.cost_usd', 'serving.cost_usd_per_million_tokens'], unit: '$' },
];

const MANIFOLD = 20; // from which a factor says more than a percentage
export function differenceText(before, after) {
  const factor = Math.max(before / after, after / before);
  const words =
    factor < MANIFOLD
      ? `${number(Math.abs(after / before - 1) * 100, 2)}\u00a0%`
      : `${after < before ? '÷' : '×'}\u00a0${number(factor, 2)}`;
  return `${after < before ? '▼' : '▲'} ${words}`;
}

// A figure's present value; a scenario that does not fit has only its memory.
const standing = (report, path) =>
  report[path.split('.')[0]]?.feasible === false && !path.includes('memory') ? undefined : get(report, path);

const moves = (figures, before, path) =>
  standing(before, path) > 0 && Math.abs(figures[path] / standing(before, path) - 1) > SMALL;

// The figure of a column that a change moves, or the first one: {path, was, isMoved, isSecond}; null if there is none.
function effectOf({ paths }, figures, before) {
  const known = paths.filter((path) => figures[path] > 0);
  const path = known.find((one) => moves(figures, before, one)) ?? known[0];
  if (!path) return null;
  const was = standing(before, path);
  return {
    path,
    was,
    isMoved: !(was > 0) || moves(figures, before, path),
    isSecond: path !== paths[0] && figures[paths[0]] > 0,
  };
}

// "of 23.8" beside the memory in use, in its unit where that is the device's too; "" of other figures.
function capacityText(path, figures, unit) {
  const capacity = unit === 'B' ? figures[path.replace(/\.total$/, '.capacity')] : undefined;
  if (!(capacity > 0)) return '';
  const [used, all] = [figures[path], capacity].map((one) => parts(one, unit));
  return t('advice.of', { capacity: used.unit === all.unit ? all.number : text(capacity, unit) });
}

function cell(column, figures, before) {
  const attributes = { 'data-l': t(`advice.column.${column.id}`) };
  const effect = effectOf(column, figures, before);
  if (!effect) return h('td', { ...attributes, class: 'quiet' }, '–');
  const { path, was, isMoved, isSecond } = effect;
  const capacity = capacityText(path, figures, column.unit);
  if (!isMoved)
    return h(
      'td',
      { ...attributes, class: 'quiet' },
      t('advice.same'),
      capacity && [h('br'), h('small', {}, capacity)],
    );
  // A figure other than the column's first is named.
  const of = isSecond && h('small', {}, `${t('advice.serving')} `);
  const after = figures[path];
  const difference =
    was > 0 &&
    h('small', { class: after < was ? 'good' : column.unit === 'B' ? undefined : 'bad' }, differenceText(was, after));
  return h(
    'td',
    attributes,
    of,
    text(after, column.unit),
    (capacity || difference) && h('br'),
    capacity && h('small', {}, capacity, ' '),
    difference,
  );
}

// The same in one line.
export function changeText(column, figures, before) {
  const effect = effectOf(column, figures, before);
  if (!effect) return '–';
  const { path, was, isMoved, isSecond } = effect;
  if (!isMoved) return t('advice.same');
  return [
    isSecond && t('advice.serving'),
    text(figures[path], column.unit),
    capacityText(path, figures, column.unit),
    was > 0 && differenceText(was, figures[path]),
  ]
    .filter(Boolean)
    .join(' ');
}

// The last change applied, as long as the inputs are still those that it made.
function appliedTo({ core, stage, store }) {
  const applied = stage.chosen('applied');
  return applied && sayTheSame(core.described.defaults, store.inputs, applied.after, core.presetPaths) ? applied : null;
}

// The overrides without the mapping, if the core chooses the same one.
function withoutMapping({ report, inputs }, overrides) {
  const isLeft = (path) =>
    /^\w+\.(mapping\.|recompute$)/.test(path) &&
    report[path.split('.')[0]]?.chosen?.length > 0 &&
    inputs[path] === undefined;
  return Object.fromEntries(Object.entries(overrides).filter(([path]) => !isLeft(path)));
}

// The inputs after a change: if the mapping is automatic and the automatic one is as good as the change's, it stays
// automatic.
/** @param {Context} context */
async function inputsWith(context, change, figure) {
  const { core, inputs } = context;
  const free = withOverrides(inputs, withoutMapping(context, change.overrides));
  const found = get((await core.engine.call('evaluate', core.requestFor(free), '')) ?? {}, figure);
  return Math.abs(found / change.figures[figure] - 1) < SAME ? free : withOverrides(inputs, change.overrides);
}

/** @param {Context} context */
async function apply(context, change, figure) {
  const { stage, store, report } = context;
  const before = store.inputs;
  const after = await inputsWith(context, change, figure);
  if (store.inputs !== before) return; // something else was changed meanwhile
  stage.choose('applied', { change, before, after, report });
  context.before.show(report);
  store.setInputs(after);
}

const button = (kind, title, onclick) =>
  h(
    'button',
    {
      'type': 'button',
      'class': `button ${kind}`,
      'data-key': 'advice-' + title,
      'aria-label': t(`advice.${kind}.of`, { title }),
      onclick,
    },
    t(`advice.${kind}`),
  );

// "Twice the devices (TP 8 → 4)": how the automatic mapping changes; other consequences are left out.
const shortTitle = ({ title, overrides }, { chosen = [] } = {}) =>
  chosen.length > 0 && Object.keys(overrides).some((path) => !/\.(mapping\.|recompute$)/.test(path))
    ? title.replace(/ \([^()]*→[^()]*\)$/, '')
    : title;

// The columns that the scenario has figures for.
export const columnsOf = (report) => COLUMNS.filter(({ paths }) => paths.some((path) => report[path.split('.')[0]]));

// The effect of a change on the number of requests in flight, if any.
export function usersText(figures, before) {
  const [now, was] = [figures[USERS], get(before, USERS)];
  return now > 0 && was > 0 && Math.abs(now / was - 1) > SMALL
    ? t('advice.users', { now: whole(now), was: whole(was) })
    : '';
}

function row(change, before, action, part) {
  const { title, effort, figures } = change;
  const users = usersText(figures, before);
  return h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row', title },
      shortTitle(change, before[part]),
      h('br'),
      h('small', {}, users && [h('b', {}, users), ' '], effort.replace(/ M\b/g, '\u00a0M')),
    ),
    columnsOf(before).map((column) => cell(column, figures, before)),
    h('td', { class: 'full' }, action),
  );
}

// Advice on former inputs, until that on the present ones has come: its figures are not shown next to the present ones.
const pendingRow = ({ title }, report) =>
  h(
    'tr',
    {},
    h('th', { scope: 'row' }, title),
    columnsOf(report).map(({ id }) => h('td', { 'data-l': t(`advice.column.${id}`), 'class': 'quiet' }, '…')),
    h('td', { class: 'full' }),
  );

function head(report) {
  const now = ({ paths, unit }) =>
    paths
      .map((path) => standing(report, path))
      .filter((value) => value > 0)
      .slice(0, unit === 'B' ? 1 : 2)
      .map((value) => text(value, unit));
  return h(
    'thead',
    {},
    h(
      'tr',
      {},
      h('th', { scope: 'col' }, t('advice.change')),
      columnsOf(report).map((column) =>
        h(
          'th',
          { scope: 'col' },
          t(`advice.column.${column.id}`),
          h('br'),
          h('span', {}, now(column).length ? t('advice.now', { value: now(column).join(' · ') }) : '–'),
        ),
      ),
      h('th', { scope: 'col' }, h('span', { class: 'visually-hidden' }, t('advice.action'))),
    ),
  );
}

// First one of each kind ("device.dgx-b200" is of the kind "device"), then the next best.
function oneOfAKindFirst(changes) {
  const kind = ({ id }) => id.split('.')[0];
  const firsts = changes.filter((one, i) => changes.findIndex((other) => kind(other) === kind(one)) === i);
  return [...firsts, ...changes.filter((one) => !firsts.includes(one))];
}

// First the changes that need no purchase, then purchases, of which there is always one.
export function chooseShown(changes, count) {
  const isBought = ({ needs }) => needs === 'purchase';
  const bought = oneOfAKindFirst(changes.filter(isBought));
  const free = oneOfAKindFirst(changes.filter((one) => !isBought(one))).slice(0, bought.length ? count - 1 : count);
  return [...free, ...bought].slice(0, count);
}

/** @param {Context} context */
function aimButtons(context, aims, chosen) {
  if (aims.length < 2) return null;
  return h(
    'div',
    { 'class': 'segments', 'role': 'group', 'aria-label': t('advice.by') },
    aims.map(({ id }) =>
      h(
        'button',
        {
          'type': 'button',
          'data-key': `aim-${id}`,
          'aria-pressed': String(id === chosen),
          'onclick': () => context.stage.choose('aim', id),
        },
        t(`advice.aim.${id}`),
      ),
    ),
  );
}

// The best pair of changes, in a sentence with its own button.
/** @param {Context} context */
function pairLine(context, pair, figure) {
  const was = standing(context.report, figure);
  if (!pair || !(was > 0) || !(pair.figures[figure] > 0)) return null;
  return [
    ' ',
    t('advice.pair', {
      title: pair.title,
      share: `${number(Math.abs(pair.figures[figure] / was - 1) * 100, 2)}\u00a0%`,
    }),
    ' ',
    h(
      'button',
      { 'type': 'button', 'class': 'link', 'data-key': 'advice-pair', 'onclick': () => apply(context, pair, figure) },
      t('advice.apply'),
    ),
  ];
}

// The question of the advice and its objective: {aims, aim, question}; null if the scenario has nothing to rank.
export function adviceQuestion({ stage, report, request }) {
  const aims = AIMS.filter(({ part }) => report[part]);
  const aim = aims.find(({ id }) => id === stage.chosen('aim')) ?? aims[0];
  return aim ? { aims, aim, question: { request, ...aim.question, top: ASKED } } : null;
}

/** @param {Context} context */
export function advice(context) {
  const { stage, report, store } = context;
  const asked = adviceQuestion(context);
  if (!asked) return null;
  const { aims, aim } = asked;
  const { report: answer, isFresh, isOf } = context.advice.on(asked.question);
  const applied = appliedTo(context);
  const undo = () => {
    stage.choose('applied', null);
    store.setInputs(applied.before);
  };
  // Until new advice comes, the previous one stays, without the change that was applied.
  const changes = (answer?.changes ?? []).filter(({ title }) => title !== applied?.change.title);
  const shown = chooseShown(changes, SHOWN - (applied ? 1 : 0));
  const rows = [
    applied && row(applied.change, applied.report, button('undo', applied.change.title, undo), aim.part),
    ...shown.map((change) =>
      isOf
        ? row(
            change,
            report,
            button('apply', change.title, () => apply(context, change, answer.figure)),
            aim.part,
          )
        : pendingRow(change, report),
    ),
  ];
  const none = isFresh && !shown.length && h('p', { class: 'note' }, t('advice.none'));
  return h(
    'section',
    { 'class': 'part advice', 'id': 'advice', 'aria-busy': String(!isFresh) },
    h('div', { class: 'headrow' }, h('h2', {}, t('advice.title')), aimButtons(context, aims, aim.id)),
    h(
      'table',
      { class: 'cards' },
      h('caption', { class: 'visually-hidden' }, t('advice.caption')),
      head(report),
      h('tbody', { class: isFresh ? undefined : 'stale' }, rows),
    ),
    none,
    h(
      'p',
      { class: 'note' },
      !isOf ? t('chart.waiting') : isFresh && pairLine(context, answer.pairs?.[0], answer.figure),
    ),
  );
}
