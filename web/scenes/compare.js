// Up to four scenarios side by side: columns named by their differences, every figure with a bar, part by part.
/** @import {Context} from '../types.js' */
import { stackedBars } from '../charts/bars.js';
import { latencyParts, memoryParts, timeParts } from '../charts/parts.js';
import { clip } from '../charts/lib/labels.js';
import { h } from '../dom.js';
import { addStyle } from '../host.js';
import { MAX_SCENARIOS } from '../state/link.js';
import { withPick } from '../state/scenario.js';
import { columns, namesOf } from './compare_columns.js';
import { asCsv, missing, table } from './compare_table.js';
import { heading } from './parts.js';
import { t } from './texts.js';

await addStyle('style/serving.css');

const OFFERED = [
  'dgx-h100',
  'dgx-h200',
  'dgx-b200',
  'dgx-b300',
  'gb200-nvl72',
  'gb300-nvl72',
  'hgx-mi300x',
  'hgx-mi325x',
  'hgx-mi355x',
  'dgx-a100',
  'tpu-v5p-pod',
  'trn2-48xlarge',
];

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
  const onCluster = (id) => ({
    ...withPick(store.inputs, 'cluster', id),
    'cluster.devices': String(devicesOf(list, id, context.scenario.cluster.devices)),
  });
  const add = (id) => store.setOthers([...store.others, id === 'copy' ? store.inputs : onCluster(id)]);
  return h(
    'label',
    { class: 'cmp-add' },
    `${t('compare.add')} `,
    h(
      'select',
      { 'data-key': 'cmp-add', 'id': 'cmp-add', 'onchange': (event) => event.target.value && add(event.target.value) },
      h('option', { value: '' }, t('compare.add.choose')),
      h('option', { value: 'copy' }, t('compare.duplicate')),
      h(
        'optgroup',
        { label: t('compare.add.cluster') },
        offered.map(({ id, name }) => h('option', { value: id }, name)),
      ),
    ),
  );
}

/** @param {Context} context */
function charts(context, all, names) {
  const of = (part) =>
    all
      .map((one, i) => ({ ...one, name: clip(names[i], context.width) }))
      .filter((one) => one.report?.[part] && !missing(one, part));
  const [trained, served] = [of('training'), of('serving')];
  if (trained.length < 2 && served.length < 2) return null;
  const bars = (id, title, unit, rows) =>
    rows.length > 1 && stackedBars({ id, title, width: context.width, unit, axis: true, rows });
  return [
    h('div', { class: 'headrow' }, h('h2', {}, t('compare.whence'))),
    bars(
      'cmp-time',
      t('compare.time'),
      's',
      trained.map(({ name, report }) => ({ label: name, parts: timeParts(report.training.time_s) })),
    ),
    bars(
      'cmp-tpot',
      t('serve.tpot'),
      's',
      served.map(({ name, report }) => ({ label: name, parts: latencyParts(report.serving.tpot_parts_s, 'tpot') })),
    ),
    bars(
      'cmp-memory',
      t('compare.memory'),
      'B',
      served.map(({ name, report }) => ({ label: name, parts: memoryParts(report.serving.memory_bytes) })),
    ),
  ];
}

export const compare = {
  id: 'compare',
  /** @param {Context} context */
  draw(context) {
    const all = columns(context);
    if (all.length === 1)
      return [heading(t('compare.title'), t('compare.empty')), h('p', { class: 'first-step' }, adder(context))];
    const names = namesOf(all);
    const everything = context.stage.chosen('compare-all') === true;
    return [
      heading(t('compare.title'), t('compare.lead', { name: names[0] })),
      h(
        'div',
        { class: 'cmp-tools' },
        adder(context),
        h(
          'button',
          {
            'type': 'button',
            'class': 'link',
            'data-key': 'cmp-csv',
            'id': 'cmp-csv',
            'onclick': () => asCsv(all, names),
          },
          t('compare.csv'),
        ),
      ),
      table(context, all, names),
      h(
        'p',
        { class: 'note' },
        t('compare.note'),
        ' ',
        h(
          'button',
          {
            'type': 'button',
            'class': 'link',
            'data-key': 'cmp-all',
            'aria-pressed': String(everything),
            'onclick': () => context.stage.choose('compare-all', !everything),
          },
          t(everything ? 'compare.only' : 'compare.all'),
        ),
      ),
      charts(context, all, names),
    ];
  },
};
