// The question as a sentence whose nouns are its controls: a button each, whose picker is fetched when it is first opened.
import { h, redraw } from '../dom.js';
import { whole } from '../text/format.js';
import { pieces, t } from '../text/strings.js';
import { deviceName, modelName, servedOn, trainedOn } from './words.js';

// What the scenario asks for: 'both', 'training', 'serving' or 'nothing'.
export const taskOf = ({ training, serving }) => (training ? (serving ? 'both' : 'training') : serving ? 'serving' : 'nothing');

const taskName = (scenario) => t(`task.${scenario.training?.trainable === 'lora' ? 'lora' : taskOf(scenario)}`);

// What training is called, also where the scenario does not ask for it.
export const trainingName = (scenario) => (scenario.training ? taskName(scenario) : t('task.training'));

// Each noun: the input that it sets and how it reads. `devices` is what the sentence counts first.
function nouns(scenario, inputs) {
  const task = taskOf(scenario);
  const counted = task === 'serving' ? 'serving.devices' : inputs['training.devices'] !== undefined ? 'training.devices' : 'cluster.devices';
  return {
    task: { path: '', text: taskName(scenario) },
    model: { path: 'model', text: modelName(scenario) },
    devices: { path: counted, text: whole(task === 'serving' ? servedOn(scenario) : trainedOn(scenario)), label: 'noun.devices' },
    device: { path: 'cluster', text: deviceName(scenario) },
    batch: scenario.serving && { path: 'serving.batch', text: whole(Number(scenario.serving.batch) || 0) },
    served: scenario.serving && { path: 'serving.devices', text: whole(servedOn(scenario)), label: 'noun.served' },
  };
}

// `load` replaces the batch where the load is said otherwise.
function keyOf(scenario) {
  const task = taskOf(scenario);
  const { requests_per_s: rate, concurrency, batch } = scenario.serving ?? {};
  const hasBatch = rate == null && concurrency == null && typeof batch === 'number';
  return task === 'training' || task === 'nothing' || hasBatch ? `say.${task}` : `say.${task}.load`;
}

// The same without its controls.
export const questionText = (scenario, inputs) =>
  t(keyOf(scenario), Object.fromEntries(Object.entries(nouns(scenario, inputs)).map(([key, noun]) => [key, noun?.text ?? ''])));

// `onopen(noun)` gets {key: data-key of the button, path}; `isLocked(path)` leaves a noun as plain text.
export function showSentence(element, scenario, { inputs, onopen, isLocked }) {
  const values = Object.fromEntries(
    Object.entries(nouns(scenario, inputs))
      .filter(([, noun]) => noun)
      .map(([key, { path, text, label }]) => {
        const name = label ? t(label, { count: text }) : undefined;
        if (isLocked(path || 'training')) return [key, h('b', {}, text)];
        return [
          key,
          h(
            'button',
            {
              type: 'button',
              class: 'noun',
              'data-key': `noun-${key}`,
              'data-noun': path,
              'aria-haspopup': ['task', 'model', 'device'].includes(key) ? 'listbox' : 'dialog',
              'aria-label': name,
              onclick: () => onopen({ key: `noun-${key}`, path }),
              onkeydown: (event) => event.key === 'ArrowDown' && (event.preventDefault(), onopen({ key: `noun-${key}`, path })),
            },
            text,
          ),
        ];
      }),
  );
  redraw(element, pieces(keyOf(scenario), values));
}
