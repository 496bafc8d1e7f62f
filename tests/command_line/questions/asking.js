// How the questions are asked and their answers compared, with figures of data sheets.
import assert from "node:assert/strict";
import { slipstickCommand } from "../../support/module.js";

// The words of a command line, split as a shell does.
const wordsOf = (line) =>
  [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) => word.replace(/'([^']*)'|"([^"]*)"/g, "$1$2"));

/** The answer to a command: JSON, or the rows of a sweep as objects. */
export function ask(line, input = "") {
  const text = slipstickCommand(wordsOf(line), input);
  if (!line.startsWith("sweep ")) return JSON.parse(text);
  const [head, ...rows] = text.trim().split("\n");
  const names = head.split(",");
  return rows.map((row) => Object.fromEntries(row.split(",").map((cell, i) => [names[i], cell])));
}

// The values of a figure in a comparison.
export const compared = (answer, path) => answer.figures.find((figure) => figure.path === path).values;

export const between = (value, low, high, what = "") =>
  assert.ok(Number.isFinite(value) && value >= low && value <= high, `${what} ${value}, not ${low} to ${high}`);
export const near = (value, expected, share, what = "") =>
  between(value, expected * (1 - share), expected * (1 + share), what);

export const HOUR = 3600;
export const DAY = 24 * HOUR;
// Dense peaks (FLOP/s) and memory bandwidth (B/s) from the data sheet.
export const H100 = { bf16: 989e12, fp8: 1979e12, memory: 3.35e12 };
export const LLAMA_70B = 70.6e9;
// KV-cache bytes of a token in 16 bit: keys and values of all layers.
export const kvBytes = (layers, kvHeads, headDim) => 2 * layers * kvHeads * headDim * 2;
