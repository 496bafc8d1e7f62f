// Inputs are texts by path, as a link holds them: {"serving.batch": "64", "cluster.device.memory.bandwidth": "4 TB/s"}.
// The request is a default scenario with them laid over it, those above first because they replace what stood below them. It
// lists in `written` what the visitor wrote, so that the core can move what only the default scenario supplied to where it is legal.
// There is a default scenario for each version of links (`defaults`, by version); inputs are over the newest one but where they
// say another: {"version": "1"}.
/** @import {Described, Fix, Inputs, Issue, Request} from '../types.js' */
import { inputText } from '../text/inputs.js';
import { get, isPath, set } from './paths.js';

export let NEWEST = '3';
// As described by the core.
export const useNewest = (defaults) => (NEWEST = String(Math.max(...Object.keys(defaults).map(Number))));
export const versionOf = (inputs) => inputs.version ?? NEWEST;

// The same inputs over the default scenario of a version.
export function withVersion(inputs, version) {
  const { version: _, ...rest } = inputs;
  return version === NEWEST ? rest : { ...rest, version };
}

const BASE_UNITS = ['1', '2']; // versions in which a number without a unit is in base units, as a JSON number is

// "true" -> true, "{…}" -> object; a number stays text, so that the core reads it in the input's own unit. In the first versions "64" -> 64.
export function valueOf(text, version = NEWEST) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'number' && !(BASE_UNITS.includes(version) && Number.isFinite(value)) ? text : value;
  } catch {
    return text;
  }
}

const depth = (path) => path.split('.').length;

// A path against described ones, in which ".*" stands for any place of a list.
const isPreset = (path, presetPaths) => presetPaths.includes(path.replace(/\.\d+(?=\.|$)/g, '.*'));

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
// An object that replaces the existing one, as in the core: one that names a preset, or a whole model.
const standsAlone = (path, value) => 'preset' in value || (path === 'model' && 'vocab' in value);

// An input as the inputs of its members: {"tp": 4} of training.mapping is training.mapping.tp.
function membersOf(path, value, request) {
  if (!isObject(value) || standsAlone(path, value)) return [[path, value]];
  const present = get(request, path);
  const members = Object.entries(value).flatMap(([key, one]) => membersOf(`${path}.${key}`, one, request));
  return isObject(present) ? members : [[path, {}], ...members];
}

// `presetPaths`: the paths whose text value names a catalogue entry ("model", "cluster.device").
function laidOver(defaults, inputs, presetPaths) {
  const version = versionOf(inputs);
  const request = structuredClone(defaults[version]);
  const written = [];
  for (const path of Object.keys(inputs)
    .filter(isPath)
    .sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1))) {
    const value = path === 'version' ? Number(version) : valueOf(inputs[path], version);
    for (const [at, one] of BASE_UNITS.includes(version) ? [[path, value]] : membersOf(path, value, request)) {
      set(request, at, isPreset(at, presetPaths) && typeof one === 'string' ? { preset: one } : one);
      written.push(at);
    }
  }
  return { request, written };
}

/**
 * @param {Described['defaults']} defaults
 * @param {Inputs} inputs
 * @param {string[]} presetPaths
 * @returns {Request}
 */
export function requestOf(defaults, inputs, presetPaths) {
  const { request, written } = laidOver(defaults, inputs, presetPaths);
  return { ...request, written };
}

// The request with further written values, by path.
/**
 * @param {Request} request
 * @param {Record<string, unknown>} changes
 * @returns {Request}
 */
export function withChanges(request, changes) {
  const changed = structuredClone(request);
  for (const [path, value] of Object.entries(changes)) set(changed, path, value);
  return { ...changed, written: [...(changed.written ?? []), ...Object.keys(changes)] };
}

// The request with the core's present choices written, so that they stay while something else moves.
export function withChoicesHeld(request, scenario, chosen) {
  return withChanges(request, Object.fromEntries(chosen.map(({ path }) => [path, get(scenario, path)])));
}

// Numbers of default scenarios are plain, so the text "64" equals the number.
const plainly = (_, value) => (typeof value === 'number' ? String(value) : value);

// Whether two sets of inputs give the same values, whoever supplied them.
export const sayTheSame = (defaults, some, others, presetPaths) =>
  JSON.stringify(laidOver(defaults, some, presetPaths).request, plainly) ===
  JSON.stringify(laidOver(defaults, others, presetPaths).request, plainly);

// The inputs without those that change nothing, such as a value set back to the default; the same object where there are none. `follows`: paths whose default moves with
// what else is written, where the default's own value says something.
export function withoutIdle(defaults, inputs, presetPaths, follows = []) {
  const kept = { ...inputs };
  for (const path of Object.keys(inputs)) {
    const { [path]: _, ...rest } = kept;
    if (follows.includes(path) && Object.keys(rest).some((one) => one !== 'version')) continue;
    if (sayTheSame(defaults, rest, kept, presetPaths)) delete kept[path];
  }
  return Object.keys(kept).length < Object.keys(inputs).length ? kept : inputs;
}

// Another catalogue entry replaces everything that was set below it.
/**
 * @param {Inputs} inputs
 * @returns {Inputs}
 */
export function withPick(inputs, path, id) {
  return { ...without(inputs, path), [path]: id };
}

const without = (inputs, path) =>
  Object.fromEntries(Object.entries(inputs).filter(([one]) => one !== path && !one.startsWith(`${path}.`)));

// The inputs after a fix of an issue: {path, value, also: [{path, value}]}; a path without a value is removed.
/**
 * @param {Inputs} inputs
 * @param {Partial<Fix> & {path: string}} fix
 * @returns {Inputs}
 */
export function withFix(inputs, { also = [], ...first }) {
  const changes = [first, ...also];
  let changed = inputs;
  for (const { path, value } of changes.filter((one) => one.value !== undefined)) {
    const owner = path.replace(/\.preset$/, '');
    changed =
      owner !== path && owner in changed
        ? withPick(changed, owner, value)
        : { ...changed, [path]: inputText(path, value) };
  }
  return changes.filter((one) => one.value === undefined).reduce((left, { path }) => without(left, path), changed);
}

// The inputs with what an answer of the core sets, by path: entries of the catalogue first, since they take the place of what stands below
// them.
/**
 * @param {Inputs} inputs
 * @param {Record<string, unknown>} overrides
 * @returns {Inputs}
 */
export function withOverrides(inputs, overrides) {
  /** @type {(change: [string, unknown]) => boolean} */
  const isPick = ([path, value]) => typeof value === 'string' && (path.endsWith('.preset') || !path.includes('.'));
  const all = Object.entries(overrides);
  const picked = all
    .filter(isPick)
    .reduce((some, [path, id]) => withPick(some, path.replace(/\.preset$/, ''), id), inputs);
  return {
    ...picked,
    ...Object.fromEntries(all.filter((one) => !isPick(one)).map(([path, value]) => [path, inputText(path, value)])),
  };
}

// The inputs with the whole mapping of a part left to the core.
export function withMappingChosen(inputs, part) {
  const path = `${part}.mapping`;
  const recompute = `${part}.recompute`;
  const { [recompute]: _, ...rest } = without(inputs, path);
  return versionOf(inputs) === NEWEST ? rest : { ...rest, [path]: '{"auto":true}' };
}

// The inputs with the core's choices for a part written, so that no other input moves it.
export const withChoiceKept = (inputs, part, report) => ({ ...inputs, ...choicesOf(part, report) });
export const choicesOf = (part, report) =>
  Object.fromEntries((report[part]?.chosen ?? []).map(({ path, value }) => [path, inputText(path, value)]));

// The inputs that only pick presets, and their version: what "changed from preset" is measured against.
export const picksOf = (inputs, presetPaths) =>
  Object.fromEntries(Object.entries(inputs).filter(([path]) => path === 'version' || isPreset(path, presetPaths)));

// A request without the parts that have issues, so that the others are still answered; null if nothing else remains.
/**
 * @param {Request} request
 * @param {Issue[]} issues
 * @returns {Request | null}
 */
export function withoutFaulty(request, issues) {
  const parts = ['training', 'serving', 'cost'];
  const faulty = parts.filter((part) => issues.some(({ path }) => path === part || path.startsWith(`${part}.`)));
  const elsewhere = issues.some(({ path }) => !parts.some((part) => path === part || path.startsWith(`${part}.`)));
  if (elsewhere || faulty.length === 0 || parts.every((part) => faulty.includes(part) || get(request, part) === null))
    return null;
  return { ...request, ...Object.fromEntries(faulty.map((part) => [part, null])) };
}
