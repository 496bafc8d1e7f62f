// An exercise with a right answer: the words in its link, each student's numbers, and the code that a teacher checks
// without a server. Everything is computed from the link, so the code works only for honest people: a reader of the
// page's source can make one.
//
//   right=DIGEST                       of the right one of the choices; or
//   figure=PATH                        the answer is this figure of the scenario
//   vary=PATH:A,B,C;PATH:A,B           inputs of which each student gets values of his own
//   student=NAME                       who answers: the seed of the draw
/** @import {Exercise, Inputs} from '../types.js' */

const TEXT = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'; // without what is read for another
const MOST_TRIES = 9;
const TOLERANCE = 0.02;

// 53 bits of a text, well mixed (cyrb53).
function mixed(text) {
  let [one, two] = [0xdeadbeef, 0x41c6ce57];
  for (const char of text) {
    const code = char.codePointAt(0);
    one = Math.imul(one ^ code, 2654435761);
    two = Math.imul(two ^ code, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
  two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return 4294967296 * (2097151 & two) + (one >>> 0);
}

// Ten letters and digits of a text.
export function digest(text) {
  let left = mixed(text);
  let out = '';
  for (let i = 0; i < 10; i++) {
    out += TEXT[left % 32];
    left = Math.floor(left / 32);
  }
  return out;
}

const plain = (name) => name.trim().toLowerCase().replace(/\s+/g, ' ');
const identity = ({ question, right, figure, vary }) => JSON.stringify([question, right, figure, vary]);

// [[path, values]] of "serving.prompt:1024,2048;serving.output:128,256".
const variedOf = (vary) =>
  vary
    .split(';')
    .map((one) => one.split(/:(.*)/s).slice(0, 2))
    .filter(([path, values]) => path && values)
    .map(([path, values]) => [path, values.split(',').filter(Boolean)]);

export const writeVaried = (rows) =>
  rows
    .map(([path, text]) => [
      path,
      text
        .split(',')
        .map((one) => one.trim())
        .filter(Boolean)
        .join(','),
    ])
    .filter(([path, values]) => path && values)
    .map(([path, values]) => `${path}:${values}`)
    .join(';');

// The inputs that a student has drawn, by path.
/**
 * @param {Exercise} exercise
 * @returns {Inputs}
 */
export const numbersOf = (exercise, student) =>
  Object.fromEntries(
    variedOf(exercise.vary).map(([path, values]) => [
      path,
      values[mixed(`${identity(exercise)}|${plain(student)}|${path}`) % values.length],
    ]),
  );

export const isRightChoice = ({ right }, choice) => digest(choice.trim()) === right;
export const isRightValue = (value, figure) => Math.abs(value - figure) <= TOLERANCE * Math.abs(figure);

// The code of a student who was right at this try.
/** @param {Exercise} exercise */
export function codeOf(exercise, student, tries) {
  const code = digest(`${identity(exercise)}|${plain(student)}|${Math.min(tries, MOST_TRIES)}`);
  return `${code.slice(0, 4)}-${code.slice(4, 8)}`;
}

// The try at which a student's code says that he was right; 0 if it is not a code of this exercise.
/** @param {Exercise} exercise */
export function triesOf(exercise, student, code) {
  const same = (one) => one.toUpperCase().replace(/[^A-Z2-9]/g, '');
  for (let tries = 1; tries <= MOST_TRIES; tries++)
    if (same(codeOf(exercise, student, tries)) === same(code)) return tries;
  return 0;
}
