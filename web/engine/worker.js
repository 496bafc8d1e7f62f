// The only file that touches the core: a verb and its texts in, the answer's text out.
import createSlipstick from '../wasm/slipstick.js';

const VERBS = new Set([
  'evaluate',
  'timeline',
  'kernel',
  'evidence',
  'describe',
  'presets',
  'sweep',
  'solve',
  'sensitivity',
  'dependence',
  'costStudy',
  'study',
  'importModel',
]);
const ready = createSlipstick();

self.onmessage = async ({ data: { id, verb, args } }) => {
  try {
    const core = await ready;
    if (!VERBS.has(verb) || typeof core[verb] !== 'function') throw new Error(`the core has no ${verb}`);
    self.postMessage({ id, text: core[verb](...args) });
  } catch (error) {
    self.postMessage({ id, error: String(error?.message ?? error) });
  }
};
