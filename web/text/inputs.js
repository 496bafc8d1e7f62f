// Names and written values of the inputs, from the core's description.
/** @import {Field} from '../types.js' */

/** @type {Map<string, Field>} */
let described = new Map();

/** @param {Field[]} list */
export const setInputs = (list) => {
  described = new Map(list.map((one) => [one.path, one]));
};

// For any path, in which a number is a place of a list; undefined if the core has no such input.
const inputOf = (path) => described.get(path.replace(/\.\d+(?=\.|$)/g, '.*')) ?? described.get(path);
export const inputLabel = (path) => inputOf(path)?.label;

// A sentence of the core with its inputs named as in the form.
export const withLabels = (words) =>
  words.replace(/\b[a-z]\w*(\.\w+)+\b/g, (path) => (inputLabel(path) ? `“${inputLabel(path)}”` : path));

// Removes rounding errors of sums: 0.48000000000000004 becomes 0.48.
const digits = (value) => String(Number(value.toPrecision(15)));

// A value of an input as its text: a number in base units with the input's own unit.
export function inputText(path, value) {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') return JSON.stringify(value);
  const { kind, unit, unit_factor: factor } = inputOf(path) ?? {};
  return kind === 'quantity' && unit ? `${digits(value / factor)} ${unit}` : digits(value);
}
