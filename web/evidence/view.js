// How certain an answer is: its interval in plain words, the most similar runs against the diagonal, their differences
// from the scenario, and what would narrow the interval. The core finds the runs and all their figures; this module
// words them.
/** @import {Context} from '../types.js' */
import { diagonal } from '../charts/diagonal.js';
import { likely } from '../charts/likely.js';
import { h } from '../dom.js';
import { unknownPlace } from '../scenes/parts.js';
import { text, unitOf, whole } from '../text/format.js';
import { knownRuns } from './known_runs.js';
import { namesOf } from './names.js';
import { errorCell, evidenceTable, loadButton, scoreboardLink, sourceLink } from './parts.js';
import { ownView } from './own.js';
import { runWords, signedShare, sourceName, UNITS } from './runs.js';
import { typical } from './typical.js';
import { has } from '../text/strings.js';
import { t } from './texts.js';

const FIGURES = [
  ['training.step_time_s', 'train'],
  ['training.memory_bytes.total', 'memory'],
  ['serving.tpot_s', 'serve'],
  ['serving.ttft_s', 'serve'],
  ['serving.tokens_per_s', 'serve'],
  ['serving.memory_bytes.total', 'memory'],
  ['diffusion.latency_s', 'serve'],
];
const SHOWN = 8; // the nearest, in the accent color and in the table
const NOT_OF_IMAGES = ['experts', 'latency'];
const SHARES = ['network', 'latency', 'waiting'];
const WIDE = 820; // px of a scene with two columns, as evidence.css has it
const SAID = 0.005; // of the answer: less is not said to widen or narrow

// Texts of runs: {known(run), words(run), label(run)}; null until the files of their sources have loaded.
/** @param {Context} context */
function runsOf(context, list) {
  const known = knownRuns(context, list);
  if (!known) return null;
  const named = namesOf(context);
  return {
    known,
    words: (run) => runWords(known(run), run.setting, named),
    label(run) {
      const { what, how } = this.words(run);
      const unit = UNITS[run.kind];
      return t('evidence.point', {
        run: `${what}: ${how}`,
        measured: text(run.measured, unit),
        computed: text(run.computed, unit),
        error: signedShare(run.error),
      });
    },
  };
}

/** @param {Context} context */
const runCell = (context, runs, run) => {
  const { what, how } = runs.words(run);
  return [what, h('small', {}, how, ' · ', sourceLink(runs.known(run).source), ' · ', loadButton(context, runs, run))];
};

/** @param {Context} context */
function nearest(context, runs, evidence) {
  const shown = evidence.runs.slice(0, SHOWN);
  const most = Math.max(...shown.map(({ error }) => Math.abs(error)));
  return evidenceTable({
    caption: t('evidence.nearest'),
    note: t('evidence.nearest.sub'),
    columns: [
      { name: t('evidence.column.run') },
      { name: t('evidence.column.measured') },
      { name: t('evidence.column.computed') },
      { name: t('evidence.error') },
    ],
    rows: shown.map((run) => [
      [runCell(context, runs, run), run.kind === evidence.kind ? null : h('small', {}, t(`kind.${run.kind}`))],
      text(run.measured, UNITS[run.kind]),
      text(run.computed, UNITS[run.kind]),
      errorCell(run.error, most),
    ]),
  });
}

// What a difference is called and how its values read.
function traitWords({ trait, yours, runs }, part, named) {
  const own = `evidence.trait.${trait}.${part}`;
  const title = t(has(own) ? own : `evidence.trait.${trait}`);
  if (trait === 'experts') {
    const word = (one) => t(one ? 'evidence.yes' : 'evidence.no');
    return { title, yours: word(yours), runs: runs.map(word).join(', ') };
  }
  if (typeof yours === 'string') {
    const word = (id) => named(trait, id) ?? id;
    return { title, yours: word(yours), runs: runs.map(word).join(', ') };
  }
  const word = (one) =>
    SHARES.includes(trait)
      ? text(Math.round(one * 100) / 100, '%')
      : trait === 'parameters'
        ? text(one, ' ').trim().replace('G', 'B')
        : whole(one);
  const [low, high] = runs.map(word);
  return { title, yours: word(yours), runs: low === high ? low : t('evidence.range', { low, high }) };
}

const isNumber = ({ yours }) => typeof yours === 'number';
const isOutside = ({ yours, runs, widens }) => widens !== 0 || (typeof yours === 'string' && !runs.includes(yours));
const isSame = (one) => !isOutside(one) && (isNumber(one) ? one.runs[0] === one.runs[1] : one.runs.length === 1);

const plusMinus = (share) => `±\u00a0${text(Math.round(share * 1000) / 1000, '%')}`;
const halfOf = ({ low, high }, value) => (high - low) / 2 / value;

function differences(evidence, part, named) {
  const isAbout = ({ trait, yours, runs }) =>
    (trait !== 'waiting' || yours > 0 || runs[1] > 0) && !(part === 'diffusion' && NOT_OF_IMAGES.includes(trait));
  const list = evidence.differences.filter(isAbout);
  const same = list.filter(isSame);
  const others = list
    .filter((one) => !isSame(one))
    .sort((a, b) => Number(isOutside(b)) - Number(isOutside(a)) || b.widens - a.widens);
  const rows = others.map((one) => {
    const words = traitWords(one, part, named);
    return [words.title, words.runs, words.yours, one.widens >= SAID ? plusMinus(one.widens) : t('evidence.none')];
  });
  const names = same.map((one) => traitWords(one, part, named).title).join(', ');
  return evidenceTable({
    caption: t('evidence.differences'),
    note: others.some(isOutside) ? null : t('evidence.differences.none'),
    columns: [
      { name: t('evidence.column.what') },
      { name: t('evidence.column.runs'), isText: true },
      { name: t('evidence.column.yours'), isText: true },
      { name: t('evidence.column.widens') },
    ],
    rows: same.length ? [...rows, [names, t('evidence.same'), '', t('evidence.none')]] : rows,
  });
}

/** @param {Context} context */
function narrower(context, evidence, part, named) {
  const { value, own } = evidence;
  const now = halfOf(evidence, value);
  const item = (title, how, share, action) =>
    h(
      'li',
      {},
      h('span', {}, h('b', {}, title), h('small', {}, how)),
      h('span', {}, plusMinus(share)),
      action ?? h('span', {}),
    );
  const runs = evidence.differences
    .filter(({ widens }) => widens >= SAID)
    .sort((a, b) => b.widens - a.widens)
    .slice(0, 3);
  const paste = h(
    'button',
    {
      'type': 'button',
      'class': 'button apply',
      'data-key': 'evidence-paste',
      'onclick': () => context.dialogs.paste(),
    },
    t('own.paste'),
  );
  return h(
    'section',
    { class: 'ev-part ev-narrow' },
    h('h2', {}, t('evidence.narrow')),
    h(
      'ul',
      {},
      item(
        t('evidence.narrow.own'),
        t('evidence.narrow.own.how', { ten: text(Math.round(halfOf(own[1], value) * 1000) / 1000, '%') }),
        halfOf(own[0], value),
        paste,
      ),
      runs.map((one) => {
        const { title, yours } = traitWords(one, part, named);
        return item(
          t('evidence.narrow.run', {
            trait: /^[A-Z][a-z]/.test(title) ? title.slice(0, 1).toLowerCase() + title.slice(1) : title,
            yours,
          }),
          t('evidence.narrow.run.how'),
          now - one.widens,
        );
      }),
    ),
    h(
      'p',
      { class: 'note' },
      t('evidence.now', { low: signedShare(evidence.low / value - 1), high: signedShare(evidence.high / value - 1) }),
      runs.length === 0 && ` ${t(evidence.is_far ? 'evidence.narrow.far' : 'evidence.narrow.none')}`,
    ),
  );
}

/** @param {Context} context */
function lead(context, evidence, unit) {
  const { value, runs } = evidence;
  const ends = (one, of) => ({ low: text(one.low * of, unit), high: text(one.high * of, unit) });
  const near = runs.slice(0, SHOWN);
  const more = near.filter(({ here }) => here > value).length;
  const moved = more * 2 > near.length ? 'more' : more * 2 < near.length ? 'less' : 'even';
  const { training } = context.report;
  const isStep = evidence.figure === 'training.step_time_s';
  return h(
    'p',
    { class: 'ev-lead' },
    h('b', {}, t('evidence.lead', ends(evidence, 1))),
    ' ',
    t(`evidence.moved.${moved}`, { count: near.length, moved: moved === 'more' ? more : near.length - more }),
    evidence.is_far && ` ${t('evidence.far')}`,
    isStep && ` ${t('evidence.run', ends(evidence, training.time_to_train_s / value))}`,
  );
}

/** @param {Context} context */
function charts(context, runs, evidence, unit) {
  const { value, low, high, kind } = evidence;
  const near = evidence.runs.slice(0, SHOWN);
  const here = near.map((run) => run.here);
  const alike = evidence.runs.filter((run) => run.kind === kind);
  const within = (share) => alike.filter(({ error }) => Math.abs(error) <= share).length;
  const columns = [
    t('evidence.column.run'),
    t('evidence.column.source'),
    { name: t('evidence.column.measured'), unit },
    { name: t('evidence.column.computed'), unit },
    { name: t('evidence.error'), unit: '%' },
  ];
  const rowsOf = (list) => () =>
    list.map((run) => [
      Object.values(runs.words(run)).join(': '),
      sourceName(runs.known(run).source),
      { value: run.measured, unit: UNITS[run.kind] },
      { value: run.computed, unit: UNITS[run.kind] },
      { value: run.error, unit: '%' },
    ]);
  const isRate = kind === 'throughput';
  const above = isRate ? 'rate' : unit === 's' ? 'time' : 'amount';
  const isWide = context.width >= WIDE;
  return {
    line: likely({
      id: 'evidence-line',
      title: t('evidence.line'),
      subtitle: t('evidence.line.sub', { value: text(value, unit) }),
      width: context.width,
      unit,
      value,
      low,
      high,
      level: t('evidence.interval'),
      points: near.map((run) => ({
        label: `${runs.label(run)}; ${t('evidence.would')}: ${text(run.here, unit)}`,
        here: run.here,
      })),
      summary: t('evidence.line.summary', {
        value: text(value, unit),
        low: text(low, unit),
        high: text(high, unit),
        least: text(Math.min(...here), unit),
        most: text(Math.max(...here), unit),
      }),
      columns,
      rows: rowsOf(near),
    }),
    scatter:
      alike.length > 0 &&
      diagonal({
        id: 'evidence-diagonal',
        title: t('evidence.diagonal'),
        subtitle: t('evidence.diagonal.sub', { kind: t(`kind.${kind}`), above: t(`evidence.above.${above}`) }),
        width: isWide ? ((context.width - 32) * 5) / 12 : context.width,
        unit,
        points: alike.map((run) => ({
          label: runs.label(run),
          computed: run.computed,
          measured: run.measured,
          isNear: near.includes(run),
        })),
        here: { value, low, high, label: t('evidence.yours', { value: text(value, unit) }) },
        names: { up: t('evidence.measured'), across: t('evidence.computed') },
        summary: t('evidence.diagonal.summary', { count: alike.length, close: within(0.1), near: within(0.25) }),
        columns,
        rows: rowsOf(alike),
      }),
  };
}

// Keeps the focus when the runs come.
const title = (words) => h('h1', { 'class': 'question', 'tabindex': -1, 'data-key': 'evidence-title' }, words);

/** @param {Context} context */
export function draw(context) {
  const { store, report } = context;
  const isThere = ([figure]) => report[figure.split('.')[0]]?.feasible;
  const asked = FIGURES.find(([one]) => one === store.sub);
  const [figure, scene] = asked ?? FIGURES.find(isThere) ?? FIGURES[0];
  const unit = unitOf(figure);
  const [part] = figure.split('.');
  const isOwn = store.sub === 'own';
  const back = [
    h(
      'p',
      { class: 'crumbs' },
      h(
        'button',
        { 'type': 'button', 'class': 'ev-link', 'data-key': 'evidence-back', 'onclick': () => context.open(scene) },
        t('evidence.back', { scene: t(`scene.${scene}`) }),
      ),
    ),
    store.sub && !asked && !isOwn && unknownPlace(store.sub),
  ];
  const views = h(
    'div',
    { 'class': 'views scene-views', 'role': 'group', 'aria-label': t('evidence.views') },
    [...FIGURES.filter(isThere), ['own']].map(([one]) =>
      h(
        'button',
        {
          'type': 'button',
          'data-key': `evidence-${one}`,
          'aria-pressed': String(one === (isOwn ? 'own' : figure)),
          'onclick': () => context.open('evidence', one),
        },
        t(`evidence.view.${one}`),
      ),
    ),
  );
  if (isOwn) return [back, title(t('own.title')), views, ownView(context)];
  const evidence = isThere([figure]) && context.lately(`evidence-${figure}`, 'evidence', context.request, figure);
  const runs = evidence?.runs && runsOf(context, evidence.runs);
  if (!runs) {
    return [
      back,
      title(t('scene.evidence')),
      h('p', { class: 'lead' }, t(isThere([figure]) && !evidence?.issues ? 'chart.waiting' : 'evidence.off')),
      views,
    ];
  }
  const named = namesOf(context);
  const { line, scatter } = charts(context, runs, evidence, unit);
  return [
    back,
    title(context.hidden ? t('scene.evidence') : t(`evidence.title.${figure}`, { value: text(evidence.value, unit) })),
    lead(context, evidence, unit),
    views,
    line,
    h(
      'div',
      { class: 'ev-part ev-two' },
      scatter,
      h(
        'div',
        {},
        nearest(context, runs, evidence),
        h('p', { class: 'note' }, h('a', { href: '#/method' }, t('evidence.all'))),
        h('p', { class: 'note' }, scoreboardLink()),
      ),
    ),
    h('div', { class: 'ev-part ev-differences' }, differences(evidence, part, named)),
    narrower(context, evidence, part, named),
    figure === 'training.step_time_s' && typical(context, (list) => runsOf(context, list)),
  ];
}
