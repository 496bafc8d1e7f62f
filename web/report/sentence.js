// The question as a sentence whose nouns are its controls: a button each, whose picker is fetched when it is first opened.
import { h, redraw } from '../dom.js';
import { loadOf } from '../form/load.js';
import { number, text, whole } from '../text/format.js';
import { pieces, t } from '../text/strings.js';
import { deviceName, modelName, replicasOf, servedOn, trainedOn } from './words.js';

// What the scenario asks: 'both', 'training', 'serving', 'rl', 'images' or 'nothing'.
export function taskOf({ training, serving, post_training: postTraining, diffusion }) {
  if (training && serving) return postTraining ? 'rl' : 'both';
  return training ? 'training' : serving ? 'serving' : diffusion ? 'images' : 'nothing';
}

const taskName = (scenario) => t(`task.${scenario.training?.trainable === 'lora' ? 'lora' : taskOf(scenario)}`);

// The name of the training task, even if training is off.
export const trainingName = (scenario) => (scenario.training ? taskName(scenario) : t('task.training'));

// Two pools that serve, if prefill runs on another device; the sentence counts the decode pool first.
function twoKinds(scenario) {
  const pools = taskOf(scenario) === 'serving' && scenario.serving.disaggregated;
  return pools && pools.prefill_device ? pools : null;
}

// Each noun: the input that it sets, how it reads, and of a count its value. `devices` is what the sentence counts first.
function nouns(scenario, inputs) {
  const task = taskOf(scenario);
  const pools = twoKinds(scenario);
  const counted = pools
    ? 'serving.disaggregated.decode_devices'
    : task === 'serving'
      ? 'serving.devices'
      : inputs['training.devices'] !== undefined
        ? 'training.devices'
        : 'cluster.devices';
  const tokens = Number(scenario.training?.tokens) || 0;
  const served = scenario.serving ? servedOn(scenario) : 0;
  const devices = pools ? Number(pools.decode_devices) : task === 'serving' ? served : trainedOn(scenario);
  const requests = requestsOf(scenario);
  const made = Number(scenario.diffusion?.devices) || 0;
  return {
    task: { path: '', text: taskName(scenario) },
    model: { path: 'model', text: modelName(scenario) },
    tokens: { path: 'training.tokens', value: tokens, text: scenario.training ? text(tokens, ' tokens') : '' },
    devices: { path: counted, value: devices, text: whole(devices), label: 'noun.devices' },
    device: { path: 'cluster', text: deviceName(scenario) },
    requests: { path: 'serving.concurrency', value: requests, text: whole(requests), label: 'noun.requests' },
    made: { path: 'diffusion.devices', value: made, text: whole(made), label: 'noun.devices' },
    served: { path: 'serving.devices', value: served, text: whole(served), label: 'noun.served' },
  };
}

// The total number of requests at once, over all replicas.
function requestsOf({ serving, cluster }) {
  if (!serving) return 0;
  if (loadOf(serving) === 'concurrency') return Number(serving.concurrency);
  return (Number(serving.batch) || 0) * (replicasOf({ serving, cluster })?.count ?? 1);
}

function load(scenario, noun) {
  const { serving } = scenario;
  if (loadOf(serving) === 'rate') return pieces('say.load.rate', { rate: number(Number(serving.requests_per_s)) });
  const count = requestsOf(scenario);
  return count ? pieces('say.load', { count: noun('requests') }, { count }) : pieces('say.load.max', {});
}

// The sentence in pieces; `noun(name)` gives each of its controls.
function sentence(scenario, noun) {
  const pools = twoKinds(scenario);
  const values = Object.fromEntries(
    ['task', 'model', 'tokens', 'devices', 'device', 'served'].map((name) => [name, noun(name)]),
  );
  return pieces(pools ? 'say.pools' : `say.${taskOf(scenario)}`, {
    ...values,
    prefill: pools && `${whole(pools.prefill_devices)} ${deviceName({ cluster: { device: pools.prefill_device } })}`,
    made: scenario.diffusion && noun('made'),
    diffusion: scenario.diffusion?.model?.name,
    load: scenario.serving && load(scenario, noun),
  });
}

// The same without its controls.
export function questionText(scenario, inputs) {
  const all = nouns(scenario, inputs);
  return sentence(scenario, (name) => all[name].text)
    .flat(Infinity)
    .join('');
}

// `onopen(noun)` gets {key: data-key of the button, path, value}; `isLocked(path)` leaves a noun as plain text.
export function showSentence(element, scenario, { inputs, onopen, isLocked }) {
  const all = nouns(scenario, inputs);
  const noun = (key) => {
    const { path, value, text, label } = all[key];
    const open = () => onopen({ key: `noun-${key}`, path, value });
    if (isLocked(path || 'training')) return h('b', {}, text);
    return h(
      'button',
      {
        'type': 'button',
        'class': 'noun',
        'data-key': `noun-${key}`,
        'data-noun': path,
        'aria-haspopup': ['task', 'model', 'device'].includes(key) ? 'listbox' : 'dialog',
        'aria-label': label ? t(label, { count: text }) : undefined,
        'onclick': open,
        'onkeydown': (event) => event.key === 'ArrowDown' && (event.preventDefault(), open()),
      },
      text,
    );
  };
  redraw(element, sentence(scenario, noun));
}
