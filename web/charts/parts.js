// The parts of the report's stacks, in their order, with their names and colors. One color means one thing everywhere.
import { has, t } from '../text/strings.js';

// What each color of tokens.css means; shades of one meaning tell its parts apart.
export const MEANINGS = {
  compute: ['forward', 'backward', 'recompute', 'others', 'logic'],
  memory: ['memory', 'l2', 'l1', 'memory-stacks'],
  communication: ['tp', 'pp', 'dp', 'ep', 'reduce', 'package'],
  latency: ['launch'],
  weights: ['weights', 'gemm'],
  kv: ['kv', 'attention'],
  activations: ['activations'],
  gradients: ['gradients'],
  optimizer: ['optimizer', 'optimizer-state'],
  rest: ['workspace', 'scheduler', 'quiet', 'test'],
  development: ['nre'],
};

const COLORS = { optimizer_state: 'optimizer-state', kv_cache: 'kv', cp: 'tp', other: 'launch', offload: 'l1' };
const part = (id, value, name = id) => ({
  id,
  name: t(`part.${name}`),
  value: value ?? 0,
  color: `var(--c-${COLORS[name] ?? name})`,
  hatch: name === 'bubble' || name === 'free',
});

const TIME = [
  'forward',
  'backward',
  'recompute',
  'tp',
  'cp',
  'ep',
  'pp',
  'dp',
  'bubble',
  'optimizer',
  'other',
  'offload',
];
export const timeParts = (time) => TIME.map((id) => part(id, time[id]));

// The parts of a latency in the order of the report; waiting is hatched.
const WORK_COLORS = {
  gemm: 'gemm',
  attention: 'attention',
  communication: 'reduce',
  small_kernels: 'launch',
  scheduler: 'scheduler',
  prefill: 'others',
  others: 'others',
  handling: 'scheduler',
  transfer: 'reduce',
  first_step: 'gemm',
};
// Prefill computes; a decode step reads weights and KV cache.
const PREFILL_COLORS = { ...WORK_COLORS, gemm: 'forward', attention: 'recompute' };
const LEAST = 1e-6; // of a latency: less, as of a queue that is as good as empty, is none
export function latencyParts(parts, latency) {
  const whole = Object.values(parts).reduce((sum, value) => sum + value, 0);
  return Object.entries(parts).map(([id, value]) => ({
    id,
    value: value < LEAST * whole ? 0 : value,
    name: t(`${latency}.${id}`),
    color: `var(--c-${(latency === 'ttft' ? PREFILL_COLORS : WORK_COLORS)[id]})`,
    hatch: id === 'queue',
  }));
}

// Times by bound; the names are those of a roofline's bounds. The communication-bound part is split by network level,
// innermost first, if known: `levels`, [{level, time_s}].
const BOUNDS = {
  compute: 'forward',
  l1: 'l1',
  l2: 'l2',
  memory: 'memory',
  network: 'tp',
  latency: 'launch',
  bubble: 'bubble',
};
const LEVELS = ['tp', 'pp', 'dp', 'ep'];
const levelParts = (levels) =>
  levels.map(({ level, time_s: value }, i) => ({
    id: `network-${i}`,
    name: t('bound.level', { level }),
    value,
    color: `var(--c-${LEVELS[i % LEVELS.length]})`,
  }));
export const boundParts = (times, levels = []) =>
  Object.entries(BOUNDS).flatMap(([id, color]) =>
    id === 'network' && levels.length
      ? levelParts(levels)
      : { id, name: t(`bound.${id}`), value: times[id] ?? 0, color: `var(--c-${color})`, hatch: id === 'bubble' },
  );

const TRAINING = [['weights'], ['gradients'], ['optimizer', 'optimizer_state'], ['activations'], ['workspace']];
const SERVING = [['weights'], ['kv_cache'], ['activations'], ['workspace']];
export function memoryParts(memory) {
  const list = ('optimizer' in memory ? TRAINING : SERVING).map(([id, name]) => part(id, memory[id], name));
  return [...list, part('free', Math.max(0, memory.capacity - memory.total))];
}

/** @type {[RegExp, string][]} */
const BILL = [
  [/die|logic|compute|wafer|silicon/i, 'logic'],
  [/memory|hbm|stack|dram|gddr/i, 'memory-stacks'],
  [/nre|design|mask|margin|develop|vendor|price/i, 'nre'],
  [/packag|interposer|assembly|bond|substrate/i, 'package'],
  [/test/i, 'test'],
];
const SPARE = [
  'dp',
  'ep',
  'optimizer',
  'gradients',
  'activations',
  'workspace',
  'backward',
  'recompute',
  'pp',
  'logic',
];
// Spare colors that another name already has.
const SAME = { pp: 'package', workspace: 'test' };

// Colors by name; names without one get spare colors.
function billColors(names) {
  let spare = 0;
  const colors = new Map();
  const isUsed = (color) => [...colors.values()].includes(color);
  for (const name of new Set(names)) {
    let color = BILL.find(([words]) => words.test(name))?.[1];
    if (!color || isUsed(color))
      color = SPARE.find((one) => !isUsed(one) && !isUsed(SAME[one])) ?? SPARE[spare++ % SPARE.length];
    colors.set(name, color);
  }
  return colors;
}

export const billName = (name) => (has(`bill.${name}`) ? t(`bill.${name}`) : name.replaceAll('_', ' '));

// Bars of costs, one below the other: a line has the same color in all of them.
export function billsParts(bills) {
  const colors = billColors(
    bills
      .flat()
      .filter(({ cost_usd: value }) => value > 0)
      .map(({ name }) => name),
  );
  const part = ({ name, cost_usd: value }) => ({
    id: name,
    name: billName(name),
    value,
    color: `var(--c-${colors.get(name)})`,
  });
  return bills.map((lines) => lines.map(part));
}

export const billParts = (lines) => billsParts([lines])[0];
