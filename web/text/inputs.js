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

// A value of an input as its text: a number in base units with the input's own unit.
export function inputText(path, value) {
  if (typeof value === 'string') return value;
  const { kind, unit, unit_factor: factor } = inputOf(path) ?? {};
  if (typeof value !== 'number' || kind !== 'quantity' || !unit) return JSON.stringify(value);
  return `${Number((value / factor).toPrecision(15))} ${unit}`;
}
