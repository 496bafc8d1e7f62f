import { stackedBars } from '../charts/bars.js';
import { memoryParts, timeParts } from '../charts/parts.js';
import { h } from '../dom.js';
import { labelOf } from '../form/fields.js';
import { FIGURES } from '../report/copy_as.js';
import { nameOf } from '../report/names.js';
import { get } from '../state/paths.js';
import { MAX_SCENARIOS } from '../state/link.js';
import '../text/later.js';
import { number, text, unitOf } from '../text/format.js';
import { t } from '../text/strings.js';
import { heading } from './parts.js';

const LETTERS = 'ABCD';

// Every scenario of the comparison with its report; A is the open one. Undefined reports are on their way.
function columns(context) {
  const others = context.store.others.map((inputs) => ({ inputs, report: context.ask('evaluate', context.page.requestFor(inputs), '') }));
  return [{ inputs: context.inputs, report: context.report }, ...others].map((one, i) => ({ ...one, letter: LETTERS[i] }));
}

const differing = (all) =>
  [...new Set(all.flatMap(({ inputs }) => Object.keys(inputs)))]
    .sort()
    .filter((path) => new Set(all.map(({ inputs }) => inputs[path])).size > 1);

function delta(value, base) {
  if (typeof value !== 'number' || typeof base !== 'number' || base === 0 || value === base) return null;
  const ratio = value / base;
  const words =
    ratio >= 2 || ratio <= 0.5 ? `×\u00a0${number(ratio)}` : `${ratio > 1 ? '+' : '−'}${number(Math.abs(ratio - 1) * 100)}\u00a0%`;
  return h('span', { class: 'delta' }, `${ratio > 1 ? '▲' : '▼'} ${words}`);
}

function actions(context, i) {
  const { store } = context;
  if (i === 0)
    return h(
      'td',
      {},
      store.others.length < MAX_SCENARIOS - 1 &&
        h(
          'button',
          { type: 'button', class: 'link', 'data-key': 'cmp-dup', onclick: () => store.setOthers([...store.others, store.inputs]) },
          t('compare.duplicate'),
        ),
    );
  const rest = store.others.filter((_, at) => at !== i - 1);
  const swap = () => {
    const others = store.others.with(i - 1, store.inputs);
    const inputs = store.others[i - 1];
    store.setBoth(inputs, others);
  };
  return h(
    'td',
    {},
    h('button', { type: 'button', class: 'link', 'data-key': `cmp-swap-${i}`, onclick: swap }, t('compare.swap')),
    ' ',
    h('button', { type: 'button', class: 'link', 'data-key': `cmp-del-${i}`, onclick: () => store.setOthers(rest) }, t('compare.remove')),
  );
}

function table(context, all) {
  const base = all[0].report;
  const ready = (report) => report && !report.issues;
  const known = FIGURES.filter((path) => all.some(({ report }) => ready(report) && typeof get(report, path) === 'number'));
  const answering = all.filter(({ report }) => ready(report));
  const moved = known.filter((path) => new Set(answering.map(({ report }) => get(report, path))).size > 1);
  const everything = context.page.chosen('compare-all') === true;
  const rows = everything ? known : moved;
  const differences = differing(all);
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': t('compare.table') },
    h(
      'table',
      { class: 'plain compare' },
      h('caption', {}, h('span', {}, t('compare.table'))),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, t('compare.figure')),
          all.map(({ letter }) => h('th', { scope: 'col' }, t('compare.column', { letter }))),
        ),
      ),
      h(
        'tbody',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, t('compare.change')),
          all.map((_, i) => actions(context, i)),
        ),
        differences.map((path) =>
          h(
            'tr',
            { class: 'input' },
            h('th', { scope: 'row' }, inputName(path)),
            all.map(({ inputs }) => h('td', {}, inputs[path] ?? t('form.none'))),
          ),
        ),
        rows.map((path) =>
          h(
            'tr',
            {},
            h('th', { scope: 'row' }, `${t(`group.${path.split('.')[0]}`)}: ${nameOf(path)}`),
            all.map(({ report }, i) => {
              if (!report) return h('td', {}, '…');
              const value = ready(report) ? get(report, path) : undefined;
              return h('td', {}, typeof value === 'number' ? text(value, unitOf(path)) : '–', i > 0 && delta(value, get(base, path)));
            }),
          ),
        ),
      ),
    ),
    known.length > moved.length &&
      h(
        'button',
        {
          type: 'button',
          class: 'link',
          'data-key': 'cmp-all',
          'aria-pressed': String(everything),
          onclick: () => context.page.choose('compare-all', !everything),
        },
        everything ? t('compare.only') : t('compare.all', { count: known.length - moved.length }),
      ),
  );
}

const inputName = (path) =>
  path.includes('.') ? `${t(`group.${path.split('.')[0]}`)}: ${labelOf(path)}` : `${t(`group.${path}`)}: ${t('form.preset')}`;

const part = (all, name) => all.filter(({ report }) => report && !report.issues && report[name]);

export const compare = {
  id: 'compare',
  draw(context) {
    const all = columns(context);
    if (all.length === 1) {
      return [
        heading(t('compare.title'), t('compare.empty')),
        h(
          'p',
          { class: 'first-step' },
          h(
            'button',
            { type: 'button', class: 'primary', 'data-key': 'cmp-first', onclick: () => context.store.setOthers([context.store.inputs]) },
            `${t('header.keep')} ${t('header.keep.rest')}`,
          ),
        ),
      ];
    }
    const trained = part(all, 'training');
    const served = part(all, 'serving');
    return [
      heading(t('compare.title'), t('compare.lead')),
      all
        .filter(({ report }) => report?.issues)
        .map(({ letter, report }) =>
          h(
            'div',
            { class: 'infeasible' },
            report.issues.slice(0, 3).map(({ path, message }) => h('p', {}, `${letter}: ${path} ${message}`)),
          ),
        ),
      trained.length > 1 &&
        stackedBars({
          id: 'cmp-time',
          title: t('compare.time'),
          width: context.width,
          unit: 's',
          axis: true,
          rows: trained.map(({ letter, report }) => ({ label: letter, parts: timeParts(report.training.time_s) })),
        }),
      served.length > 1 &&
        stackedBars({
          id: 'cmp-memory',
          title: t('compare.memory'),
          width: context.width,
          unit: 'B',
          axis: true,
          rows: served.map(({ letter, report }) => ({
            label: letter,
            parts: memoryParts(report.serving.memory_bytes).filter(({ id }) => id !== 'free'),
          })),
        }),
      table(context, all),
    ];
  },
};
