// Numbers with units as people type them, for the slider and the echo under a field; the core has the last word on what is valid.

const PREFIXES = {
  '': 1,
  'k': 1e3,
  'K': 1e3,
  'M': 1e6,
  'G': 1e9,
  'T': 1e12,
  'P': 1e15,
  'E': 1e18,
  'm': 1e-3,
  'u': 1e-6,
  'µ': 1e-6,
  'n': 1e-9,
  'p': 1e-12,
  'Ki': 2 ** 10,
  'Mi': 2 ** 20,
  'Gi': 2 ** 30,
  'Ti': 2 ** 40,
};
const FAMILIES = {
  B: 1,
  bytes: 1,
  byte: 1,
  b: 0.125,
  bit: 0.125,
  FLOP: 1,
  FLOPs: 1,
  FLOPS: 1,
  token: 1,
  tokens: 1,
  s: 1,
  W: 1,
  Wh: 3600,
  J: 1,
  Hz: 1,
  $: 1,
  g: 1,
};
const PLAIN = {
  'min': 60,
  'h': 3600,
  'hour': 3600,
  'hours': 3600,
  'day': 86400,
  'days': 86400,
  'month': 2629800,
  'months': 2629800,
  'year': 31557600,
  'years': 31557600,
  'mm': 1,
  'cm': 10,
  'm': 1000,
  'um': 1e-3,
  'µm': 1e-3,
  'nm': 1e-6,
  '%': 0.01,
};

function unitFactor(name) {
  if (name === '') return 1;
  if (Object.hasOwn(PLAIN, name)) return PLAIN[name];
  if (Object.hasOwn(FAMILIES, name)) return FAMILIES[name];
  for (const length of [2, 1]) {
    const prefix = name.slice(0, length);
    const rest = name.slice(length);
    if (Object.hasOwn(PREFIXES, prefix) && Object.hasOwn(FAMILIES, rest)) return PREFIXES[prefix] * FAMILIES[rest];
  }
  return undefined;
}

function factorOf(unit) {
  let factor = 1;
  for (const piece of unit.split(/(?=[/*])/)) {
    const operator = piece[0];
    const [, name, power = '1'] = /^(.*?)(?:\^?(\d|²))?$/.exec(piece.replace(/^[/*]/, '').trim()) ?? [];
    const base = unitFactor(name);
    if (base === undefined) return undefined;
    factor *= base ** ((operator === '/' ? -1 : 1) * (power === '²' ? 2 : Number(power)));
  }
  return factor;
}

// One of a unit in base units; undefined if it is not a unit.
export const sizeOf = (unit) => factorOf(unit.replace(/^([kMGTPE]?) ?tokens?(?=$|\/)/, '$1token'));

const LETTERS = { thousand: 'k', million: 'M', billion: 'G', trillion: 'T' };
const withLetters = (text) => text.replace(/thousand|million|billion|trillion/, (word) => LETTERS[word]);

// The base value of "80 GB", "8k", "1,024", "15 T tokens", "2 billion", "85 %"; undefined if it is none. `thousand` is what a bare k means.
export function parse(text, thousand = 1000) {
  const match = /^([+-]?(?:\d{1,3}(?:,\d{3})+|\d*)(?:\.\d*)?(?:[eE][+-]?\d+)?)\s*(.*)$/.exec(withLetters(text.trim()));
  if (!match || !/\d/.test(match[1])) return undefined;
  const value = Number(match[1].replace(/,/g, ''));
  const unit = match[2].trim();
  const suffix = { k: thousand, K: thousand, M: thousand ** 2, Ki: 1024, Mi: 2 ** 20, G: 1e9, B: 1e9, T: 1e12 };
  const factor = Object.hasOwn(suffix, unit) ? suffix[unit] : sizeOf(unit);
  return Number.isFinite(value) && factor !== undefined ? value * factor : undefined;
}

const BARE = /^[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][+-]?\d+)?$/;
// A number without a unit or a multiple.
export const isBare = (text) => /\d/.test(text) && BARE.test(text.trim());

// The unit that stands behind the number of a text: "TB/s" of "3.35 TB/s"; "" without one.
export const unitIn = (text) =>
  (!isBare(text) && /^[+-]?[\d.,]+(?:[eE][+-]?\d+)?\s*([^\d\s.,].*)$/.exec(text.trim())?.[1].trim()) || '';

// A number typed where a unit is shown is in that unit. A power of ten, as in 1e12 where "15 T tokens" stands, is a number of single ones.
const MULTIPLE = /^[kMGTPE]i? ?(?=(?:tokens?|B|FLOP|Wh?|Hz)\b)/;
const POWER = /\de\+?(?:[6-9]|\d\d+)$/i;
export function inUnit(text, unit) {
  const typed = text.trim();
  if (!unit || !isBare(text)) return text;
  return `${typed} ${POWER.test(typed) ? unit.replace(MULTIPLE, '') : unit}`;
}

// A count of at least one as people type it; undefined if it is none. In a field that shows a unit of tokens, a bare number means that
// unit, and parts of a multiple are counts too.
export function countIn(text, unit = '') {
  const multiple = withLetters(unitIn(text)).replace(unit ? / ?tokens?$/ : '', '');
  const value = /^[kKMGBT]?$/.test(multiple) ? parse(inUnit(text, unit)) : undefined;
  return value >= 1 && (unit !== '' || Number.isInteger(value)) ? value : undefined;
}

// The same for the values of a sweep: "1, 2, 4", "1:8:9:log", where the part after the ends is a count.
export const allInUnit = (text, unit) =>
  text
    .split(',')
    .map((one) =>
      one
        .split(':')
        .map((end, i) => (i < 2 ? inUnit(end, unit) : end))
        .join(':'),
    )
    .join(',');

const LADDER = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const FAMILY = /^([numkMGTPE]?)(B\/s|FLOP\/s|FLOP|B|token|Wh|W|s)$/;

const digits = (value) => String(Number(value.toPrecision(6)));

// A base value in a unit that it is to keep; undefined where the unit is not known.
export function showIn(value, unit) {
  const size = sizeOf(unit);
  return size === undefined ? undefined : `${digits(value / size)} ${unit}`;
}

// A base value in a field's own unit, its prefix moved so that the number stays readable: 3.35e12 B/s in GB/s -> "3.35 TB/s".
export function show(value, unit = '', factor = 1) {
  if (unit === '') return digits(value);
  const family = FAMILY.exec(unit);
  if (family && value > 0 && !/^[µ]/.test(unit)) {
    let place = LADDER.indexOf(family[1]);
    let scale = factor;
    while (value / scale >= 1000 && place < LADDER.length - 1) [place, scale] = [place + 1, scale * 1000];
    while (value / scale < 1 && place > 0 && LADDER[place - 1] !== undefined)
      [place, scale] = [place - 1, scale / 1000];
    return spelled(`${digits(value / scale)} ${LADDER[place]}${family[2]}`);
  }
  return spelled(`${digits(value / factor)} ${unit}`);
}

// Units as people write them: "15 Ttoken" as "15 T tokens", "2 us" as "2 µs", "814 mm^2" as "814 mm²".
export const spelled = (text) =>
  text
    .replace(/ ([kMGTPE]?)token$/, (_, prefix) => ` ${prefix && `${prefix} `}tokens`)
    .replace(/^((?!1 ).*) (year|month|day|hour)$/, '$1 $2s')
    .replace(/ u(?=[ms])/, ' µ')
    .replace('^2', '²');

// The same within a sentence of the core.
export const spelledIn = (words) => words.replace(/ ([kMGTPE])token\b/g, ' $1 tokens').replace(/mm\^2\b/g, 'mm²');

const NICE = [1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

// The nearest value that a person would choose: powers of two for counts, round decimals otherwise.
export function snap(value, isCount) {
  if (isCount) return value < 1 ? 1 : 2 ** Math.round(Math.log2(value));
  const decade = 10 ** Math.floor(Math.log10(value));
  const lead = value / decade;
  return Number(
    (NICE.reduce((best, one) => (Math.abs(one - lead) < Math.abs(best - lead) ? one : best)) * decade).toPrecision(6),
  );
}
