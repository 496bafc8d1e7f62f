// "What would the same chip be at 3 nm with HBM4?": the device derived again from a node, a memory, links and a
// network, and the change of every answer, next to the present device.
/** @import {Context} from '../types.js' */
import { tableByRows } from '../charts/lib/by_rows.js';
import { h } from '../dom.js';
import { figureName } from '../explore/controls.js';
import { mappingIn } from '../form/chosen.js';
import { get } from '../state/paths.js';
import { withChanges } from '../state/scenario.js';
import { parts, text, unitOf } from '../text/format.js';
import { pick, press, row } from './choices.js';
import { t } from './texts.js';

export const DESIGN = 'cluster.device.design';
export const DIES = 'partition.chiplets';
// The inputs without a design and its dies: those of the device as published.
export const withoutDesign = (inputs) =>
  Object.fromEntries(Object.entries(inputs).filter(([path]) => !path.startsWith(DESIGN) && path !== DIES));
const ONE_CLICK = { node: '3nm', dram: 'hbm4' };
const KINDS = {
  design: 'chip_design',
  node: 'technology_node',
  dram: 'dram_type',
  link: 'link_type',
  network: 'network',
};
const catalogue = new Map();

// A kind's entries; kept, because they do not change with the scenario.
/** @param {Context} context */
export function entries(context, kind) {
  if (!catalogue.has(kind)) {
    const answer = context.ask('presets', kind);
    if (answer) catalogue.set(kind, answer);
  }
  return catalogue.get(kind);
}

const nanometres = ({ id }) => Number.parseFloat(id);

// The design that is nearest to the device: its budgets and split are the start.
export const startOf = (device) => (nanometres({ id: device.die.node }) < 6 ? 'h100-like' : 'a100-like');

const FIGURES = [
  ['cluster.device.units', 'count'],
  ['cluster.device.clock', '/s'],
  ['cluster.device.peak.bf16', 'FLOP/s'],
  ['cluster.device.memory.bandwidth', 'B/s'],
  ['cluster.device.memory.capacity', 'GB'],
  ['cluster.networks.0.bandwidth', 'B/s'],
  ['cluster.networks.1.bandwidth', 'B/s'],
];
const ANSWERS = [
  'cost.dies.0.yield',
  'cost.device_usd',
  'cost.device_hour_usd',
  'training.time_to_train_s',
  'training.model_flops_utilization',
  'training.cost_usd',
  'serving.ttft_s',
  'serving.tpot_s',
  'serving.cost_usd_per_million_tokens',
  'serving.tokens_per_j',
];

const shown = (value, unit) => {
  if (typeof value !== 'number') return '–';
  if (unit === 'GB') return `${parts(value / 1e9, '').number}\u00a0GB`;
  return unit === '/s' ? `${parts(value / 1e9, '').number}\u00a0GHz` : text(value, unit);
};
const times = (now, before) => (typeof now === 'number' && before > 0 ? `× ${parts(now / before, '').number}` : '');

// The device as it is against the scenario's design.
/** @param {Context} context */
function comparison(context) {
  const request = structuredClone(context.request);
  delete request.cluster.device?.design;
  delete request.partition;
  if (Array.isArray(request.cluster.networks)) delete request.cluster.networks;
  return tableOf(context.ask('evaluate', request, ''), context.report);
}

// Without a design: against the design that one click would make.
/** @param {Context} context */
function preview(context) {
  const { device } = context.scenario.cluster;
  const parts = Object.fromEntries(Object.entries(ONE_CLICK).map(([part, id]) => [part, { preset: id }]));
  const request = withChanges(context.request, { [DESIGN]: { preset: startOf(device), ...parts } });
  return tableOf(context.report, context.ask('evaluate', request, ''));
}

function tableOf(before, after) {
  if (!before?.scenario || !after?.scenario) return null;
  const line = (name, of, unit) => {
    const [was, is] = [get(before, of), get(after, of)];
    return typeof was === 'number' || typeof is === 'number'
      ? [name, shown(was, unit), shown(is, unit), times(is, was)]
      : null;
  };
  return tableByRows(
    t('chip.same.table'),
    [
      t('chip.figure'),
      t('chip.same.asIs', { device: before.scenario.cluster.device.name }),
      t('chip.same.designed'),
      t('chip.same.change'),
    ],
    [
      ...FIGURES.map(([path, unit]) =>
        line(t(`chip.same.${path.replace(/^cluster\./, '')}`), `scenario.${path}`, unit),
      ),
      ...['training', 'serving']
        .filter((part) => before[part] && after[part])
        .map((part) => [
          `${t(`group.${part}`)}: ${t('mapping.title')}`,
          mappingIn(part, before),
          mappingIn(part, after),
          '',
        ]),
      ...ANSWERS.map((path) => line(figureName(path), path, unitOf(path))),
    ].filter(Boolean),
  );
}

/** @param {Context} context */
export function technology(context) {
  const lists = Object.fromEntries(Object.entries(KINDS).map(([key, kind]) => [key, entries(context, kind)]));
  if (Object.values(lists).some((one) => !one)) return null;
  const { store, inputs, scenario } = context;
  const design = scenario.cluster.device.design;
  const network = inputs['cluster.networks.1'] ?? '';
  // All parts in one change, so that Back undoes it at once.
  const change = (changes) => {
    const next = { ...inputs };
    if (!design) next[DESIGN] = startOf(scenario.cluster.device);
    for (const [path, id] of Object.entries(changes)) {
      for (const one of Object.keys(next)) if (one.startsWith(`${path}.`)) delete next[one];
      if (id) next[path] = id;
      else delete next[path];
    }
    store.setInputs(next);
  };
  const undo = () => {
    const { 'cluster.networks.1': _, ...rest } = withoutDesign(inputs);
    store.setInputs(rest);
  };
  const options = (list) => list.map(({ id, name }) => ({ value: id, name: name ?? id }));
  const nodes = [...lists.node].sort((a, b) => nanometres(b) - nanometres(a));
  const select = (part, list) =>
    pick(`chip-tech-${part}`, t(`chip.same.${part}`), options(list), design[part].preset, (id) =>
      change({ [`${DESIGN}.${part}`]: id }),
    );
  return h(
    'section',
    { id: 'technology' },
    h('p', { class: 'note' }, t(design ? 'chip.same.on' : 'chip.same.off', { design: design?.name ?? '' })),
    row(
      design &&
        pick('chip-tech-design', t('chip.same.start'), options(lists.design), design.preset, (id) =>
          change({ [DESIGN]: id }),
        ),
      design && select('node', nodes),
      design && select('dram', lists.dram),
      design && select('link', lists.link),
      (scenario.cluster.networks?.length ?? 0) > 1 &&
        pick(
          'chip-tech-network',
          t('chip.same.network'),
          [{ value: '', name: scenario.cluster.networks[1].name }, ...options(lists.network)],
          network,
          (id) =>
            store.setInputs(
              Object.fromEntries(
                Object.entries({ ...inputs, 'cluster.networks.1': id }).filter(
                  ([path, one]) => one && !path.startsWith('cluster.networks.1.'),
                ),
              ),
            ),
        ),
      press('chip-tech-go', t('chip.same.go'), () =>
        change(Object.fromEntries(Object.entries(ONE_CLICK).map(([part, id]) => [`${DESIGN}.${part}`, id]))),
      ),
      design && press('chip-tech-off', t('chip.same.back'), undo),
    ),
    design || network ? comparison(context) : preview(context),
  );
}
