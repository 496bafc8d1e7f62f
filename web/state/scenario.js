// Inputs are texts by path, as a link holds them: {"serving.batch": "64", "cluster.device.memory.bandwidth": "4 TB/s"}.
// The request is the default scenario with them laid over it, those above first because they replace what stood below them. It
// lists in `written` what the visitor wrote, so that the core can move what only the default scenario supplied to where it is legal.
import { get, isPath, set } from './paths.js';

// "64" -> 64, "true" -> true, "{…}" -> object; anything else is the text itself.
export function valueOf(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'number' && !Number.isFinite(value) ? text : value;
  } catch {
    return text;
  }
}

const depth = (path) => path.split('.').length;

// A path against described ones, in which ".*" stands for any place of a list.
const isPreset = (path, presetPaths) => presetPaths.includes(path.replace(/\.\d+(?=\.|$)/g, '.*'));

// `presetPaths`: the paths whose text value names a catalogue entry ("model", "cluster.device").
function laidOver(standard, inputs, presetPaths) {
  const request = structuredClone(standard);
  const written = Object.keys(inputs).filter(isPath);
  for (const path of [...written].sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1))) {
    const value = valueOf(inputs[path]);
    set(request, path, isPreset(path, presetPaths) && typeof value === 'string' ? { preset: value } : value);
  }
  return { request, written };
}

export function requestOf(standard, inputs, presetPaths) {
  const { request, written } = laidOver(standard, inputs, presetPaths);
  return { ...request, written };
}

// The request with further values written, by path.
export function withChanges(request, changes) {
  const changed = structuredClone(request);
  for (const [path, value] of Object.entries(changes)) set(changed, path, value);
  return { ...changed, written: [...(changed.written ?? []), ...Object.keys(changes)] };
}

// Whether two sets of inputs ask for the same values, whoever supplied them.
export const sayTheSame = (standard, some, others, presetPaths) =>
  JSON.stringify(laidOver(standard, some, presetPaths).request) === JSON.stringify(laidOver(standard, others, presetPaths).request);

// The inputs without those that change nothing, such as a value set back to the default. `follows`: paths whose default moves with
// what else is written, where the default's own value says something.
export function withoutIdle(standard, inputs, presetPaths, follows = []) {
  const kept = { ...inputs };
  for (const path of Object.keys(inputs)) {
    const { [path]: _, ...rest } = kept;
    if (follows.includes(path) && Object.keys(rest).length > 0) continue;
    if (sayTheSame(standard, rest, kept, presetPaths)) delete kept[path];
  }
  return kept;
}

// Another catalogue entry takes the place of everything that was set below it.
export function withPick(inputs, path, id) {
  return { ...without(inputs, path), [path]: id };
}

const textOf = (value) => (typeof value === 'string' ? value : JSON.stringify(value));
const without = (inputs, path) => Object.fromEntries(Object.entries(inputs).filter(([one]) => one !== path && !one.startsWith(`${path}.`)));

// The inputs with a fix of an issue: {path, value, also: [{path, value}]}; what has no value is left out.
export function withFix(inputs, { also = [], ...first }) {
  const changes = [first, ...also];
  let changed = inputs;
  for (const { path, value } of changes.filter((one) => one.value !== undefined)) {
    const owner = path.replace(/\.preset$/, '');
    changed = owner !== path && owner in changed ? withPick(changed, owner, value) : { ...changed, [path]: textOf(value) };
  }
  return changes.filter((one) => one.value === undefined).reduce((left, { path }) => without(left, path), changed);
}

// The inputs that only pick presets: what "changed from preset" is measured against.
export const picksOf = (inputs, presetPaths) => Object.fromEntries(Object.entries(inputs).filter(([path]) => isPreset(path, presetPaths)));

// A request without the parts that its issues are about, so that the others still answer; null if that leaves nothing new.
export function withoutFaulty(request, issues) {
  const parts = ['training', 'serving', 'cost'];
  const faulty = parts.filter((part) => issues.some(({ path }) => path === part || path.startsWith(`${part}.`)));
  const elsewhere = issues.some(({ path }) => !parts.some((part) => path === part || path.startsWith(`${part}.`)));
  if (elsewhere || faulty.length === 0 || parts.every((part) => faulty.includes(part) || get(request, part) === null)) return null;
  return { ...request, ...Object.fromEntries(faulty.map((part) => [part, null])) };
}
