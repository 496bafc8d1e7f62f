// The question as a sentence whose nouns are its controls: a button each, whose picker is fetched when it is first opened.
import { h, redraw } from '../dom.js';
import { loadOf } from '../form/load.js';
import { number, whole } from '../text/format.js';
import { pieces, t } from '../text/strings.js';
import { deviceName, modelName, replicasOf, servedOn, trainedOn } from './words.js';

// What the scenario asks for: 'both', 'training', 'serving' or 'nothing'.
export const taskOf = ({ training, serving }) => (training ? (serving ? 'both' : 'training') : serving ? 'serving' : 'nothing');

const taskName = (scenario) => t(`task.${scenario.training?.trainable === 'lora' ? 'lora' : taskOf(scenario)}`);

// What training is called, also where the scenario does not ask for it.
export const trainingName = (scenario) => (scenario.training ? taskName(scenario) : t('task.training'));

// Each noun: the input that it sets and how it reads. `devices` is what the sentence counts first.
function nouns(scenario, inputs) {
  const task = taskOf(scenario);
  const counted = task === 'serving' ? 'serving.devices' : inputs['training.devices'] !== undefined ? 'training.devices' : 'cluster.devices';
  const { serving } = scenario;
  return {
    task: { path: '', text: taskName(scenario) },
    model: { path: 'model', text: modelName(scenario) },
    devices: { path: counted, text: whole(task === 'serving' ? servedOn(scenario) : trainedOn(scenario)), label: 'noun.devices' },
    device: { path: 'cluster', text: deviceName(scenario) },
    batch: { path: 'serving.batch', text: whole(Number(serving?.batch) || 0), label: 'noun.batch' },
    concurrency: { path: 'serving.concurrency', text: whole(Number(serving?.concurrency) || 0), label: 'noun.concurrency' },
    served: { path: 'serving.devices', text: whole(serving ? servedOn(scenario) : 0), label: 'noun.served' },
  };
}

// How many requests run at once in all, and how they are spread over replicas: {load, spread}, each [key, values, counts].
function requests({ serving, cluster }, noun) {
  const load = loadOf(serving);
  const replicas = replicasOf({ serving, cluster });
  const isSpread = replicas?.count > 1;
  const spread = (kind) => isSpread && [`say.spread.${serving.disaggregated ? 'pools.' : ''}${kind}`, { replicas: whole(replicas.count), batch: noun('batch') }];
  if (load === 'rate') return { load: ['say.load.rate', { rate: number(Number(serving.requests_per_s)) }], spread: spread('other') };
  if (load === 'concurrency') return { load: ['say.load', { count: noun('concurrency') }, { count: serving.concurrency }], spread: spread('other') };
  if (typeof serving.batch !== 'number') return { load: ['say.load.max', {}], spread: spread('other') };
  if (!replicas) return { load: ['say.load.each', { batch: noun('batch') }, { batch: serving.batch }], spread: null };
  const all = serving.batch * replicas.count;
  return { load: ['say.load', { count: isSpread ? whole(all) : noun('batch') }, { count: all }], spread: spread('batch') };
}

// The sentence in pieces; `noun(name)` gives each of its controls.
function sentence(scenario, noun) {
  const key = `say.${taskOf(scenario)}`;
  const { load, spread } = scenario.serving ? requests(scenario, noun) : {};
  const values = Object.fromEntries(['task', 'model', 'devices', 'device', 'served'].map((name) => [name, noun(name)]));
  return pieces(key, { ...values, load: load && pieces(...load), spread: spread ? pieces(...spread) : '' });
}

// The same without its controls.
export function questionText(scenario, inputs) {
  const all = nouns(scenario, inputs);
  return sentence(scenario, (name) => all[name].text).flat(Infinity).join('');
}

// `onopen(noun)` gets {key: data-key of the button, path}; `isLocked(path)` leaves a noun as plain text.
export function showSentence(element, scenario, { inputs, onopen, isLocked }) {
  const all = nouns(scenario, inputs);
  const noun = (key) => {
    const { path, text, label } = all[key];
    if (isLocked(path || 'training')) return h('b', {}, text);
    return h(
      'button',
      {
        type: 'button',
        class: 'noun',
        'data-key': `noun-${key}`,
        'data-noun': path,
        'aria-haspopup': ['task', 'model', 'device'].includes(key) ? 'listbox' : 'dialog',
        'aria-label': label ? t(label, { count: text }) : undefined,
        onclick: () => onopen({ key: `noun-${key}`, path }),
        onkeydown: (event) => event.key === 'ArrowDown' && (event.preventDefault(), onopen({ key: `noun-${key}`, path })),
      },
      text,
    );
  };
  redraw(element, sentence(scenario, noun));
}
