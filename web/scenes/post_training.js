// A post-training step: its parts, its figures, and how the devices can be split.
/** @import {Context, Json} from '../types.js' */
import { stackedBars } from '../charts/bars.js';
import { columnHeads, h, scrolled } from '../dom.js';
import { figures } from '../report/figures.js';
import { nameOf } from '../report/names.js';
import { text, whole } from '../text/format.js';
import { asIf } from './parts.js';
import { t } from './texts.js';

const FIGURES = [
  'step_time_s',
  'tokens_per_s_per_device',
  'generation_s',
  'learning_s',
  'slots_in_use',
  'generation_devices',
  'training_devices',
];
const IN_POOLS = ['idle'];

// The parts of the step in the order in which they run, with their colors.
const PARTS = {
  generation: 'memory',
  reward: 'launch',
  old_log_probs: 'backward',
  reference: 'recompute',
  values: 'optimizer',
  training: 'forward',
  weight_sync: 'tp',
  engine_switch: 'workspace',
};
const partsOf = (time) =>
  Object.entries(PARTS).map(([id, color]) => ({
    id,
    name: t(`rl.${id}`),
    value: time[id] ?? 0,
    color: `var(--c-${color})`,
  }));

/** @param {Json} part */
function splitTable({ splits, generation_devices: best }) {
  const columns = ['generation_devices', 'training_devices', 'step_time_s'];
  return h(
    'details',
    { 'class': 'more', 'data-key': 'rl-splits' },
    h('summary', {}, t('rl.splits')),
    scrolled(
      t('rl.splits'),
      h(
        'table',
        {},
        columnHeads(columns.map((id) => nameOf(`post_training.splits.*.${id}`))),
        h(
          'tbody',
          {},
          splits.map((one) =>
            h(
              'tr',
              { 'aria-current': one.generation_devices === best ? 'true' : undefined },
              h('td', {}, whole(one.generation_devices)),
              h('td', {}, whole(one.training_devices)),
              h('td', {}, one.feasible ? text(one.step_time_s, 's') : t('chart.hollow')),
            ),
          ),
        ),
      ),
    ),
  );
}

/** @param {Context} context */
export function postTraining(context) {
  const part = context.report.post_training;
  if (!part) return null;
  return [
    h('h2', { id: 'post-training' }, t('rl.title')),
    asIf(part),
    stackedBars({
      id: 'post-training-bar',
      title: nameOf('post_training.step_time_s'),
      subtitle: t('rl.sub', { samples: whole(part.samples) }),
      width: context.width,
      unit: 's',
      rows: [{ parts: partsOf(part.time_s) }],
      onpart: (id) => context.why(`post_training.time_s.${id}`),
    }),
    figures(
      context,
      [...FIGURES, ...(part.splits.length ? IN_POOLS : [])].map((id) => `post_training.${id}`),
    ),
    part.splits.length > 1 ? splitTable(part) : null,
  ];
}
