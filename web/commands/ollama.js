// Ollama 0.13 (November 2026): `ollama run NAME:TAG` of its library, by llama.cpp. Its tags begin with a number of parameters, in Q4_K_M where
// they say no other. A name without a tag is whatever is newest: no size is read from it.
/** @import {Tool} from '../types.js' */
import { ggufNamed, modelNamed, modelsSized, plainName, served } from './checkpoints.js';
import { idleSingle, readFlags } from './flags.js';

const NEAR = 0.08; // "70b" of 70.6 billion, "14b" of 14.7

function modelCalled(name, tag, models) {
  const size = /^e?[\d.x]+b/.exec(tag)?.[0];
  if (!size) return undefined;
  const exact = models.find(({ id }) => plainName(id) === plainName(name + size));
  return exact ?? modelsSized(models, name, Number(/[\d.]+/.exec(size)), NEAR)[0];
}

const STARTED = /(^|\/)ollama$/;
const ROWS = idleSingle(['verbose', 'think', 'insecure', 'nowordwrap']);

/** @type {Tool} */
export const ollama = {
  id: 'ollama',
  title: 'Ollama',
  version: 'Ollama 0.13',
  part: 'serving',
  started: (words) => words.some((word) => STARTED.test(word)),

  read(words, models) {
    const start = words.findIndex((word) => STARTED.test(word));
    const answer = readFlags(ROWS, words.slice(start + 1));
    const called = answer.others[1] ?? ''; // behind "run"
    const [name, tag = ''] = called.split('/').at(-1).split(':');
    const model = modelCalled(name, tag, models) ?? (called.includes('/') ? modelNamed(name, models) : undefined); // hf.co/...
    answer.unused.push(...words.slice(0, start).filter((word) => word.startsWith('OLLAMA_')));
    const type = ggufNamed(`-${tag}`);
    if (type.unknown) answer.unknown.push(type.unknown);
    const precision = model?.weights === 'mxfp4' ? 'mxfp4' : (type.precision ?? (/qat/.test(tag) ? 'q4_0' : 'q4_k_m'));
    return {
      ...answer,
      ...served('', models, {
        'serving.precision.weights': precision,
        'serving.precision.activations': 'fp16',
        'serving.batch': '1',
        'serving.engine': 'llamacpp-2025',
      }),
      name: called,
      model,
    };
  },
};
