// Up to four scenarios side by side: columns named by what differs, every figure with a bar, each part on its own.
/** @import {Context} from '../types.js' */
import { saveCsv } from '../charts/lib/export.js';
import { stackedBars } from '../charts/bars.js';
import { latencyParts, memoryParts, timeParts } from '../charts/parts.js';
import { clip } from '../charts/lib/labels.js';
import { h } from '../dom.js';
import { labelOf } from '../form/fields.js';
import { addStyle } from '../host.js';
import { FIGURES } from '../report/copy_as.js';
import { nameOf } from '../report/names.js';
import { deviceName, modelName } from '../report/words.js';
import { get } from '../state/paths.js';
import { MAX_SCENARIOS } from '../state/link.js';
import { withFix, withoutFaulty, withPick } from '../state/scenario.js';
import { number, text, unitOf, whole } from '../text/format.js';
import { outputOf } from '../text/outputs.js';
import { has } from '../text/strings.js';
import { heading } from './parts.js';
import { t } from './texts.js';

await addStyle('style/serving.css');

const PARTS = ['training', 'serving', 'cost'];
const MOST_WORDS = 2; // of what differs, in a column's name
const OFFERED = ['dgx-h100', 'dgx-h200', 'dgx-b200', 'dgx-b300', 'gb200-nvl72', 'gb300-nvl72', 'hgx-mi300x', 'hgx-mi325x', 'hgx-mi355x', 'dgx-a100', 'tpu-v5p-pod', 'trn2-48xlarge'];

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
  return { report, issues: first.issues, faulty: new Set(report ? PARTS.filter((part) => rest[part] === null && request[part] !== null) : PARTS) };
}

// Every scenario of the comparison; the first is the open one.
/** @param {Context} context */
function columns(context) {
  const own = { inputs: context.inputs, report: context.report, issues: context.issues, faulty: context.faulty };
  return [own, ...context.store.others.map((inputs) => ({ inputs, ...answerOf(context, inputs) }))];
}

const written = (all) => [...new Set(all.flatMap(({ inputs }) => Object.keys(inputs)))].filter((path) => path !== 'version').sort();
const resolved = ({ report, inputs }, path) => {
  const value = report && get(report.scenario, path);
  if (value === undefined || value === null) return inputs[path] ?? (value === null ? t('compare.off') : undefined);
  if (typeof value === 'object') return value.name ?? value.preset ?? inputs[path];
  return value;
};
const shown = (value, path) => (value === undefined ? '–' : typeof value === 'number' ? (Number.isInteger(value) ? whole(value) : text(value, unitOf(path))) : String(value));
// Inputs that someone wrote and that are not the same in all scenarios, by their resolved values.
const differing = (all) => written(all).filter((path) => new Set(all.map((one) => JSON.stringify(resolved(one, path)))).size > 1);

const fleet = ({ report }) => report && `${whole(report.scenario.cluster.devices)} × ${deviceName(report.scenario)}`;
const differs = (all, of) => new Set(all.map(of)).size > 1;

// Each column by what tells it from the others: "512 × B200", "Llama-3.1-8B", "Concurrent requests per replica 64".
export function namesOf(all) {
  const rest = differing(all).filter((path) => path !== 'model' && !path.startsWith('cluster') && !path.endsWith('.devices'));
  const byFleet = differs(all, fleet);
  const byModel = differs(all, ({ report }) => report && modelName(report.scenario));
  const names = all.map((one) => {
    const words = [byModel && one.report && modelName(one.report.scenario), byFleet && fleet(one)].filter(Boolean);
    if (words.length < MOST_WORDS) words.push(...rest.slice(0, MOST_WORDS - words.length).map((path) => `${labelOf(path)} ${shown(resolved(one, path), path)}`));
    return words.join(', ');
  });
  // Equal names say what else differs between them.
  const spoken = names.map((name, i) => {
    const equals = all.filter((_, at) => names[at] === name);
    const path = equals.length > 1 && rest.find((one) => differs(equals, (column) => JSON.stringify(resolved(column, one))));
    return path ? [name, `${has(`compare.short.${path}`) ? t(`compare.short.${path}`) : labelOf(path)} ${shown(resolved(all[i], path), path)}`].filter(Boolean).join(', ') : name;
  });
  return lettered(spoken);
}

const lettered = (names) =>
  names.map((name, i) => (name && names.indexOf(name) === names.lastIndexOf(name) ? name : [name || t('compare.column', { letter: 'ABCD'[i] }), name && `(${'ABCD'[i]})`].filter(Boolean).join(' ')));

// More memory in use is no worse while it fits.
function delta(value, base, better, unit) {
  if (typeof value !== 'number' || typeof base !== 'number' || base === 0 || value === base) return null;
  const ratio = value / base;
  const words = ratio >= 2 ? `×\u00a0${number(ratio)}` : `${ratio > 1 ? '+' : '−'}${number(Math.abs(ratio - 1) * 100, 2)}\u00a0%`;
  const good = better && (better === 'larger') === ratio > 1;
  return h('small', { class: `delta ${better ? (good ? 'good' : unit === 'B' ? '' : 'bad') : ''}` }, `${ratio > 1 ? '▲' : '▼'} ${words}`);
}

const known = (one, path) => {
  const value = one.report && !one.faulty.has(path.split('.')[0]) ? get(one.report, path) : undefined;
  return typeof value === 'number' ? value : undefined;
};
// Why a column has no figures of a part.
const missing = (one, part) => {
  if (one.report === undefined) return { text: '…' };
  if (one.faulty.has(part) || !one.report) {
    const issue = one.issues.find(({ path }) => path === part || path.startsWith(`${part}.`)) ?? one.issues[0];
    return { title: t('compare.invalid'), text: issue ? issue.message : '', fix: issue?.fixes?.[0] };
  }
  if (one.report[part] === null || one.report[part] === undefined) return { text: t('compare.off') };
  if (one.report[part].feasible === false) return { title: t('compare.infeasible'), text: one.report[part].infeasible[0]?.message ?? '' };
  return null;
};

// On a phone a row is a grid with its name above: each cell stands in its own column, whichever are left out.
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
    h('span', { class: isBest ? 'cmp-value best' : 'cmp-value' }, h('span', {}, unbroken(plain(text(value, unitOf(path))))), !first && delta(value, base, better, unitOf(path)), isBest && h('small', { class: 'bst' }, t('compare.best'))),
    h('span', { class: 'cmp-bar', 'aria-hidden': 'true' }, h('i', { style: { width: `${(100 * Math.abs(value)) / most}%`, background: isBest ? 'var(--c-forward)' : 'var(--c-quiet)' } })),
  );
}

function figureRow(path, all, gaps, at, rows) {
  const values = all.map((one, i) => (gaps[i] ? undefined : known(one, path)));
  const there = values.filter((value) => value !== undefined);
  const better = outputOf(path)?.better;
  const best = there.length > 1 && better && new Set(there).size > 1 ? (better === 'smaller' ? Math.min(...there) : Math.max(...there)) : undefined;
  const most = Math.max(...there.map(Math.abs)) || 1;
  return h(
    'tr',
    { 'data-path': path },
    h('th', { scope: 'row' }, nameOf(path)),
    values.map((value, i) => {
      const gap = gaps[i];
      if (gap) return at === 0 ? h('td', { class: 'gap', rowspan: rows, ...placeOf(i) }, gap.title && h('b', { class: 'bad' }, gap.title), ' ', gap.text, gap.button) : null;
      return value === undefined ? h('td', placeOf(i), '–') : cell(path, value, { most, best, base: values[0], first: i === 0, place: placeOf(i) });
    }),
  );
}

/** @param {Context} context */
function partBody(context, part, all, everything) {
  const paths = FIGURES.filter((path) => path.startsWith(`${part}.`));
  const gaps = all.map((one, i) => {
    const gap = missing(one, part);
    return gap && { ...gap, button: gap.fix && h('button', { type: 'button', class: 'nearest', onclick: () => repair(context, i, gap.fix) }, gap.fix.label) };
  });
  const moves = (path) => new Set(all.map((one, i) => (gaps[i] ? null : known(one, path)))).size > 1;
  const rows = paths.filter((path) => all.some((one, i) => !gaps[i] && known(one, path) !== undefined) && (everything || moves(path)));
  const list = rows.length ? rows : gaps.some((gap) => gap?.title) ? paths.slice(0, 1) : [];
  if (!list.length) return null;
  return h('tbody', {}, h('tr', { class: 'gh' }, h('th', { colspan: all.length + 1, scope: 'rowgroup' }, t(`group.${part}`))), list.map((path, at) => figureRow(path, all, gaps, at, list.length)));
}

function repair({ store }, i, fix) {
  if (i === 0) store.setInputs(withFix(store.inputs, fix));
  else store.setOthers(store.others.with(i - 1, withFix(store.others[i - 1], fix)));
}

// A name that is wider than its column breaks at a hyphen or inside "DeepSeek", not anywhere.
const breakable = (name) => name.split(/(?<=-)|(?<=[a-z]{2})(?=[A-Z][a-z])/).flatMap((part, i) => (i ? [h('wbr', {}), part] : part));

/** @param {Context} context */
function headCell(context, i, name) {
  const { store } = context;
  if (i === 0) return h('th', { scope: 'col' }, h('b', {}, breakable(name)), ' ', h('small', { class: 'badge' }, t('compare.baseline')));
  const swap = () => store.setBoth(store.others[i - 1], store.others.with(i - 1, store.inputs));
  const remove = () => store.setOthers(store.others.filter((_, at) => at !== i - 1));
  return h(
    'th',
    { scope: 'col' },
    h('b', {}, breakable(name)),
    ' ',
    h('button', { type: 'button', class: 'link', 'data-key': `cmp-swap-${i}`, 'aria-label': t('compare.swap.of', { name }), onclick: swap }, t('compare.swap')),
    ' ',
    h('button', { type: 'button', class: 'link', 'data-key': `cmp-del-${i}`, 'aria-label': t('compare.remove.of', { name }), onclick: remove }, t('compare.remove')),
  );
}

// What differs: the clusters' data where those differ, the mappings, and every input that was written.
function differenceRows(all) {
  const scenario = ({ report }) => report?.scenario;
  const mapping = (part) => (one) => {
    const degrees = scenario(one)?.[part]?.mapping;
    return degrees ? ['tp', 'pp', 'ep', 'cp'].filter((name) => name === 'tp' || degrees[name] > 1).map((name) => `${name.toUpperCase()} ${degrees[name]}`).join(' · ') : '–';
  };
  const device = (one) => scenario(one)?.cluster.device;
  const rows = [
    [t('compare.cluster'), (one) => scenario(one)?.cluster.name ?? fleet(one) ?? '–'],
    [t('compare.devices'), (one) => (scenario(one) ? whole(scenario(one).cluster.devices) : '–')],
    [t('compare.gpu'), (one) => (device(one) ? `${number(device(one).memory.capacity / 1e9)}\u00a0GB, ${text(device(one).memory.bandwidth, 'B/s')}` : '–')],
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

const inputName = (path) => (path.includes('.') ? `${t(`group.${path.split('.')[0]}`)}: ${labelOf(path)}` : t(`group.${path}`));

/** @param {Context} context */
function table(context, all, names) {
  const everything = context.stage.chosen('compare-all') === true;
  const differences = differenceRows(all);
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': t('compare.table') },
    h(
      'table',
      { class: 'compare', style: { '--columns': String(all.length) } },
      h('caption', { class: 'visually-hidden' }, t('compare.table')),
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, h('span', { class: 'visually-hidden' }, t('compare.figure'))), names.map((name, i) => headCell(context, i, name)))),
      differences.length > 0 &&
        h(
          'tbody',
          {},
          h('tr', { class: 'gh' }, h('th', { colspan: all.length + 1, scope: 'rowgroup' }, t('compare.differs'))),
          differences.map(([name, of]) => h('tr', { class: 'input' }, h('th', { scope: 'row' }, name), all.map((one) => h('td', {}, breakable(of(one)))))),
        ),
      PARTS.map((part) => partBody(context, part, all, everything)),
    ),
  );
}

function asCsv(all, names) {
  const paths = FIGURES.filter((path) => all.some((one) => known(one, path) !== undefined));
  const scale = (value, unit) => (unit === '%' && value !== undefined ? Number((value * 100).toPrecision(12)) : (value ?? ''));
  const inputs = differenceRows(all).map(([name, of]) => [name, '', ...all.map(of)]);
  saveCsv([t('compare.figure'), t('compare.unit'), ...names], [...inputs, ...paths.map((path) => [path, unitOf(path), ...all.map((one) => scale(known(one, path), unitOf(path)))])], 'comparison');
}

// As many devices as before, in whole servers.
function devicesOf(list, id, devices) {
  const server = list.find((one) => one.id === id)?.networks?.[0]?.size ?? 1;
  return Math.max(1, Math.round(devices / server)) * server;
}

// The same scenario on another cluster, or as it is, as a further column.
/** @param {Context} context */
function adder(context) {
  const { store } = context;
  if (store.others.length >= MAX_SCENARIOS - 1) return h('span', { class: 'quiet' }, t('compare.full'));
  const list = context.ask('presets', 'cluster') ?? [];
  const offered = OFFERED.map((id) => list.find((one) => one.id === id)).filter(Boolean);
  const onCluster = (id) => ({ ...withPick(store.inputs, 'cluster', id), 'cluster.devices': String(devicesOf(list, id, context.scenario.cluster.devices)) });
  const add = (id) => store.setOthers([...store.others, id === 'copy' ? store.inputs : onCluster(id)]);
  return h(
    'label',
    { class: 'cmp-add' },
    `${t('compare.add')} `,
    h(
      'select',
      { 'data-key': 'cmp-add', id: 'cmp-add', onchange: (event) => event.target.value && add(event.target.value) },
      h('option', { value: '' }, t('compare.add.choose')),
      h('option', { value: 'copy' }, t('compare.duplicate')),
      h('optgroup', { label: t('compare.add.cluster') }, offered.map(({ id, name }) => h('option', { value: id }, name))),
    ),
  );
}

/** @param {Context} context */
function charts(context, all, names) {
  const of = (part) => all.map((one, i) => ({ ...one, name: clip(names[i], context.width) })).filter((one) => one.report?.[part] && !missing(one, part));
  const [trained, served] = [of('training'), of('serving')];
  if (trained.length < 2 && served.length < 2) return null;
  const bars = (id, title, unit, rows) => rows.length > 1 && stackedBars({ id, title, width: context.width, unit, axis: true, rows });
  return [
    h('div', { class: 'headrow' }, h('h2', {}, t('compare.whence'))),
    bars('cmp-time', t('compare.time'), 's', trained.map(({ name, report }) => ({ label: name, parts: timeParts(report.training.time_s) }))),
    bars('cmp-tpot', t('serve.tpot'), 's', served.map(({ name, report }) => ({ label: name, parts: latencyParts(report.serving.tpot_parts_s, 'tpot') }))),
    bars('cmp-memory', t('compare.memory'), 'B', served.map(({ name, report }) => ({ label: name, parts: memoryParts(report.serving.memory_bytes) }))),
  ];
}

export const compare = {
  id: 'compare',
  /** @param {Context} context */
  draw(context) {
    const all = columns(context);
    if (all.length === 1) return [heading(t('compare.title'), t('compare.empty')), h('p', { class: 'first-step' }, adder(context))];
    const names = namesOf(all);
    const everything = context.stage.chosen('compare-all') === true;
    return [
      heading(t('compare.title'), t('compare.lead', { name: names[0] })),
      h('div', { class: 'cmp-tools' }, adder(context), h('button', { type: 'button', class: 'link', 'data-key': 'cmp-csv', id: 'cmp-csv', onclick: () => asCsv(all, names) }, t('compare.csv'))),
      table(context, all, names),
      h(
        'p',
        { class: 'note' },
        t('compare.note'),
        ' ',
        h('button', { type: 'button', class: 'link', 'data-key': 'cmp-all', 'aria-pressed': String(everything), onclick: () => context.stage.choose('compare-all', !everything) }, t(everything ? 'compare.only' : 'compare.all')),
      ),
      charts(context, all, names),
    ];
  },
};
