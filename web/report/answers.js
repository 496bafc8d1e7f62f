// The four answers, each with its subject, and the sentence that a screen reader hears once after a change.
import { h, redraw, svg } from '../dom.js';
import { fixButtons, labelOf } from '../form/fields.js';
import { bothBytes, number, parts, text, unitSize, whole } from '../text/format.js';
import { inputLabel } from '../text/inputs.js';
import { withMappingChosen } from '../state/scenario.js';
import { pieces, t } from '../text/strings.js';
import { boundText, deviceName, modelName, trainedOn, trainingBound, servedOn } from './words.js';

const strong = (...children) => h('b', {}, children);

function sentence({ scenario, training, serving }) {
  const common = { model: strong(modelName(scenario)), device: strong(deviceName(scenario)) };
  const out = [];
  const count = (n) => strong(whole(n));
  const trained = trainedOn(scenario);
  const served = servedOn(scenario);
  if (training?.feasible)
    out.push(
      pieces('sentence.training', {
        ...common,
        count: count(trained),
        time: strong(text(training.time_to_train_s, 's')),
        bound: strong(boundText(trainingBound(training))),
      }),
    );
  else if (training) out.push(pieces('sentence.training.infeasible', { ...common, count: count(trained) }));
  if (serving?.feasible) {
    const key = training ? 'sentence.serving' : 'sentence.servingOnly';
    out.push(
      pieces(key, {
        ...common,
        count: count(served),
        time: strong(text(serving.tpot_s, 's')),
        bound: strong(boundText(serving.bound.decode)),
      }),
    );
  } else if (serving) {
    out.push(pieces(training ? 'sentence.serving.infeasible' : 'sentence.servingOnly.infeasible', { ...common, count: count(served) }));
  }
  if (out.length === 0) return pieces('sentence.nothing', { ...common, count: count(scenario.cluster.devices) });
  return out.flatMap((one, i) => (i ? ['; ', one] : [one])).concat(['.']);
}

const WHISKER = { width: 84, height: 12, around: 2 }; // from half to twice the value, the same for every answer

// Where measured values of systems like this lay, {low, high, level}, on a logarithmic axis about the value.
function whisker({ low, high }, value) {
  const { width, height, around } = WHISKER;
  const x = (one) => (width / 2) * (1 + Math.max(-1, Math.min(1, Math.log(one / value) / Math.log(around))));
  const [from, to] = [x(low).toFixed(1), x(high).toFixed(1)];
  return svg(
    'svg',
    { width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' },
    svg('path', { class: 'axis-line', d: `M0 6H${width}` }),
    svg('path', { class: 'reach', d: `M${from} 6H${to}M${from} 3v6M${to} 3v6` }),
    svg('circle', { cx: width / 2, cy: 6, r: 3.2 }),
  );
}

// "308–338 days": both ends in the unit of the figure that they are about, with its digits.
function rangeText({ low, high }, value, unit) {
  const shown = parts(value, unit);
  const per = unitSize(value, unit);
  const [from, to] = [low, high].map((one) => number(one / per));
  return `${shown.number.startsWith('$') ? '$' : ''}${from}–${to}${shown.unit && !shown.unit.startsWith('/') ? `\u00a0${shown.unit}` : ''}`;
}

// "90 %: 308–338 days", null where nothing is known of it.
export function intervalText(known, value, unit) {
  if (!known || !(known.low > 0) || !(value > 0)) return null;
  return t('answers.interval', { level: number((known.level ?? 0.9) * 100), range: rangeText(known, value, unit) });
}

// `of`: the figure whose runs it opens.
function interval(known, value, unit, of) {
  const words = intervalText(known, value, unit);
  if (!words) return null;
  const link = { href: `#/evidence/${of}`, 'data-scene': 'evidence', 'data-sub': of, 'data-key': `interval-${of}`, 'aria-label': t('answers.interval.open', { words }) };
  return h('a', { class: 'iv', ...link }, whisker(known, value), h('span', {}, words));
}

// `assumed`: paths of the inputs that are assumptions; the notes under the answers list them. `trouble`: why there is no figure.
function answer({ scene, title, subject, value, unit, suffix, known, of, line, trouble, assumed, fix, before }) {
  const shown = value === undefined ? { number: '–', unit: '' } : parts(value, unit);
  const was = before?.value !== undefined && before.value !== value ? text(before.value, before.unit) : null;
  const href = { href: `#/${scene}`, 'data-scene': scene, 'data-key': `answer-${scene}` };
  return h(
    'div',
    { class: trouble ? 'answer bad' : 'answer' },
    h('span', { class: 'what' }, h('b', {}, title), subject && [h('i', { class: 'dot' }, ' · '), h('span', {}, subject)]),
    trouble
      ? h('a', { ...href, class: 'value' }, trouble, h('small', {}))
      : h(
          'a',
          { ...href, class: 'value', title: bothBytes(value, unit) },
          shown.number,
          h('small', {}, [shown.unit, suffix].filter(Boolean).join(suffix?.startsWith('/') ? '' : ' ')),
        ),
    !trouble && interval(known, value, unit, of),
    h('span', { class: 'next', title: trouble ? line : undefined }, was !== null && [h('s', {}, was), ' · '], line),
    fix && h('span', { class: 'fixes' }, h('button', { type: 'button', class: 'nearest', onclick: fix }, t('answers.choose'))),
    assumed?.length > 0 && h('span', { class: 'badge', title: assumed.join(', ') }, t('answers.assumed')),
  );
}

// What a part that has no answer shows in place of its figure, why, and the way out of a written mapping.
function inTrouble(part, id, store) {
  const [{ reason, message } = {}] = part.infeasible;
  const kind = { memory: 'memory', kv_cache: 'memory', rate: 'rate' }[reason] ?? 'other';
  const words = (message ?? reason ?? '').replace(/^(Out of memory|Overloaded): /, '');
  return { trouble: t(`answers.trouble.${kind}`), line: words.slice(0, 1).toUpperCase() + words.slice(1), fix: kind === 'memory' && wayOut(id, store) };
}

function wayOut(part, store) {
  const isWritten = Object.keys(store?.inputs ?? {}).some((path) => path.startsWith(`${part}.mapping`) || path === `${part}.recompute`);
  return isWritten && (() => store.setInputs(withMappingChosen(store.inputs, part)));
}

const tokensText = (tokens) => text(tokens, ' tokens').replace(/\s+/g, '\u00a0');
const devicesText = (count) => t('answers.devices', { count: whole(count) });

// The interval of a step, in steps of the run.
function ofTheRun({ step_time_interval: step, step_time_s: seconds, time_to_train_s: whole }) {
  return step && { ...step, low: (step.low * whole) / seconds, high: (step.high * whole) / seconds };
}

function trainingAnswer({ scenario, training, faulty, store }) {
  const common = { scene: 'train', title: t('answers.training') };
  if (!training) return { ...common, ...missing('training', faulty) };
  const shown = { ...common, assumed: training.assumed, subject: t('answers.training.of', { devices: devicesText(trainedOn(scenario)), tokens: tokensText(scenario.training.tokens) }) };
  if (!training.feasible) return { ...shown, ...inTrouble(training, 'training', store) };
  return {
    ...shown,
    value: training.time_to_train_s,
    unit: 's',
    suffix: t('answers.uninterrupted'),
    known: ofTheRun(training),
    of: 'training.step_time_s',
    line: t('answers.mfu', { mfu: text(training.model_flops_utilization, '%'), step: text(training.step_time_s, 's') }),
  };
}

function servingAnswer({ scenario, serving, faulty, store }) {
  const common = { scene: 'serve', title: t('answers.serving') };
  if (!serving) return { ...common, ...missing('serving', faulty) };
  const subject = t('answers.serving.of', { devices: devicesText(servedOn(scenario)), batch: whole(serving.batch) });
  const shown = { ...common, assumed: serving.assumed, subject };
  if (!serving.feasible) return { ...shown, ...inTrouble(serving, 'serving', store) };
  return {
    ...shown,
    value: serving.tpot_s,
    unit: 's',
    suffix: t('answers.perToken'),
    known: serving.tpot_interval,
    of: 'serving.tpot_s',
    line: t('answers.ttft', { ttft: text(serving.ttft_s, 's'), rate: text(serving.tokens_per_s_per_device, ' tokens/s') }),
  };
}

// Of training where there is training, of serving otherwise; what serving needs is said beside.
function memoryAnswer({ training, serving, faulty }) {
  const of = training ?? serving;
  const common = { scene: 'memory', title: t(training || !of ? 'answers.memory.training' : 'answers.memory.serving') };
  if (!of) return { ...common, ...missing('serving', faulty) };
  const { total, capacity } = of.memory_bytes;
  const room = serving && t('answers.room', { batch: whole(serving.max_batch) });
  const shown = {
    ...common,
    subject: t('answers.memory.of'),
    known: of.memory_interval,
    of: training ? 'training.memory_bytes.total' : 'serving.memory_bytes.total',
    line: training && serving ? t('answers.memory.beside', { used: text(serving.memory_bytes.total, 'B'), room }) : room,
    value: total,
    unit: 'B',
    suffix: t('answers.of', { capacity: text(capacity, 'B') }),
  };
  return total > capacity ? { ...shown, trouble: `${text(total, 'B')} ${t('answers.of', { capacity: text(capacity, 'B') })}` } : shown;
}

function costAnswer({ training, serving, cost, faulty }) {
  const common = { scene: 'chip', title: t('answers.cost') };
  if (!cost) return { ...common, ...missing('cost', faulty) };
  const run = training?.feasible && training.cost_usd != null && t('answers.run', { run: text(training.cost_usd, '$') });
  const perToken = serving?.feasible && serving.cost_usd_per_million_tokens != null && t('answers.tokens', { tokens: text(serving.cost_usd_per_million_tokens, '$') });
  return {
    ...common,
    subject: t('answers.cost.of'),
    value: cost.device_hour_usd,
    unit: '$',
    suffix: cost.device_price_usd != null ? t('answers.price', { price: dollars(cost.device_price_usd) }) : '',
    line: [run, perToken].filter(Boolean).join(' · ') || t('answers.made', { made: dollars(cost.device_usd) }),
  };
}

const dollars = (value) => `$${whole(value)}`;
const missing = (part, faulty) => (faulty.has(part) ? { trouble: t('answers.faulty'), line: '' } : { line: t('answers.absent') });

const ANSWERS = [trainingAnswer, servingAnswer, memoryAnswer, costAnswer];

// What the four say of a report, in the order in which they stand.
export const answersOf = (view) => ANSWERS.map((one) => one(view));

// `element` holds <p role=status> and <nav class=four>.
export function showAnswers(element, view) {
  const words = element.querySelector('[role=status]');
  const said = h('p', {}, sentence(view));
  if (words.textContent !== said.textContent) words.replaceChildren(...said.childNodes);
  const { before } = view; // the view of a moment ago, whose figures stand beside the new ones
  redraw(
    element.querySelector('.four'),
    ANSWERS.map((one) => answer({ ...one(view), before: before && one(before) })),
  );
}

// Issues that have no field, and the way to those that have one.
export function showIssues(element, { issues, form, store, stale }) {
  element.hidden = issues.length === 0;
  if (element.hidden) return element.replaceChildren();
  redraw(
    element,
    h('h2', {}, issues.length === 1 ? t('issues.title.one') : t('issues.title', { count: issues.length })),
    stale && h('p', {}, t('issues.stale')),
    h(
      'ul',
      {},
      issues.map(({ path, message, fixes }) =>
        h(
          'li',
          {},
          form.has(path)
            ? h('button', { type: 'button', class: 'link', title: path, onclick: () => form.focus(path) }, labelOf(path))
            : path && (inputLabel(path) ? h('b', { title: path }, inputLabel(path)) : h('code', {}, path)),
          ' ',
          message,
          fixButtons({ fixes }, store),
        ),
      ),
    ),
  );
}
