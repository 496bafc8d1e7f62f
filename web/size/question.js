// The sizing question as the link holds it: "rate:100/ttft:1 s/tpot:40 ms/spare:1/peak:2/mix:0.7:1000/300, 0.3:8000/200/on:dgx-h100,dgx-b200".
// Only what differs from the question that the scene starts with.
import { inUnit, parse } from '../text/measure.js';

export const STANDARD = {
  rate: '20',
  ttft: '1 s',
  tpot: '40 ms',
  spare: '0',
  peak: '1',
  mix: '',
  on: 'hgx-mi355x,dgx-b200,dgx-b300,gb200-nvl72,dgx-h200,hgx-mi300x,dgx-h100,dgx-a100',
};
const NAMES = Object.keys(STANDARD);

// A value may contain a slash ("25 tokens/s"): only one before a name begins the next field.
const BETWEEN = new RegExp(`/(?=(?:${NAMES.join('|')}):)`);

export function readQuestion(text = '') {
  const question = { ...STANDARD };
  for (const pair of text.split(BETWEEN)) {
    const [name, ...value] = pair.split(':');
    if (NAMES.includes(name) && value.length) question[name] = value.join(':').slice(0, 1500);
  }
  return question;
}

export const writeQuestion = (question) =>
  NAMES.filter((name) => question[name] !== STANDARD[name])
    .map((name) => `${name}:${question[name]}`)
    .join('/');

// Valid values of each field: a number above zero; a time, where a bare number is in milliseconds; for TPOT also its
// inverse, a user's tokens/s.
const NUMBER = /^[\d.,]+(?:e[+-]?\d+)?\s*[kM]?$/;
const positive = (text) => {
  const plain = text.trim().replace(/\s*(requests?)?\s*(\/s)?$/, '');
  const value = NUMBER.test(plain) ? parse(plain) : undefined;
  return value > 0 ? value : undefined;
};
const TIME = /^[\d.,]+(?:e[+-]?\d+)?\s*(|ns|[uµ]s|ms|s|min|h)$/i;
const seconds = (text) => {
  const value = TIME.test(text.trim()) ? parse(inUnit(text, 'ms')) : undefined;
  return value > 0 ? value : undefined;
};
const RATE = /^(.*\d)\s*(?:tok(?:en)?s?|t)\s*(?:\/|\s?per\s)\s*s(?:ec(?:ond)?)?(?:\s*(?:\/|\s?per\s)\s*user)?$/i;
const secondsPerToken = (text) => {
  const rate = RATE.exec(text.trim());
  return rate ? inverse(positive(rate[1])) : seconds(text);
};
const inverse = (value) => value && 1 / value;
// Rates through the day: "1, 1, 2, 4", for parts of equal length. "1,500" is a number.
function dayOf(text) {
  const parts = text.trim().split(/\s*[;,]\s+|[\s;]+/);
  const rates = (parts.length > 1 ? parts : text.trim().split(',')).map((part) => Number(part || NaN));
  const isDay = rates.length > (parts.length > 1 ? 1 : 2) && rates.every((rate) => rate >= 0) && Math.max(...rates) > 0;
  return isDay ? rates : undefined;
}
// Classes of requests, WEIGHT:PROMPT/OUTPUT each: "0.7:1000/300, 0.3:8k/200". The core reads their lengths.
const CLASS = /^([\d.]+)\s*:\s*([\d.]+k?)\s*\/\s*([\d.]+k?)$/i;
function mixtureOf(text) {
  const classes = text
    .trim()
    .split(/\s*[,;]\s*/)
    .map((part) => CLASS.exec(part))
    .map((found) => found && { weight: Number(found[1]), prompt_tokens: found[2], output_tokens: found[3] });
  return classes.every((one) => one?.weight > 0) ? classes : undefined;
}
export const mixtureText = (classes) =>
  classes
    .map(({ weight = 1, prompt_tokens: prompt, output_tokens: output }) => `${weight}:${prompt}/${output}`)
    .join(', ');
const count = (text) => (/^\d{1,4}$/.test(text.trim()) ? Number(text) : undefined);
export const READERS = {
  rate: positive,
  ttft: seconds,
  tpot: secondsPerToken,
  spare: count,
  mix: mixtureOf,
  peak: (text) => dayOf(text) ?? (positive(text) >= 1 ? positive(text) : undefined),
};
const OPTIONAL = new Set(['ttft', 'tpot', 'mix']);

// An empty target means none.
export const valueIn = (name, text) => (OPTIONAL.has(name) && text.trim() === '' ? null : READERS[name](text));

// The core's question, or the names of the invalid fields.
export function askedOf(question) {
  const values = Object.fromEntries(Object.keys(READERS).map((name) => [name, valueIn(name, question[name])]));
  const wrong = Object.keys(values).filter((name) => values[name] === undefined);
  if (wrong.length) return { wrong };
  const target = (name) => (values[name] === null ? {} : { [name]: values[name] });
  return {
    wrong,
    asked: {
      requests_per_s: values.rate,
      ...(Array.isArray(values.peak) ? { day: values.peak } : { peak_over_mean: values.peak }),
      spare_replicas: values.spare,
      ...target('ttft'),
      ...target('tpot'),
      ...(values.mix && { mixture: values.mix }),
      clusters: question.on.split(',').filter((id) => /^[a-z0-9.-]{1,60}$/.test(id)),
    },
  };
}
