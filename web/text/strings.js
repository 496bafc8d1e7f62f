// The page's texts in the reader's language. A translation is another table like english.js.
import { english } from './english.js';

/** @type {Record<string, string>} */
let table = english;
let pseudo = false;

// Adds the texts of a folder, which load with its modules, and returns the function that reads them; modules that use
// these texts must import it from there.
/** @param {Record<string, string>} texts */
export function extend(texts) {
  table = { ...table, ...(pseudo ? accentedTexts(texts) : texts) };
  return t;
}

// An amount in a name stays on one line: the 80 GB of "H100 SXM5 80 GB".
const unbroken = (value) => String(value).replace(/(\d) (?=[KMGT]i?B\b)/g, '$1\u00a0');

export function t(key, values = {}) {
  const text = table[key]; // {name} is filled in; {name:one|many} chooses by number
  if (text === undefined) return key;
  return numbered(text, values).replace(/\{(\w+)\}/g, (whole, name) =>
    name in values ? unbroken(values[name]) : whole,
  );
}
const numbered = (text, values) =>
  text.replace(/\{(\w+):([^|}]*)\|([^}]*)\}/g, (_, name, one, many) => (String(values[name]) === '1' ? one : many));
export const has = (key) => Object.hasOwn(table, key);

const ACCENTS = {
  a: 'á',
  e: 'é',
  i: 'í',
  o: 'ó',
  u: 'ú',
  A: 'Á',
  E: 'É',
  I: 'Í',
  O: 'Ó',
  U: 'Ú',
  n: 'ñ',
  c: 'ç',
  s: 'š',
  y: 'ý',
};

// A pseudo-language, accented and longer, that shows what a translation would break.
export function usePseudoLocale() {
  pseudo = true;
  table = accentedTexts(table);
}
const accentedTexts = (texts) =>
  Object.fromEntries(
    Object.entries(texts).map(([key, text]) => {
      const accented = text.replace(/\{[^}]*\}|[a-zA-Z]/g, (one) => (one.length > 1 ? one : (ACCENTS[one] ?? one)));
      return [key, `${accented}${' ····'.repeat(Math.ceil(text.length * 0.08))}`];
    }),
  );

// The text split where the values stand: [text, {name}, text, …], for sentences whose figures are elements. `counts` choose by number.
export function pieces(key, values, counts = {}) {
  const used = new Set();
  return numbered(table[key] ?? key, counts)
    .split(/(\{\w+\})/)
    .map((piece) => {
      const name = /^\{(\w+)\}$/.exec(piece)?.[1];
      if (!name || !(name in values)) return piece;
      // An element stands in one place: where its name stands again, a copy does.
      const isAgain = used.has(name);
      used.add(name);
      return isAgain ? (values[name]?.cloneNode?.(true) ?? values[name]) : values[name];
    });
}
