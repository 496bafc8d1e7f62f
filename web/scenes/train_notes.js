// Notes next to a training step: published device-hours of the same model, and the rate of whole production runs.
/** @import {Context} from '../types.js' */
import { h } from '../dom.js';
import { get } from '../state/paths.js';
import { text } from '../text/format.js';
import { t } from './texts.js';

const HOUR = 3600;

// A model's published device-hours next to ours, if the run has the same length.
/** @param {Context} context */
export function publishedHours(context) {
  const known = context.files
    .at('data/published.json')
    ?.hours?.find(({ model }) => model === get(context.scenario, 'model.preset'));
  const { training, scenario } = context.report;
  if (!known || !training?.feasible || Math.abs(scenario.training.tokens / known.tokens - 1) > 0.05) return null;
  const devices = scenario.training.devices ?? scenario.cluster.devices;
  const mine = (devices * training.time_to_train_s) / HOUR;
  const figure = (hours) => text(hours, ' ').trim();
  return h(
    'p',
    { class: 'note published' },
    t('published.hours', {
      by: known.by,
      hours: figure(known.hours),
      device: known.device,
      mine: figure(mine),
      count: devices,
      own: scenario.cluster.device.name,
      difference: t(mine < known.hours ? 'published.fewer' : 'published.more', {
        share: text(Math.abs(mine / known.hours - 1), '%'),
      }),
      mfu: text(training.model_flops_utilization, '%'),
    }),
    ' ',
    t('form.source', { source: known.source }),
  );
}

// The answer is a tuned step; next to it is the rate of whole production runs, with a link to them.
/** @param {Context} context */
export function typicalNote(context) {
  const { training } = context.report;
  if (!training?.feasible || !training.typical) return null;
  const { step_time_s: step, model_flops_utilization: mfu } = training.typical;
  const figure = 'training.step_time_s';
  return h(
    'p',
    { class: 'note', id: 'typical-note' },
    t('typical.note', {
      step: text(training.step_time_s, 's'),
      typical: text(step, 's'),
      mfu: text(mfu, '%'),
      count: training.typical.rows.length,
    }),
    ' ',
    h(
      'a',
      { href: `#/evidence/${figure}`, onclick: (event) => (event.preventDefault(), context.open('evidence', figure)) },
      t('typical.open'),
    ),
  );
}
