// The sizing question as the link holds it: "rate:100/ttft:1 s/tpot:40 ms/spare:1/peak:2/on:dgx-h100,dgx-b200". Only what differs from the
// question that the scene starts with.
import { parse } from '../text/measure.js';

export const STANDARD = { rate: '20', ttft: '1 s', tpot: '40 ms', spare: '0', peak: '1', on: 'hgx-mi355x,dgx-b200,dgx-b300,gb200-nvl72,dgx-h200,hgx-mi300x,dgx-h100,dgx-a100' };
const NAMES = Object.keys(STANDARD);

export function readQuestion(text = '') {
  const question = { ...STANDARD };
  for (const pair of text.split('/')) {
    const [name, ...value] = pair.split(':');
    if (NAMES.includes(name) && value.length) question[name] = value.join(':').slice(0, 1500);
  }
  return question;
}

export const writeQuestion = (question) =>
  NAMES.filter((name) => question[name] !== STANDARD[name])
    .map((name) => `${name}:${question[name].replaceAll('/', '')}`)
    .join('/');

// What each field may hold: a number above zero; a time, where a bare number is milliseconds.
const positive = (text) => {
  const value = parse(text.replace(/\/s$|\s*requests?(\/s)?$/, ''));
  return value > 0 ? value : undefined;
};
const seconds = (text) => {
  const value = parse(text);
  if (!(value > 0)) return undefined;
  return /[a-z]/i.test(text) ? value : value / 1000;
};
const count = (text) => (/^\d{1,4}$/.test(text.trim()) ? Number(text) : undefined);
export const READERS = { rate: positive, ttft: seconds, tpot: seconds, spare: count, peak: (text) => (positive(text) >= 1 ? positive(text) : undefined) };
const OPTIONAL = new Set(['ttft', 'tpot']);

// An empty target is none.
export const valueIn = (name, text) => (OPTIONAL.has(name) && text.trim() === '' ? null : READERS[name](text));

// The core's question, or the names of the fields that cannot be read.
export function askedOf(question) {
  const values = Object.fromEntries(Object.keys(READERS).map((name) => [name, valueIn(name, question[name])]));
  const wrong = Object.keys(values).filter((name) => values[name] === undefined);
  if (wrong.length) return { wrong };
  const target = (name) => (values[name] === null ? {} : { [name]: values[name] });
  return {
    wrong,
    asked: {
      requests_per_s: values.rate,
      peak_over_mean: values.peak,
      spare_replicas: values.spare,
      ...target('ttft'),
      ...target('tpot'),
      clusters: question.on.split(',').filter((id) => /^[a-z0-9.-]{1,60}$/.test(id)),
    },
  };
}
