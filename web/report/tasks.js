// What to do with a model: train it, serve it or both.
import { taskOf, trainingName } from './sentence.js';
import { t } from './texts.js';

export const taskOptions = (scenario) =>
  ['both', 'training', 'serving', 'lora', 'rl', 'images'].map((id) => ({
    id,
    name: t(`picker.task.${id}`, { training: trainingName(scenario) }),
    note: '',
    words: '',
  }));

export const taskChosen = (scenario) =>
  taskOf(scenario) === 'training' && scenario.training.trainable === 'lora' ? 'lora' : taskOf(scenario);

// A fine-tune by low-rank adapters, of some ten thousand examples.
const FINE_TUNE = {
  'training.trainable': 'lora',
  'training.framework': 'fsdp',
  'training.sequence': '2048',
  'training.tokens': '10 Mtoken',
};

// The inputs for a task of the picker; inputs that pre-training and fine-tuning do not share are taken back.
export function withTaskPicked(inputs, task) {
  if (task === 'images') return { ...withTask(inputs, 'images'), 'diffusion.model': 'flux.1-dev' };
  if (task === 'rl') return { ...withTask(inputs, 'both'), 'post_training.algorithm': 'grpo' };
  if (task === 'lora') return { ...withTask(inputs, 'training'), ...FINE_TUNE };
  const isKept = ([path, value]) => task !== 'training' || FINE_TUNE[path] !== value;
  return withTask(Object.fromEntries(Object.entries(inputs).filter(isKept)), task);
}

// The tasks as inputs: a part that is off is null.
export function withTask(inputs, task) {
  const rest = Object.fromEntries(
    Object.entries(inputs).filter(
      ([path]) =>
        path !== 'training' && path !== 'serving' && !path.startsWith('post_training') && !path.startsWith('diffusion'),
    ),
  );
  const off = { both: [], training: ['serving'], serving: ['training'], images: ['training', 'serving'] }[task];
  const kept = Object.entries(rest).filter(([path]) => !off.some((part) => path.startsWith(`${part}.`)));
  return { ...Object.fromEntries(kept), ...Object.fromEntries(off.map((part) => [part, 'null'])) };
}
