// The table of a comparison: the differences, then every figure with a bar, part by part.
/** @import {Context} from '../types.js' */
import { saveCsv } from '../charts/lib/export.js';
import { h, scrolled } from '../dom.js';
import { labelOf } from '../form/fields.js';
import { FIGURES } from '../report/copy_as.js';
import { nameOf } from '../report/names.js';
import { get } from '../state/paths.js';
import { withFix } from '../state/scenario.js';
import { number, text, unitOf, whole } from '../text/format.js';
import { outputOf } from '../text/outputs.js';
import { differing, differs, fleet, PARTS, resolved, rounded, shown } from './compare_columns.js';
import { t } from './texts.js';
// More memory in use is not worse while it fits.
function delta(value, base, better, unit) {
  if (typeof value !== 'number' || typeof base !== 'number' || base === 0 || value === base) return null;
  const ratio = value / base;
  const words =
    ratio >= 2 ? `×\u00a0${number(ratio)}` : `${ratio > 1 ? '+' : '−'}${number(Math.abs(ratio - 1) * 100, 2)}\u00a0%`;
  const good = better && (better === 'larger') === ratio > 1;
  return h(
    'small',
    { class: `delta ${better ? (good ? 'good' : unit === 'B' ? '' : 'bad') : ''}` },
    `${ratio > 1 ? '▲' : '▼'} ${words}`,
  );
}

const known = (one, path) => {
  const value = one.report && !one.faulty.has(path.split('.')[0]) ? get(one.report, path) : undefined;
  return typeof value === 'number' ? rounded(value) : undefined;
};
// The reason why a column has no figures of a part.
export const missing = (one, part) => {
  if (one.report === undefined) return { text: '…' };
  if (one.faulty.has(part) || !one.report) {
    const issue = one.issues.find(({ path }) => path === part || path.startsWith(`${part}.`)) ?? one.issues[0];
    return { title: t('compare.invalid'), text: issue ? issue.message : '', fix: issue?.fixes?.[0] };
  }
  if (one.report[part] === null || one.report[part] === undefined) return { text: t('compare.off') };
  if (one.report[part].feasible === false)
    return { title: t('compare.infeasible'), text: one.report[part].infeasible[0]?.message ?? '' };
  return null;
};

// On a phone a row is a grid with its name above; each cell keeps its own column if others are left out.
const placeOf = (i) => ({ style: { 'grid-column': String(i + 1) } });

// In a narrow column the unit goes below its number, whole.
const plain = (words) => words.replaceAll('\u00a0', ' ');
function unbroken(words) {
  const [figure, ...unit] = words.split(' ');
  return [figure, unit.length > 0 && [' ', h('span', { class: 'unbroken' }, unit.join(' '))]];
}

function cell(path, value, { most, best, base, first, place }) {
  const better = outputOf(path)?.better;
  const isBest = best !== undefined && value === best;
  return h(
    'td',
    place,
    h(
      'span',
      { class: isBest ? 'cmp-value best' : 'cmp-value' },
      h('span', {}, unbroken(plain(text(value, unitOf(path))))),
      !first && delta(value, base, better, unitOf(path)),
      isBest && h('small', { class: 'bst' }, t('compare.best')),
    ),
    h(
      'span',
      { 'class': 'cmp-bar', 'aria-hidden': 'true' },
      h('i', {
        style: {
          width: `${(100 * Math.abs(value)) / most}%`,
          background: isBest ? 'var(--c-forward)' : 'var(--c-quiet)',
        },
      }),
    ),
  );
}

function figureRow(path, all, gaps, at, rows) {
  const values = all.map((one, i) => (gaps[i] ? undefined : known(one, path)));
  const there = values.filter((value) => value !== undefined);
  const better = outputOf(path)?.better;
  const best =
    there.length > 1 && better && new Set(there).size > 1
      ? better === 'smaller'
        ? Math.min(...there)
        : Math.max(...there)
      : undefined;
  const most = Math.max(...there.map(Math.abs)) || 1;
  return h(
    'tr',
    { 'data-path': path },
    h('th', { scope: 'row' }, nameOf(path)),
    values.map((value, i) => {
      const gap = gaps[i];
      if (gap)
        return at === 0
          ? h(
              'td',
              { class: 'gap', rowspan: rows, ...placeOf(i) },
              gap.title && h('b', { class: 'bad' }, gap.title),
              ' ',
              gap.text,
              gap.button,
            )
          : null;
      return value === undefined
        ? h('td', placeOf(i), '–')
        : cell(path, value, { most, best, base: values[0], first: i === 0, place: placeOf(i) });
    }),
  );
}

/** @param {Context} context */
function partBody(context, part, all, everything) {
  const paths = FIGURES.filter((path) => path.startsWith(`${part}.`));
  const gaps = all.map((one, i) => {
    const gap = missing(one, part);
    return (
      gap && {
        ...gap,
        button:
          gap.fix &&
          h('button', { type: 'button', class: 'nearest', onclick: () => repair(context, i, gap.fix) }, gap.fix.label),
      }
    );
  });
  const there = all.filter((_, i) => !gaps[i]);
  const moves = (path) => there.length < 2 || differs(there, (one) => known(one, path));
  const rows = paths.filter(
    (path) => all.some((one, i) => !gaps[i] && known(one, path) !== undefined) && (everything || moves(path)),
  );
  const list = rows.length ? rows : gaps.some((gap) => gap?.title) ? paths.slice(0, 1) : [];
  if (!list.length) return null;
  return h(
    'tbody',
    {},
    h('tr', { class: 'gh' }, h('th', { colspan: all.length + 1, scope: 'rowgroup' }, t(`group.${part}`))),
    list.map((path, at) => figureRow(path, all, gaps, at, list.length)),
  );
}

function repair({ store }, i, fix) {
  if (i === 0) store.setInputs(withFix(store.inputs, fix));
  else store.setOthers(store.others.with(i - 1, withFix(store.others[i - 1], fix)));
}

// A name that is wider than its column breaks at a hyphen or inside "DeepSeek", not anywhere.
const breakable = (name) =>
  name.split(/(?<=-)|(?<=[a-z]{2})(?=[A-Z][a-z])/).flatMap((part, i) => (i ? [h('wbr', {}), part] : part));

/** @param {Context} context */
function headCell(context, i, name) {
  const { store } = context;
  if (i === 0)
    return h(
      'th',
      { scope: 'col' },
      h('b', {}, breakable(name)),
      ' ',
      h('small', { class: 'badge' }, t('compare.baseline')),
    );
  const swap = () => store.setBoth(store.others[i - 1], store.others.with(i - 1, store.inputs));
  const remove = () => store.setOthers(store.others.filter((_, at) => at !== i - 1));
  return h(
    'th',
    { scope: 'col' },
    h('b', {}, breakable(name)),
    ' ',
    h(
      'button',
      {
        'type': 'button',
        'class': 'link',
        'data-key': `cmp-swap-${i}`,
        'aria-label': t('compare.swap.of', { name }),
        'onclick': swap,
      },
      t('compare.swap'),
    ),
    ' ',
    h(
      'button',
      {
        'type': 'button',
        'class': 'link',
        'data-key': `cmp-del-${i}`,
        'aria-label': t('compare.remove.of', { name }),
        'onclick': remove,
      },
      t('compare.remove'),
    ),
  );
}

// The differences: the clusters' data if they differ, the mappings, and every written input.
function differenceRows(all) {
  const scenario = ({ report }) => report?.scenario;
  const mapping = (part) => (one) => {
    const degrees = scenario(one)?.[part]?.mapping;
    return degrees
      ? ['tp', 'pp', 'ep', 'cp']
          .filter((name) => name === 'tp' || degrees[name] > 1)
          .map((name) => `${name.toUpperCase()} ${degrees[name]}`)
          .join(' · ')
      : '–';
  };
  const device = (one) => scenario(one)?.cluster.device;
  const rows = [
    [t('compare.cluster'), (one) => scenario(one)?.cluster.name ?? fleet(one) ?? '–'],
    [t('compare.devices'), (one) => (scenario(one) ? whole(scenario(one).cluster.devices) : '–')],
    [
      t('compare.gpu'),
      (one) =>
        device(one)
          ? `${number(device(one).memory.capacity / 1e9)}\u00a0GB, ${text(device(one).memory.bandwidth, 'B/s')}`
          : '–',
    ],
    [t('compare.peak'), (one) => (device(one)?.peak?.bf16 ? text(device(one).peak.bf16, 'FLOP/s') : '–')],
    [`${t('group.training')}: ${t('compare.mapping')}`, mapping('training')],
    [`${t('group.serving')}: ${t('compare.mapping')}`, mapping('serving')],
  ].filter(([, of]) => differs(all, of));
  const said = (path) => path === 'cluster' || path === 'cluster.devices' || /\.mapping\.(tp|pp|ep|cp)$/.test(path);
  const inputs = differing(all)
    .filter((path) => !said(path))
    .map((path) => [inputName(path), (one) => shown(resolved(one, path), path)]);
  return [...rows, ...inputs].map(([name, of]) => [name, (one) => plain(of(one))]);
}

const inputName = (path) =>
  path.includes('.') ? `${t(`group.${path.split('.')[0]}`)}: ${labelOf(path)}` : t(`group.${path}`);

/** @param {Context} context */
export function table(context, all, names) {
  const everything = context.stage.chosen('compare-all') === true;
  const differences = differenceRows(all);
  return scrolled(
    t('compare.table'),
    h(
      'table',
      { class: 'compare', style: { '--columns': String(all.length) } },
      h('caption', { class: 'visually-hidden' }, t('compare.table')),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, h('span', { class: 'visually-hidden' }, t('compare.figure'))),
          names.map((name, i) => headCell(context, i, name)),
        ),
      ),
      differences.length > 0 &&
        h(
          'tbody',
          {},
          h('tr', { class: 'gh' }, h('th', { colspan: all.length + 1, scope: 'rowgroup' }, t('compare.differs'))),
          differences.map(([name, of]) =>
            h(
              'tr',
              { class: 'input' },
              h('th', { scope: 'row' }, name),
              all.map((one) => h('td', {}, breakable(of(one)))),
            ),
          ),
        ),
      PARTS.map((part) => partBody(context, part, all, everything)),
    ),
  );
}

export function asCsv(all, names) {
  const paths = FIGURES.filter((path) => all.some((one) => known(one, path) !== undefined));
  const scale = (value, unit) =>
    unit === '%' && value !== undefined ? Number((value * 100).toPrecision(12)) : (value ?? '');
  const inputs = differenceRows(all).map(([name, of]) => [name, '', ...all.map(of)]);
  saveCsv(
    [t('compare.figure'), t('compare.unit'), ...names],
    [
      ...inputs,
      ...paths.map((path) => [path, unitOf(path), ...all.map((one) => scale(known(one, path), unitOf(path)))]),
    ],
    'comparison',
  );
}
