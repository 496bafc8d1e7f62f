// The only file that touches the core: a verb and its texts in, the answer's text out.
import { firstCore, isFirst, wholeCore } from './cores.js';

const VERBS = new Set([
  'evaluate',
  'timeline',
  'help',
  'catalogue',
  'kernel',
  'describe',
  'presets',
  'sweep',
  'solve',
  'sensitivity',
  'costStudy',
  'search',
  'study',
  'importModel',
]);
const first = firstCore();
let whole = null;

self.onmessage = async ({ data: { id, verb, args } }) => {
  try {
    if (isFirst(verb, args)) {
      const text = (await first)[verb](...args);
      if (text) return void self.postMessage({ id, text });
    }
    const core = await (whole ??= wholeCore());
    // What the whole core describes has the help texts too, and what it lists the sources.
    if (verb === 'help') return void self.postMessage({ id, text: core.describe() });
    if (verb === 'catalogue') return void self.postMessage({ id, text: core.presets('') });
    if (!VERBS.has(verb) || typeof core[verb] !== 'function') throw new Error(`the core has no ${verb}`);
    self.postMessage({ id, text: core[verb](...args) });
  } catch (error) {
    self.postMessage({ id, error: String(error?.message ?? error) });
  }
};
