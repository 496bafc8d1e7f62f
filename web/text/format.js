// A base value and its base unit as a person reads it: three digits, a fitting prefix, both spellings of a byte in the title.
import { outputOf } from './outputs.js';

const DECIMAL = [
  [1e24, 'Y'],
  [1e21, 'Z'],
  [1e18, 'E'],
  [1e15, 'P'],
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
  [1, ''],
];
const BINARY = [
  [2 ** 50, 'Pi'],
  [2 ** 40, 'Ti'],
  [2 ** 30, 'Gi'],
  [2 ** 20, 'Mi'],
  [2 ** 10, 'Ki'],
  [1, ''],
];
const SMALL = [
  [1, ''],
  [1e-3, 'm'],
  [1e-6, 'µ'],
  [1e-9, 'n'],
  [1e-12, 'p'],
];
const TIME = [
  [2 * 31557600, 'years'],
  [2 * 86400, 'days'],
  [2 * 3600, 'h'],
  [120, 'min'],
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'µs'],
  [1e-9, 'ns'],
];
const SECONDS_IN = { years: 31557600, days: 86400, h: 3600, min: 60 };
const MONEY = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1, ''],
];

const formats = new Map();
function numberFormat(options) {
  const key = JSON.stringify(options);
  if (!formats.has(key)) formats.set(key, new Intl.NumberFormat('en', options));
  return formats.get(key);
}

// Exactly three significant digits.
export function number(value, digits = 3) {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toExponential(digits - 1).replace('e+', 'e');
  return numberFormat({
    maximumSignificantDigits: Math.max(digits, size >= 1 && size < 1e6 && Number.isInteger(value) ? 7 : 0),
  }).format(value);
}

// A count in full: 8,192.
export const whole = (value) => numberFormat({ maximumFractionDigits: 0 }).format(value);

const pick = (scale, size) => scale.find(([factor]) => size >= factor * 0.9995) ?? scale[scale.length - 1];

function prefixed(value, unit, scale) {
  if (value === 0) return { number: '0', unit };
  const [factor, prefix] = pick(scale, Math.abs(value));
  return { number: number(value / factor), unit: (prefix + unit).trim() };
}

function duration(value) {
  if (value === 0) return { number: '0', unit: 's' };
  const [factor, unit] = pick(TIME, Math.abs(value));
  return { number: number(value / (SECONDS_IN[unit] ?? factor)), unit };
}

function money(value, per = '') {
  const size = Math.abs(value);
  if (size > 0 && size < 0.0995) return { number: `$${number(value)}`, unit: per };
  if (size < 1000)
    return {
      number: `$${numberFormat({ minimumFractionDigits: size < 100 ? 2 : 0, maximumFractionDigits: size < 100 ? 2 : 0 }).format(value)}`,
      unit: per,
    };
  const [factor, prefix] = pick(MONEY, size);
  return {
    number: `$${numberFormat({ maximumSignificantDigits: 3 }).format(value / factor)}`,
    unit: [prefix, per].filter(Boolean).join(' '),
  };
}

// In kWh from 1 kWh on, below in kJ and J.
const energy = (value) =>
  Math.abs(value) >= 3.6e6
    ? prefixed(value / 3600, 'Wh', DECIMAL)
    : prefixed(value, 'J', Math.abs(value) < 1 ? SMALL : DECIMAL.slice(-2));

// `unit` is a base unit as the core writes it ("B", "FLOP/s", "s", "$", "" for a ratio or count), or "%" for a share.
export function parts(value, unit = '') {
  const shown = measured(value, unit);
  return {
    ...shown,
    unit: shown.unit.replace(/^([kMGTPE]?)token(?=\/)/, (_, prefix) => `${prefix && `${prefix}\u00a0`}tokens`),
  };
}

function measured(value, unit) {
  if (value === null || value === undefined || !Number.isFinite(value)) return { number: '–', unit: '' };
  if (unit === '%') return { number: number(value * 100), unit: '%' };
  if (unit === 'count') return { number: whole(value), unit: '' };
  if (unit === 's') return duration(value);
  if (unit === '$') return money(value);
  if (unit.startsWith('$/')) return money(value, `/${unit.slice(2)}`);
  if (unit === 'J') return energy(value);
  if (unit === 'B' || unit === 'B/token') return prefixed(value, unit, BINARY);
  if (unit === '') return { number: number(value), unit: '' };
  if (unit === 'token/s' && Math.abs(value) < 1e6 && Math.abs(value) >= 1) return { number: number(value), unit };
  if (/^token\/(J|\$)$/.test(unit) && Math.abs(value) < 1e6) return { number: number(value), unit };
  if (unit === 'mm^2') return { number: number(value), unit: 'mm²' };
  if (unit === 'g' && Math.abs(value) >= 1e6) return prefixed(value / 1e6, 't', DECIMAL);
  if (unit === '/mm^2') return { number: number(value * 100), unit: '/cm²' };
  // A prefix before a slash would read as a unit: 50 m/s.
  if (Math.abs(value) < 1) return unit.startsWith('/') ? { number: number(value), unit } : prefixed(value, unit, SMALL);
  return prefixed(value, unit, DECIMAL);
}

export function text(value, unit) {
  const { number: digits, unit: suffix } = parts(value, unit);
  if (!suffix) return digits;
  return `${digits}${suffix.startsWith('/') ? '' : '\u00a0'}${suffix}`;
}

// One of the unit in which `parts` writes a value: 60 for "3.4 min". Ends of a range are written in the value's own
// unit.
/** @returns {number} */
export function unitSize(value, unit) {
  const shown = Number(parts(value, unit).number.replace(/[$,]/g, ''));
  const sizes = [
    ...[...DECIMAL, ...BINARY, ...SMALL].map(([factor]) => Number(factor)),
    3600 * 1e3,
    3600 * 1e6,
    3600 * 1e9,
    3600 * 1e12,
    0.01,
    ...Object.values(SECONDS_IN),
  ];
  const off = (size) => Math.abs(Math.log(value / shown / size));
  return value > 0 && shown > 0 ? sizes.reduce((best, size) => (off(size) < off(best) ? size : best)) : 1;
}

// Both spellings of an amount of bytes, for titles; nothing for other units.
export function bothBytes(value, unit) {
  if ((unit !== 'B' && unit !== 'B/token') || !Number.isFinite(value)) return undefined;
  const [binary, decimal] = [BINARY, DECIMAL].map((scale) => prefixed(value, 'B', scale));
  const spelled = `${binary.number} ${binary.unit} = ${decimal.number} ${decimal.unit} = ${whole(value)} bytes`;
  return unit === 'B' ? spelled : `${spelled} a token`;
}

// A figure's unit: as the core describes it; for paths that a report does not have, from the last member ("time_s" ->
// "s").
export function unitOf(path) {
  const output = outputOf(path);
  if (output) return output.unit ?? '';
  const member =
    path
      .split('.')
      .reverse()
      .find((one) => !/^\d+$/.test(one)) ?? '';
  const parent = path.split('.').at(-2) ?? '';
  for (const name of [member, parent]) {
    if (/utilization|yield/.test(name)) return '%';
    if (/tokens_per_s/.test(name)) return 'token/s';
    if (/tokens_per_(usd|j)$/.test(name)) return name.endsWith('j') ? 'token/J' : 'token/$';
    if (/flops_per_(usd|j)$/.test(name)) return name.endsWith('j') ? 'FLOP/J' : 'FLOP/$';
    if (/_g$/.test(name)) return 'g';
    if (/requests_per_s/.test(name)) return '/s';
    if (/bytes_per_token/.test(name)) return 'B/token';
    if (/usd/.test(name)) return '$';
    if (/_j_per_token$/.test(name)) return 'J/token';
    if (/_j$/.test(name)) return 'J';
    if (/_s$/.test(name)) return 's';
    if (/bytes/.test(name)) return 'B';
    if (/flops/.test(name)) return 'FLOP';
    if (/_mm2$/.test(name)) return 'mm^2';
    if (/max_batch|max_context|dies_per_wafer|layers/.test(name)) return 'count';
  }
  return '';
}
