// Values of a sweep: suggestions for an input, reading a row of the core's answer, the size of the next piece.
import { labelOf } from '../form/fields.js';
import { t as nameOfChoice } from '../form/texts.js';
import { whole } from '../text/format.js';
import { show } from '../text/measure.js';
import { outputOf } from '../text/outputs.js';
import { has } from '../text/strings.js';
import { t } from './texts.js';

const CHUNK_MS = 80;
const MOST_CHOICES = 12;

// Suggested values around the present one, as text: all choices, powers of two of a count, a range of a quantity.
export function valuesAbout(input, value, ids = []) {
  if (ids.length) return ids.slice(0, MOST_CHOICES).join(', ');
  if (input.kind === 'choice') return input.choices.join(', ');
  if (input.kind === 'flag') return 'false, true';
  const size = typeof value === 'number' && value > 0 ? value : 8;
  if (input.kind === 'count' || input.kind === 'length') {
    const middle = Math.round(Math.log2(size));
    const least = Math.max(0, middle - 3);
    const all = Array.from({ length: 8 }, (_, i) => 2 ** (least + i));
    const inside = all.filter((one) => one >= (input.low ?? 1) && one <= (input.high ?? Infinity));
    return (inside.length > 1 ? inside : [input.low ?? 0, input.high ?? 1]).join(', ');
  }
  const high = Math.min(size * 2, input.high ?? Infinity);
  const low = Math.max(size / 2, input.low ?? 0);
  const write = (one) =>
    input.kind === 'quantity' ? show(one, input.unit, input.unit_factor) : String(Number(one.toPrecision(4)));
  return `${write(low)}:${write(high)}:9:log`;
}

// A row as {value, reason}: the reason is set if the point is invalid or does not fit.
export function cellOf({ figures: [value, feasible, infeasible], issues }) {
  if (issues.length)
    return {
      reason: t('explore.impossible', {
        reason: issues.map(({ path, message }) => `${path} ${message}`.trim()).join('; '),
      }),
    };
  if (feasible === false)
    return {
      value,
      reason: t('explore.infeasible', {
        reason: (infeasible ?? []).map(({ message, reason }) => message || reason).join('; '),
      }),
    };
  if (typeof value !== 'number') return { reason: t('explore.noFigure') };
  return { value };
}
export const isBad = (cell) => Boolean(cell.reason);

// An input's value in readable form: presets and choices by their names.
export function nameOfValue(value, input, catalogue = []) {
  if (typeof value === 'string') {
    const entry = input?.presets && catalogue.find(({ kind, id }) => kind === input.presets && id === value);
    return entry?.name ?? (input?.path ? valueWords(input.path, value) : value);
  }
  if (typeof value === 'boolean' && input?.path) return valueWords(input.path, value);
  if (typeof value !== 'number') return JSON.stringify(value);
  if (input?.kind === 'quantity') return show(value, input.unit, input.unit_factor);
  return Number.isInteger(value) ? whole(value) : String(Number(value.toPrecision(6)));
}

// A mapping in words: the members that matter; a preset has the name of its kind. `say(path, value)`: a value as
// readable text.
export const mappingWords = (overrides, say = valueWords) =>
  Object.entries(overrides ?? {})
    .map(([path, value]) => [path, path.includes('.offload.') && value === 1 ? true : value]) // a share: 1 is all
    .filter(([, value]) => ![null, undefined, 1, 0, false, 'none'].includes(value))
    .map(([path, value]) =>
      value === true ? inSentence(shortName(path)) : `${inSentence(shortName(path))} ${say(path, value)}`,
    )
    .join(', ');

// A name inside a sentence; a first word with inner capitals, such as ZeRO, keeps them.
export const inSentence = (name) => name.replace(/^[A-Z](?!\S*[A-Z])/, (letter) => letter.toLowerCase());

// A member's value: yes or no, a choice by its name, the dimensions of an order in the capitals that they have elsewhere.
export function valueWords(path, value) {
  if (typeof value === 'boolean') return t(value ? 'explore.yes' : 'explore.no');
  if (path.endsWith('.order')) return value.toUpperCase();
  const choice = `choice.${path.split('.').at(-1)}.${value}`;
  return has(choice) ? nameOfChoice(choice) : String(value);
}

// The prefill pool's own mapping has the members of the other one.
const PREFILL_MAPPING = '.prefill_mapping.';
export const memberLabel = (path) =>
  path.includes(PREFILL_MAPPING) ? t('explore.prefill.label', { label: labelOf(path) }) : labelOf(path);

// "TP" of "Tensor parallelism (TP)"; where a label is a sentence, the word for it.
export function shortName(path) {
  if (path.includes(PREFILL_MAPPING))
    return t('explore.short.prefill', { name: shortName(path.replace('disaggregated.prefill_mapping.', 'mapping.')) });
  if (path.includes('.offload.'))
    return t('explore.short.offload', { what: path.split('.').at(-1).replaceAll('_', ' ') });
  const member = `explore.short.${path.split('.').at(-1)}`;
  const label = labelOf(path.replace(/\.preset$/, ''));
  return has(member) ? t(member) : (/\(([A-Z]{2,})\)$/.exec(label)?.[1] ?? label);
}

// The objective of a search for the best value of a figure: the figure itself if searches have it.
export const objectiveFor = (figure, of) =>
  outputOf(figure)?.sought && figure.startsWith(`${of}.`) ? figure.slice(of.length + 1) : '';

// The number of points in the next piece, so that a stop is heard soon.
export const chunkAfter = (count, ms) =>
  Math.max(1, Math.min(2000, ms < CHUNK_MS / 2 ? count * 2 : Math.floor((count * CHUNK_MS) / ms)));
