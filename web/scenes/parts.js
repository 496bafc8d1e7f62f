// Shared by several scenes.
/** @import {Context, Json} from '../types.js' */
import { stackedBars } from '../charts/bars.js';
import { billParts, boundParts, memoryParts, timeParts } from '../charts/parts.js';
import { h } from '../dom.js';
import { troubleOf } from '../report/words.js';
import { get } from '../state/paths.js';
import { text } from '../text/format.js';
import { t } from './texts.js';

export const heading = (title, lead) => [
  h('h1', { class: 'question', tabindex: -1 }, title),
  h('p', { class: 'lead' }, lead),
];

// A view that an address asks for and that is not there.
export const unknownPlace = (place) => h('p', { class: 'note', role: 'status' }, t('place.unknown', { place }));

const TWO = 1200; // px of a scene with two columns: a window of 1,600
const GAP = 32;

// Two parts side by side if there is room, else one below the other; each is drawn at its own width.
/** @param {Context} context */
export function beside(context, ...parts) {
  if (context.width < TWO) return parts.map((draw) => draw(context));
  const half = { ...context, width: Math.floor((context.width - GAP) / 2) };
  return h(
    'div',
    { class: 'two' },
    parts.map((draw) => h('div', {}, draw(half))),
  );
}

// Keeps the place of a chart whose figures have not come yet.
export const placeholder = (title, height) =>
  h(
    'div',
    { class: 'chart waiting', style: { 'min-height': `${height}px` } },
    h('p', { class: 'figcaption' }, title),
    h('p', { class: 'summary' }, t('chart.waiting')),
  );

const SEEN = 0.005; // a change of a bar that can be seen

// A figure before a lesson's change, if it was different: charts outline it.
/** @param {Pick<Context, 'report' | 'ghost'>} context */
export function ghostOf({ report, ghost }, path) {
  const [was, is] = [get(ghost ?? {}, path), get(report, path)];
  return was > 0 && Math.abs(was / is - 1) > SEEN ? was : undefined;
}

const sentence = (words) => words.slice(0, 1).toUpperCase() + words.slice(1);

// Why a part cannot run, and what that means for the figures below.
/** @param {Json} part */
export const infeasible = (part, below = '') =>
  part.feasible === false
    ? h(
        'div',
        { class: 'infeasible', role: 'note' },
        part.infeasible.map(({ message, reason }) => h('p', {}, sentence(message || reason))),
        below && h('p', { class: 'below' }, below),
      )
    : null;

// The same above its times and costs, with what they are then.
/** @param {Json} part */
export const asIf = (part) =>
  infeasible(part, t(troubleOf(part) === 'rate' ? 'infeasible.asIf.rate' : 'infeasible.asIf'));

/** @param {Context} context */
export const timeBar = (context, options = {}) =>
  stackedBars({
    id: 'step-bar',
    title: t('train.bar'),
    subtitle: t('train.bar.sub'),
    width: context.width,
    unit: 's',
    rows: [{ parts: timeParts(context.report.training.time_s), ghost: ghostOf(context, 'training.step_time_s') }],
    onpart: (part) => context.why(`training.time_s.${part}`),
    ...options,
  });

// One bar per time: [[label, time by bound, its communication by network level]].
/** @param {Context} context */
export const boundBars = (context, id, subtitle, times) =>
  stackedBars({
    id,
    title: t('bounds.bar'),
    subtitle,
    width: context.width,
    unit: 's',
    rows: times.map(([label, parts, levels]) => ({ label, parts: boundParts(parts, levels) })),
    axis: times.length > 1,
  });

// Whether the memory of a part fits, by its interval if there is one.
/** @param {Json} part */
function memoryNote({ memory_bytes: { total, capacity }, memory_verdict: verdict }) {
  return t(`memory.${verdict ?? (total > capacity ? 'does_not_fit' : 'fits')}`, {
    used: text(total, 'B'),
    capacity: text(capacity, 'B'),
  });
}

/** @param {Context} context */
export function servingMemory(context, options = {}) {
  const { memory_bytes: memory } = context.report.serving;
  return stackedBars({
    id: 'serving-memory',
    onpart: (part) => part !== 'free' && context.why(`serving.memory_bytes.${part}`),
    title: t('memory.serving'),
    width: context.width,
    unit: 'B',
    rows: [{ parts: memoryParts(memory), ghost: ghostOf(context, 'serving.memory_bytes.total') }],
    limit: { value: memory.capacity, text: text(memory.capacity, 'B') },
    note: memoryNote(context.report.serving),
    ...options,
  });
}

/** @param {Context} context */
export function trainingMemory(context, options = {}) {
  const { stages, memory_bytes: memory } = context.report.training;
  const rows = (stages?.length ? stages : [{ memory_bytes: memory }]).map((stage, i, all) => ({
    label: all.length > 1 ? t('memory.stage', { i: i + 1 }) : undefined,
    parts: memoryParts(stage.memory_bytes),
    ghost:
      context.ghost?.training?.stages?.length === stages?.length
        ? ghostOf(context, stages?.length ? `training.stages.${i}.memory_bytes.total` : 'training.memory_bytes.total')
        : undefined,
  }));
  return stackedBars({
    id: 'training-memory',
    title: t('memory.training'),
    width: context.width,
    unit: 'B',
    rows,
    axis: rows.length > 1,
    limit: { value: memory.capacity, text: text(memory.capacity, 'B') },
    note: memoryNote(context.report.training),
    ...options,
  });
}

/** @param {Context} context */
export const bill = (context, { id, title, lines, subtitle }) =>
  stackedBars({ id, title, subtitle, width: context.width, unit: '$', rows: [{ parts: billParts(lines) }] });
