// Converts scenarios between the assistant's form, the core's requests and the page's links. The intermediate form is
// the page's: inputs as texts by path.
import { read, write } from '../page/state/link.js';
import { isPath } from '../page/state/paths.js';
import { requestOf, useNewest } from '../page/state/scenario.js';
import { setInputs } from '../page/text/inputs.js';

// A wrong request: [{path, message, fixes}] with all its errors.
export class Refused extends Error {
  constructor(issues) {
    super('wrong request');
    this.issues = issues.map(({ path, message, fixes = [] }) => issue(path, message, fixes));
  }
}
export const issue = (path, message, fixes = []) => ({ path, message, fixes });
const leaveOut = (path) => [{ path, label: `leave out ${path}` }];

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
// Values that a link holds as one text: plain values, lists of them, {} and a complete model.
const isWhole = (path, value) =>
  Array.isArray(value)
    ? value.length === 0 || !value.every(isObject)
    : !isObject(value) || Object.keys(value).length === 0 || (path === 'model' && 'vocab' in value);

// {"serving": {"batch": 64}} as {"serving.batch": "64"}; {"cluster": {"preset": "dgx-h100"}} as {"cluster": "dgx-h100"}.
function flat(value, path = '', inputs = {}) {
  if (path && isWhole(path, value))
    inputs[path.replace(/\.preset$/, '')] = typeof value === 'string' ? value : JSON.stringify(value);
  else for (const [key, one] of Object.entries(value)) flat(one, path ? `${path}.${key}` : key, inputs);
  return inputs;
}

export class Scenarios {
  #defaults;
  #presetPaths;
  #site;
  #release;

  // `described`: the core's description of its inputs; `site`: the page's address.
  constructor(described, { site, release }) {
    this.#defaults = described.defaults;
    this.#presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
    this.#site = site.replace(/#.*$/, '');
    this.#release = release;
    setInputs(described.inputs);
    useNewest(described.defaults);
  }

  // {inputs, issues} of a tool's arguments: those of a link, overridden by the written ones.
  async inputsOf({ link, inputs: written = {} }) {
    const [hash = '', scene = 'overview'] = /#\/?(\w*).*$/s.exec(link ?? '') ?? [];
    const { inputs: linked, faults } = await read(hash, [scene]);
    const inputs = { ...linked, ...flat(written) };
    const issues = faults.map(({ path, kind }) => issue('link', `Cannot read ${path} (${kind})`));
    if (link !== undefined && !hash)
      issues.push(issue('link', 'Enter the address of the page with what follows its #'));
    for (const path of Object.keys(inputs))
      if (!isPath(path)) issues.push(issue(path.slice(0, 80), 'Unknown input', leaveOut(path.slice(0, 80))));
    if (inputs.version !== undefined && !Object.hasOwn(this.#defaults, inputs.version)) {
      issues.push(issue('version', `Choose one of ${Object.keys(this.#defaults).join(', ')}`, leaveOut('version')));
      delete inputs.version;
    }
    return { inputs, issues };
  }

  requestOf(inputs) {
    return requestOf(this.#defaults, inputs, this.#presetPaths);
  }

  // The page's address for exactly this scenario, or for a comparison with others.
  linkOf(inputs, { scene = 'overview', others = [], view = {} } = {}) {
    const hash = write({ scene, sub: '', inputs, others, view, release: this.#release });
    return `${this.#site}${hash}${hash.includes('?') ? '' : `?r=${this.#release}`}`;
  }
}
