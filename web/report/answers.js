// The four answers, each with its subject, and the sentence that a screen reader hears once after a change.
import { h, redraw, svg } from '../dom.js';
import { bothBytes, number, parts, text, unitSize, whole } from '../text/format.js';
import { withMappingChosen } from '../state/scenario.js';
import { pieces, t } from '../text/strings.js';
import { hourOf } from './hour.js';
import {
  boundText,
  deviceName,
  modelName,
  perUser,
  replicasOf,
  servedOn,
  shortDevice,
  tokenBound,
  trainedOn,
  trainingBound,
  troubleOf,
} from './words.js';

const strong = (...children) => h('b', {}, children);

function sentence({ scenario, training, serving, post_training: rl, diffusion }) {
  const common = { model: strong(modelName(scenario)), device: strong(deviceName(scenario)) };
  const out = [];
  const count = (n) => strong(whole(n));
  const trained = trainedOn(scenario);
  const served = servedOn(scenario);
  if (rl?.feasible)
    out.push(pieces('sentence.rl', { ...common, count: count(trained), time: strong(text(rl.step_time_s, 's')) }));
  else if (training?.feasible)
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
        bound: strong(boundText(tokenBound(serving))),
      }),
    );
  } else if (serving) {
    out.push(
      pieces(training ? 'sentence.serving.infeasible' : 'sentence.servingOnly.infeasible', {
        ...common,
        count: count(served),
      }),
    );
  }
  if (out.length === 0 && diffusion)
    return pieces(diffusion.feasible ? 'sentence.images' : 'sentence.images.infeasible', {
      ...common,
      model: strong(scenario.diffusion.model.name),
      count: count(diffusion.devices_per_replica),
      time: strong(text(diffusion.latency_s, 's')),
    }).concat(['.']);
  if (out.length === 0) return pieces('sentence.nothing', { ...common, count: count(scenario.cluster.devices) });
  return out.flatMap((one, i) => (i ? ['; ', one] : [one])).concat(['.']);
}

const WHISKER = { width: 84, height: 12, around: 2 }; // from half to twice the value, the same for every answer

// The interval {low, high, level} of measured values, on a logarithmic axis around the value.
function whisker({ low, high }, value) {
  const { width, height, around } = WHISKER;
  const x = (one) => (width / 2) * (1 + Math.max(-1, Math.min(1, Math.log(one / value) / Math.log(around))));
  const [from, to] = [x(low).toFixed(1), x(high).toFixed(1)];
  return svg(
    'svg',
    { width, height, 'viewBox': `0 0 ${width} ${height}`, 'aria-hidden': 'true' },
    svg('path', { class: 'axis-line', d: `M0 6H${width}` }),
    svg('path', { class: 'reach', d: `M${from} 6H${to}M${from} 3v6M${to} 3v6` }),
    svg('circle', { cx: width / 2, cy: 6, r: 3.2 }),
  );
}

// "308–338 days": both ends in the unit and with the digits of the value.
function rangeText({ low, high }, value, unit) {
  const shown = parts(value, unit);
  const per = unitSize(value, unit);
  const [from, to] = [low, high].map((one) => number(one / per));
  return `${shown.number.startsWith('$') ? '$' : ''}${from}–${to}${shown.unit && !shown.unit.startsWith('/') ? `\u00a0${shown.unit}` : ''}`;
}

// "90 %: 308–338 days", null if there is no interval.
export function intervalText(known, value, unit) {
  if (!known || !(known.low > 0) || !(value > 0)) return null;
  return t('answers.interval', { level: number((known.level ?? 0.9) * 100), range: rangeText(known, value, unit) });
}

// The place that shows an interval's runs; for a cost, the uncertain inputs.
const placeOf = (of) => (of.startsWith('cost.') ? { scene: 'chip', sub: 'certainty' } : { scene: 'evidence', sub: of });

// `of`: the figure of the interval.
function interval(known, value, unit, of) {
  const words = intervalText(known, value, unit);
  if (!words) return null;
  const { scene, sub } = placeOf(of);
  const link = {
    'href': `#/${scene}/${sub}`,
    'data-scene': scene,
    'data-sub': sub,
    'data-key': `interval-${of}`,
    'aria-label': t(scene === 'chip' ? 'answers.interval.drawn' : 'answers.interval.open', { words }),
  };
  // A narrow window breaks the line only between level and range.
  const parted = words.split(' ').map((one) => [h('span', {}, one), ' ']);
  return h('a', { class: 'iv', ...link }, whisker(known, value), h('span', {}, parted));
}

// "memory 74.4 of 79.2 GiB, tight" for a part of the report; its certainty is one click away.
function memoryLine({ used, words, verdict, known, of }) {
  const interval = intervalText(known, used, 'B');
  const link = {
    'href': `#/evidence/${of}`,
    'data-scene': 'evidence',
    'data-sub': of,
    'data-key': `interval-${of}`,
    'title': interval,
    'aria-label': interval && t('answers.interval.open', { words: `${words}, ${interval}` }),
  };
  return h('a', { class: `used ${verdict}`, ...(interval && link) }, words);
}

// `assumed`: paths of assumed inputs, which the notes under the answers list. `trouble`: the reason for a missing
// figure.
function answer({
  id,
  scene,
  title,
  subject,
  value,
  unit,
  suffix,
  known,
  of,
  line,
  offer,
  more,
  memory,
  trouble,
  assumed,
  fixes = [],
  before,
}) {
  const shown = value === undefined ? { number: '–', unit: '' } : parts(value, unit);
  const was = before?.value !== undefined && before.value !== value ? text(before.value, before.unit) : null;
  const href = { 'href': `#/${scene}`, 'data-scene': scene, 'data-key': `answer-${id}` };
  return h(
    'div',
    { 'class': trouble ? 'answer bad' : 'answer', 'data-answer': id },
    h(
      'span',
      { class: 'what' },
      h('b', {}, title),
      subject && [h('i', { class: 'dot' }, ' · '), h('span', {}, subject)],
    ),
    trouble
      ? h('a', { ...href, 'class': 'value', 'data-short': trouble }, trouble, h('small', {}))
      : h(
          'a',
          {
            ...href,
            'class': 'value',
            'data-short': [shown.number, shown.unit].filter(Boolean).join('\u00a0'),
            'title': bothBytes(value, unit),
          },
          shown.number,
          h('small', {}, ' ', [shown.unit, suffix].filter(Boolean).join(suffix?.startsWith('/') ? '' : ' ')),
        ),
    !trouble && interval(known, value, unit, of),
    (was !== null || line) &&
      h('span', { class: 'next', title: trouble ? line : undefined }, was !== null && [h('s', {}, was), ' · '], line),
    offer &&
      h(
        'span',
        { class: 'next' },
        h(
          'button',
          { 'type': 'button', 'class': 'offer', 'data-key': `offer-${id}`, 'onclick': offer.onclick },
          offer.name,
        ),
      ),
    more && h('span', { class: 'next' }, more),
    memory && h('span', { class: 'next' }, memoryLine(memory)),
    fixes.length > 0 &&
      h(
        'span',
        { class: 'fixes' },
        fixes.map(({ name, onclick }) =>
          h('button', { 'type': 'button', 'class': 'nearest', 'data-key': `fix-${id}-${name}`, onclick }, name),
        ),
      ),
    assumed?.length > 0 && h('span', { class: 'badge', title: assumed.join(', ') }, t('answers.assumed')),
  );
}

// The text of a part without an answer, the reason, and if memory is short the ways out: from a written mapping, and to
// models that the device can hold.
function inTrouble(part, id, { store, scenario }) {
  const [{ reason, message } = {}] = part.infeasible;
  const kind = troubleOf(part);
  const words = (message ?? reason ?? '').replace(/^(Out of memory|Overloaded): /, '');
  return {
    trouble: t(`answers.trouble.${kind}`),
    line: words.slice(0, 1).toUpperCase() + words.slice(1),
    fixes: kind === 'memory' ? [wayOut(id, store), fitting(scenario, store)].filter(Boolean) : [],
  };
}

function wayOut(part, store) {
  const isWritten = Object.keys(store?.inputs ?? {}).some(
    (path) => path.startsWith(`${part}.mapping`) || path === `${part}.recompute`,
  );
  return (
    isWritten && { name: t('answers.choose'), onclick: () => store.setInputs(withMappingChosen(store.inputs, part)) }
  );
}

const fitting = ({ cluster }, store) =>
  cluster.preset &&
  store && {
    name: t('answers.fits', { device: shortDevice(cluster.device.name) }),
    onclick: () => store.open('explore', `fits/${cluster.preset}`),
  };

const tokensText = (tokens) => text(tokens, ' tokens').replace(/\s+/g, '\u00a0');
const devicesText = (count) => t('answers.devices', { count: whole(count) });

// The interval of a step, in steps of the run.
function ofTheRun({ step_time_interval: step, step_time_s: seconds, time_to_train_s: whole }) {
  return step && { ...step, low: (step.low * whole) / seconds, high: (step.high * whole) / seconds };
}

// The memory of a GPU, and whether it fits: {used, words, verdict, known, of}.
export function memoryOf(part, id) {
  const { total, capacity } = part.memory_bytes;
  const verdict = part.memory_verdict ?? (total > capacity ? 'does_not_fit' : undefined);
  const [mine, all] = [total, capacity].map((one) => parts(one, 'B'));
  const words = t('answers.memory', {
    used: mine.unit === all.unit ? mine.number : text(total, 'B'),
    capacity: text(capacity, 'B'),
  });
  return {
    used: total,
    words: verdict ? `${words}, ${t(`verdict.${verdict}`)}` : words,
    verdict: verdict ?? '',
    known: part.memory_interval,
    of: `${id}.memory_bytes.total`,
  };
}

function trainingAnswer({ scenario, training, post_training: rl, faulty, store }) {
  const common = { id: 'training', scene: 'train', title: t(rl ? 'answers.rl' : 'answers.training') };
  if (!training) return missing('training', faulty, common);
  const shown = { ...common, assumed: training.assumed, subject: t('answers.uninterrupted') };
  const memory = memoryOf(training, 'training');
  if (!training.feasible) return { ...shown, memory, ...inTrouble(training, 'training', { store, scenario }) };
  if (rl) return { ...shown, memory, ...rlAnswer(rl, { store, scenario }) };
  return {
    ...shown,
    value: training.time_to_train_s,
    unit: 's',
    known: ofTheRun(training),
    of: 'training.step_time_s',
    line: t('answers.mfu', { mfu: text(training.model_flops_utilization, '%'), step: text(training.step_time_s, 's') }),
    memory,
  };
}

// Of post-training the answer is a step: how many there are is not asked.
function rlAnswer(rl, view) {
  const subject = t('answers.samples', { count: whole(rl.samples) });
  if (!rl.feasible) return { subject, ...inTrouble(rl, 'training', view) };
  return {
    subject,
    value: rl.step_time_s,
    unit: 's',
    of: 'post_training.step_time_s',
    line: t('answers.device', { device: text(rl.tokens_per_s_per_device, '') }),
  };
}

// "2 replicas of 4 GPUs"; with pools, whose replicas differ, the total of GPUs.
function servedSubject(scenario) {
  if (scenario.serving.disaggregated) return devicesText(servedOn(scenario));
  const { count, devices } = replicasOf(scenario);
  return t('answers.serving.of', { replicas: whole(count), size: whole(devices) });
}

function servingAnswer({ scenario, serving, diffusion, faulty, store }) {
  if (!serving && diffusion && !faulty.has('serving')) return madeAnswer({ scenario, diffusion, store });
  const common = { id: 'serving', scene: 'serve', title: t('answers.serving') };
  if (!serving) return missing('serving', faulty, common);
  const shown = { ...common, assumed: serving.assumed, subject: servedSubject(scenario) };
  if (!serving.feasible) return { ...shown, ...inTrouble(serving, 'serving', { store, scenario }) };
  const waiting = Math.round(serving.requests_waiting);
  return {
    ...shown,
    value: serving.tpot_s,
    unit: 's',
    suffix: t('answers.perToken'),
    known: serving.tpot_interval,
    of: 'serving.tpot_s',
    line: t('answers.rates', { user: text(perUser(serving.tpot_s), ''), ttft: text(serving.ttft_s, 's') }),
    more: [
      t('answers.device', { device: text(serving.tokens_per_s_per_device, '') }),
      waiting > 0 && t('answers.waiting', { count: whole(waiting) }),
    ]
      .filter(Boolean)
      .join(' · '),
  };
}

// A made image or clip, where nothing is served.
function madeAnswer({ scenario, diffusion, store }) {
  const isVideo = diffusion.video_s_per_hour != null;
  const common = {
    id: 'serving',
    scene: 'serve',
    title: t(isVideo ? 'answers.clip' : 'answers.image'),
    subject: devicesText(diffusion.devices_per_replica),
    memory: memoryOf(diffusion, 'diffusion'),
  };
  if (!diffusion.feasible) return { ...common, ...inTrouble(diffusion, 'diffusion', { store, scenario }) };
  return {
    ...common,
    assumed: diffusion.assumed,
    value: diffusion.latency_s,
    unit: 's',
    known: diffusion.latency_interval,
    of: 'diffusion.latency_s',
    line: t('answers.step', { step: text(diffusion.step_s, 's'), steps: whole(scenario.diffusion.steps) }),
    more: [
      isVideo
        ? t('answers.clips.rate', { seconds: text(diffusion.video_s_per_hour, 's') })
        : t('answers.images.rate', { rate: number(diffusion.items_per_hour) }),
      diffusion.cost_usd != null && text(diffusion.cost_usd, '$'),
    ]
      .filter(Boolean)
      .join(' · '),
  };
}

function cacheAnswer({ scenario, serving, faulty }) {
  const common = { id: 'kv_cache', scene: 'memory', title: t('answers.cache') };
  if (!serving) return faulty.has('serving') ? missing('serving', faulty, common) : null;
  const most = serving.max_batch * (replicasOf(scenario)?.count ?? 1);
  return {
    ...common,
    subject: t('answers.cache.of', { token: text(serving.kv_cache_bytes_per_token, 'B') }),
    value: serving.kv_cache_bytes,
    unit: 'B',
    suffix: t('answers.perDevice'),
    line:
      most > 0 && serving.max_context > 0
        ? t('answers.room', { batch: whole(most), context: tokensText(serving.max_context) })
        : '',
    memory: memoryOf(serving, 'serving'),
  };
}

function costAnswer({ scenario, training, serving, post_training: rl, cost, faulty, store, rentals }) {
  const common = { id: 'cost', scene: 'chip', title: t('answers.cost') };
  if (!cost) return missing('cost', faulty, common);
  const run =
    !rl && training?.feasible && training.cost_usd != null && t('answers.run', { run: text(training.cost_usd, '$') });
  const perToken =
    serving?.feasible &&
    serving.cost_usd_per_million_tokens != null &&
    t('answers.tokens', { tokens: text(serving.cost_usd_per_million_tokens, '$') });
  const more = [run, perToken].filter(Boolean).join(' · ');
  const subject = t('answers.cost.of', { device: deviceName(scenario) });
  if (cost.feasible === false) return { ...common, subject, more, ...inTrouble(cost, 'cost', { store, scenario }) };
  return {
    ...common,
    subject,
    value: cost.device_usd,
    unit: '$',
    suffix: t('answers.made'),
    known: cost.device_interval,
    of: 'cost.device_usd',
    ...hourOf({ scenario, cost, store, rentals }),
    more,
  };
}

// Parts that are off take no room.
const missing = (part, faulty, common) =>
  faulty.has(part) ? { ...common, trouble: t('answers.faulty'), line: '' } : null;

const ANSWERS = [trainingAnswer, servingAnswer, cacheAnswer, costAnswer];

// The answers' texts for a report, in their order on the page.
export const answersOf = (view) => ANSWERS.map((one) => one(view)).filter(Boolean);

// `element` holds <p role=status> and <nav class=four>.
export function showAnswers(element, view) {
  const words = element.querySelector('[role=status]');
  const said = h('p', {}, sentence(view));
  if (words.textContent !== said.textContent) words.replaceChildren(...said.childNodes);
  const { before } = view; // the view of a moment ago, whose figures stand beside the new ones
  redraw(
    element.querySelector('.four'),
    ANSWERS.map((one) => [one(view), before && one(before)]).map(
      ([now, was]) => now && answer({ ...now, before: was }),
    ),
  );
}
