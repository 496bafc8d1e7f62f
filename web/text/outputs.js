// The report's figures as the core describes them: title, short name, unit, whether larger or smaller is better.
/** @import {Output} from '../types.js' */

/** @type {Map<string, Output>} */
let described = new Map();

/** @param {Output[]} list */
export const setOutputs = (list) => {
  described = new Map(list.map((one) => [one.path, one]));
};

// For a path of the report, in which any number is a place of a list; undefined if the report has no such figure.
export const outputOf = (path) => described.get(path.replace(/\.\d+(?=\.|$)/g, '.*'));
