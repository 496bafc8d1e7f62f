// Inputs are texts by path, as a link holds them: {"serving.batch": "64", "cluster.device.memory.bandwidth": "4 TB/s"}.
// The request is the default scenario with them laid over it, presets first because they replace what stood below them.
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
export function requestOf(standard, inputs, presetPaths) {
  const request = structuredClone(standard);
  const isPick = (path) => isPreset(path, presetPaths);
  const paths = Object.keys(inputs).sort((a, b) => isPick(b) - isPick(a) || depth(a) - depth(b) || (a < b ? -1 : 1));
  for (const path of paths) {
    if (!isPath(path)) continue;
    const value = valueOf(inputs[path]);
    set(request, path, isPick(path) && typeof value === 'string' ? { preset: value } : value);
  }
  return request;
}

// The inputs without those that change nothing, such as a value set back to the default.
export function withoutIdle(standard, inputs, presetPaths) {
  const kept = { ...inputs };
  for (const path of Object.keys(inputs)) {
    const { [path]: _, ...rest } = kept;
    if (JSON.stringify(requestOf(standard, rest, presetPaths)) === JSON.stringify(requestOf(standard, kept, presetPaths)))
      delete kept[path];
  }
  return kept;
}

// Another catalogue entry takes the place of everything that was set below it.
export function withPick(inputs, path, id) {
  const kept = Object.fromEntries(Object.entries(inputs).filter(([one]) => one !== path && !one.startsWith(`${path}.`)));
  return { ...kept, [path]: id };
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
