/** @import {Context} from '../types.js' */
import { gantt } from '../charts/gantt.js';
import { roofline } from '../charts/roofline.js';
import { topology } from '../charts/topology.js';
import { h } from '../dom.js';
import { figures } from '../report/figures.js';
import { ridgeOf } from '../report/scrub.js';
import { text } from '../text/format.js';
import { absence } from './absence.js';
import { footnote } from './footnote.js';
import { asIf, beside, boundBars, heading, placeholder, timeBar } from './parts.js';
import { postTraining } from './post_training.js';
import { saveTrace, traceOfTraining } from './step_trace.js';
import { t } from './texts.js';
import { publishedHours, typicalNote } from './train_notes.js';

const VIEWS = ['whole', 'start', 'end'];

// The whole step, or its first or last passes large enough to read.
/** @param {Context} context */
function viewButtons(context, view) {
  const choose = (one) => () => context.stage.choose('gantt', one);
  return h(
    'div',
    { 'class': 'views', 'role': 'group', 'aria-label': t('train.view') },
    VIEWS.map((one) =>
      h(
        'button',
        { 'type': 'button', 'data-key': `gantt-${one}`, 'aria-pressed': String(one === view), 'onclick': choose(one) },
        t(`train.view.${one}`),
      ),
    ),
  );
}

// Thousands of marks, so they are drawn anew only for another timeline, width or view.
let drawn = {};
/** @param {Context} context */
function schedule(context, timeline, cut, view) {
  const { width } = context;
  if (drawn.timeline !== timeline || drawn.width !== width || drawn.view !== view) {
    const element = gantt({
      id: 'gantt',
      width,
      timeline,
      cut,
      stepTime: context.report.training.step_time_s,
      view,
      controls: viewButtons(context, view),
    });
    drawn = { timeline, width, view, element };
  }
  return drawn.element;
}

/** @param {Context} context */
const boundBar = (context, training) =>
  training.time_by_bound
    ? boundBars(context, 'step-bounds', t('bounds.step'), [
        [undefined, training.time_by_bound, training.network_by_level],
      ])
    : null;

/** @param {Context} context */
const communication = (context, training) =>
  topology({
    id: 'topology',
    width: context.width,
    cluster: context.scenario.cluster,
    mapping: context.scenario.training.mapping,
    devices: context.scenario.training.devices ?? context.scenario.cluster.devices,
    uses: training.collectives,
  });

/** @param {Context} context */
function operators(context, training) {
  const { device } = context.scenario.cluster;
  const { peak, onridge } = ridgeOf(context, [context.scenario.training.precision, 'bf16']);
  if (!peak || !training.operators?.length) return null;
  return roofline({
    id: 'train-roofline',
    title: t('train.operators'),
    subtitle: t('train.operators.sub'),
    width: context.width,
    peak,
    bandwidth: device.memory.bandwidth,
    caches: device.caches,
    groups: [{ phase: 'layer', operators: training.operators }],
    onridge,
  });
}

export const train = {
  id: 'train',
  /** @param {Context} context */
  draw(context) {
    const { training } = context.report;
    const { timeline, timeline_cut: cut } = (training && context.lately('timeline', 'timeline', context.request)) ?? {};
    if (!training) return [heading(t('train.title.void'), ''), absence(context, 'training')];
    const view =
      context.stage.chosen('gantt') ??
      (timeline?.length / (training.stages?.length || 1) > context.width / 8 ? 'start' : 'whole');
    return [
      heading(
        training.feasible
          ? t('train.title', { time: context.hidden ? '…' : text(training.step_time_s, 's') })
          : t('train.title.void'),
        t('train.lead'),
      ),
      asIf(training),
      timeline?.length ? schedule(context, timeline, cut, view) : !timeline && placeholder(t('train.gantt.sub'), 240),
      timeline?.length > 0 &&
        h(
          'p',
          { class: 'note' },
          t('trace.step'),
          ' ',
          h(
            'button',
            {
              'type': 'button',
              'class': 'link',
              'data-key': 'train-trace',
              'id': 'train-trace',
              'onclick': () => saveTrace(traceOfTraining(timeline, t('trace.training')), 'training-step'),
            },
            t('trace.save'),
          ),
        ),
      beside(context, timeBar, (part) => boundBar(part, training)),
      figures(context, [
        'training.step_time_s',
        'training.time_to_train_s',
        'training.model_flops_utilization',
        'training.time_s.bubble',
        'training.energy_j',
        'training.cost_usd',
      ]),
      typicalNote(context),
      beside(
        context,
        (part) => communication(part, training),
        (part) => operators(part, training),
      ),
      postTraining(context),
      publishedHours(context),
      footnote(context, 'train', t('assume.train')),
    ];
  },
};
