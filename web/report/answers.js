// The answer sentence and the four answers: the first thing read, and one live region that says a change once.
import { h, redraw } from '../dom.js';
import { fixButtons } from '../form/fields.js';
import { bothBytes, parts, text, whole } from '../text/format.js';
import { pieces, t } from '../text/strings.js';
import { boundText, deviceName, modelName, trainingBound } from './words.js';

const strong = (...children) => h('b', {}, children);

function sentence({ scenario, training, serving }) {
  const common = { model: strong(modelName(scenario)), device: strong(deviceName(scenario)) };
  const out = [];
  const count = (n) => strong(whole(n));
  const trained = scenario.training?.devices ?? scenario.cluster.devices;
  const served = scenario.serving?.devices ?? scenario.cluster.devices;
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
    out.push(pieces('sentence.serving.infeasible', { count: count(served) }));
  }
  if (out.length === 0) return pieces('sentence.nothing', { ...common, count: count(scenario.cluster.devices) });
  return out.flatMap((one, i) => (i ? ['; ', one] : [one])).concat(['.']);
}

// `assumed`: paths of the inputs that are assumptions; the notes under the answers list them.
function answer({ scene, title, value, unit, suffix, line, bad, assumed }) {
  const shown = value === undefined ? { number: '–', unit: '' } : parts(value, unit);
  return h(
    'a',
    { href: `#/${scene}`, 'data-scene': scene, class: bad ? 'answer bad' : 'answer', 'data-key': `answer-${scene}-${title.slice(0, 8)}` },
    h('span', { class: 'what' }, title),
    h(
      'span',
      { class: 'value', title: bothBytes(value, unit) },
      shown.number,
      h('small', {}, [shown.unit, suffix].filter(Boolean).join(suffix?.startsWith('/') ? '' : ' ')),
    ),
    h('span', { class: 'next' }, line),
    assumed?.length > 0 && h('span', { class: 'badge', title: assumed.join(', ') }, t('answers.assumed')),
  );
}

const trouble = (part) => t('answers.doesNotFit', { message: part.infeasible[0]?.message ?? part.infeasible[0]?.reason ?? '' });

function four({ scenario, training, serving, cost, faulty }) {
  const absent = (part) => (faulty.has(part) ? t('answers.faulty') : t('answers.absent'));
  const list = [];
  list.push(
    training
      ? answer({
          scene: 'train',
          title: t('answers.training', { tokens: text(scenario.training.tokens, ' tokens').replace(/\s+/g, '\u00a0') }),
          value: training.time_to_train_s,
          unit: 's',
          assumed: training.assumed,
          bad: !training.feasible,
          line: training.feasible
            ? t('answers.mfu', { mfu: text(training.model_flops_utilization, '%'), step: text(training.step_time_s, 's') })
            : trouble(training),
        })
      : answer({ scene: 'train', title: t('answers.training.none'), line: absent('training'), bad: faulty.has('training') }),
  );
  list.push(
    serving
      ? answer({
          scene: 'serve',
          title: t('answers.serving', { batch: whole(serving.batch) }),
          value: serving.tpot_s,
          unit: 's',
          assumed: serving.assumed,
          suffix: t('answers.perToken'),
          bad: !serving.feasible,
          line: serving.feasible ? t('answers.ttft', { ttft: text(serving.ttft_s, 's') }) : trouble(serving),
        })
      : answer({ scene: 'serve', title: t('answers.serving.none'), line: absent('serving'), bad: faulty.has('serving') }),
  );
  list.push(
    serving
      ? answer({
          scene: 'memory',
          title: t('answers.memory'),
          value: serving.memory_bytes.total,
          unit: 'B',
          suffix: t('answers.of', { capacity: text(serving.memory_bytes.capacity, 'B') }),
          bad: serving.memory_bytes.total > serving.memory_bytes.capacity,
          line: t('answers.kv', { kv: text(serving.kv_cache_bytes, 'B'), batch: whole(serving.max_batch) }),
        })
      : answer({ scene: 'memory', title: t('answers.memory'), line: absent('serving'), bad: faulty.has('serving') }),
  );
  list.push(
    cost
      ? answer({
          scene: 'chip',
          title: t('answers.cost'),
          value: cost.device_usd,
          unit: '$',
          suffix: t('answers.device'),
          line:
            serving?.cost_usd_per_million_tokens != null
              ? t('answers.hour', { hour: text(cost.device_hour_usd, '$'), tokens: text(serving.cost_usd_per_million_tokens, '$') })
              : t('answers.hourOnly', { hour: text(cost.device_hour_usd, '$') }),
        })
      : answer({ scene: 'chip', title: t('answers.cost'), line: absent('cost'), bad: faulty.has('cost') }),
  );
  return list;
}

// `element` holds <p role=status> and <nav class=four>.
export function showAnswers(element, view) {
  const words = element.querySelector('[role=status]');
  const said = h('p', {}, sentence(view));
  if (words.textContent !== said.textContent) words.replaceChildren(...said.childNodes);
  redraw(element.querySelector('.four'), four(view));
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
            ? h('button', { type: 'button', class: 'link', onclick: () => form.focus(path) }, path)
            : path && h('code', {}, path),
          ' ',
          message,
          fixButtons({ fixes }, store),
        ),
      ),
    ),
  );
}
