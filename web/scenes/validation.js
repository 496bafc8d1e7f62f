// How accurate it is: every published measurement, computed here, by kind, software or family, the worst first.
/** @import {Context} from '../types.js' */
import { diagonal } from '../charts/diagonal.js';
import { h } from '../dom.js';
import { errorCell, evidenceTable, loadButton, scoreboardLink, sourceLink } from '../evidence/parts.js';
import { published } from '../evidence/published.js';
import { UNITS, runWords, signedShare, sourceName } from '../evidence/runs.js';
import { grouped, summaryOf, worstFirst } from '../evidence/summary.js';
import { namesOf } from '../evidence/names.js';
import { text, whole } from '../text/format.js';
import { t } from './texts.js';

const FILTERS = ['kind', 'software', 'architecture'];
const SHOWN = 20;

// Families whose names differ from their capitalized ids: "hopper" is Hopper.
const FAMILIES = { blackwell_rtx: 'Blackwell RTX', cdna: 'CDNA', rdna: 'RDNA', tpu: 'TPU' };
const familyName = (id) => FAMILIES[id] ?? id.slice(0, 1).toUpperCase() + id.slice(1);

const label = (filter, value, named) =>
  filter === 'kind'
    ? t(`kind.${value}`)
    : filter === 'software'
      ? (named('software', value) ?? value)
      : familyName(value);
// With the same number of digits in every row of a column.
const percent = (share, digits = 1) => `${(share * 100).toFixed(digits)}\u00a0%`;

/** @param {Context} context */
function select(context, filter, values, named) {
  const key = `method-${filter}`;
  const chosen = context.stage.chosen(key) ?? '';
  return h(
    'label',
    {},
    t(`method.filter.${filter}`),
    h(
      'select',
      { 'id': key, 'data-key': key, 'onchange': (event) => context.stage.choose(key, event.target.value) },
      h('option', { value: '', selected: chosen === '' }, t('method.filter.all')),
      values.map((value) => h('option', { value, selected: chosen === value }, label(filter, value, named))),
    ),
  );
}

/** @param {Context} context */
function groups(context, runs, by, named, coverage) {
  const isKind = by === 'kind';
  const held = (kind) => coverage?.kinds.find((one) => one.kind === kind);
  const columns = ['group', 'count', 'median', 'mean', 'worst', ...(isKind ? ['held', 'half'] : [])];
  return h(
    'div',
    { class: 'ev-groups', id: 'method-groups' },
    evidenceTable({
      caption: t('method.groups'),
      note: isKind ? t('method.groups.held') : null,
      columns: columns.map((one) => ({ name: t(one === 'group' ? `method.filter.${by}` : `method.column.${one}`) })),
      rows: grouped(runs, (run) => run[by]).map(([value, list]) => {
        const { count, median, mean, worst } = summaryOf(list);
        const known = held(value);
        const interval = isKind
          ? [known ? percent(known.held, 0) : '–', known ? `±\u00a0${percent(known.half_width, 0)}` : '–']
          : [];
        return [
          label(by, value, named),
          whole(count),
          percent(median),
          percent(mean),
          signedShare(worst.error),
          ...interval,
        ];
      }),
    }),
  );
}

/** @param {Context} context */
function list(context, runs, known, named) {
  const isAll = context.stage.chosen('method-all') === 'all';
  const sorted = worstFirst(runs);
  const shown = isAll ? sorted : sorted.slice(0, SHOWN);
  const words = (run) => runWords(known(run), run, named);
  const lines = { known, words };
  return h(
    'div',
    { id: 'method-runs' },
    evidenceTable({
      caption: t('method.runs', { count: whole(runs.length) }),
      columns: ['run', 'kind', 'measured', 'computed']
        .map((one) => ({ name: t(`evidence.column.${one}`), isText: one === 'kind' }))
        .concat({ name: t('evidence.error'), isText: false }),
      rows: shown.map((run) => {
        const { what, how } = words(run);
        return [
          [what, h('small', {}, how, ' · ', sourceLink(known(run).source), ' · ', loadButton(context, lines, run))],
          t(`kind.${run.kind}`),
          text(run.measured, UNITS[run.kind]),
          text(run.computed, UNITS[run.kind]),
          errorCell(run.error, 1),
        ];
      }),
    }),
    sorted.length > SHOWN &&
      h(
        'button',
        {
          'type': 'button',
          'class': 'button ev-more',
          'data-key': 'method-all',
          'onclick': () => context.stage.choose('method-all', isAll ? '' : 'all'),
        },
        t(isAll ? 'method.fewer' : 'method.more', { count: whole(sorted.length) }),
      ),
  );
}

/** @param {Context} context */
function drawn(context, kind, runs, known, named) {
  const unit = UNITS[kind];
  const words = (run) => Object.values(runWords(known(run), run, named)).join(': ');
  const { median, worst } = summaryOf(runs);
  return diagonal({
    id: 'validation',
    title: t('method.validation.chart', { kind: t(`kind.${kind}`) }),
    subtitle: t('method.validation.sub'),
    width: context.width,
    unit,
    points: runs.map((run) => ({
      label: t('evidence.point', {
        run: words(run),
        measured: text(run.measured, unit),
        computed: text(run.computed, unit),
        error: signedShare(run.error),
      }),
      computed: run.computed,
      measured: run.measured,
      isNear: false,
      series: run.software,
    })),
    names: { up: t('evidence.measured'), across: t('evidence.computed') },
    summary: t('method.validation.summary', {
      count: whole(runs.length),
      median: percent(median),
      error: signedShare(worst.error),
      worst: words(worst),
    }),
    columns: [
      t('evidence.column.run'),
      t('evidence.column.source'),
      { name: t('evidence.column.measured'), unit },
      { name: t('evidence.column.computed'), unit },
      { name: t('evidence.error'), unit: '%' },
    ],
    rows: () =>
      worstFirst(runs).map((run) => [
        words(run),
        sourceName(known(run).source),
        { value: run.measured, unit },
        { value: run.computed, unit },
        { value: run.error, unit: '%' },
      ]),
  });
}

/** @param {Context} context */
export function validation(context) {
  const title = h('h2', { id: 'accuracy' }, t('method.validation'));
  const all = published(context);
  if (!all || all.runs.length === 0) return [title, h('p', { class: 'note' }, t('chart.waiting'))];
  const named = namesOf(context);
  const { stage } = context;
  const picked = Object.fromEntries(FILTERS.map((filter) => [filter, stage.chosen(`method-${filter}`) ?? '']));
  const isShown = (run, but) =>
    FILTERS.every((filter) => filter === but || picked[filter] === '' || run[filter] === picked[filter]);
  const runs = all.runs.filter((run) => isShown(run));
  const by = FILTERS.includes(stage.chosen('method-by')) ? stage.chosen('method-by') : 'kind';
  const valuesOf = (filter) =>
    [...new Set(all.runs.filter((run) => isShown(run, filter)).map((run) => run[filter]))].sort();
  return [
    title,
    h(
      'p',
      { class: 'ev-lead', id: 'method-computed' },
      t(all.computed < all.sources ? 'method.computing' : 'method.computedAll', {
        count: whole(all.runs.length),
        done: all.computed,
        sources: all.sources,
      }),
    ),
    h('p', { class: 'note' }, scoreboardLink()),
    h(
      'div',
      { class: 'ev-filters' },
      FILTERS.map((filter) => select(context, filter, valuesOf(filter), named)),
    ),
    runs.length === 0 && h('p', { class: 'note' }, t('method.none')),
    runs.length > 0 && [
      h(
        'div',
        { 'class': 'views scene-views', 'role': 'group', 'aria-label': t('method.by') },
        FILTERS.map((one) =>
          h(
            'button',
            {
              'type': 'button',
              'data-key': `method-by-${one}`,
              'aria-pressed': String(one === by),
              'onclick': () => stage.choose('method-by', one),
            },
            t('method.by.of', { what: t(`method.filter.${one}`).toLowerCase() }),
          ),
        ),
      ),
      groups(context, runs, by, named, Object.values(picked).every((one) => one === '') ? all.coverage : null),
      picked.kind !== '' && drawn(context, picked.kind, runs, all.known, named),
      list(context, runs, all.known, named),
    ],
  ];
}
