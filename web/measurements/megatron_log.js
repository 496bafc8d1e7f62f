// A log of Megatron-LM (megatron/training/training.py): lines of iterations, and what stands before them where it was pasted too, the table of
// arguments and the sizes of the groups.
/** @import {MeasurementFormat} from '../types.js' */
import { megatron } from '../commands/megatron.js';

const MIB = 2 ** 20;
const STEP = /iteration\s+\d+\s*\/\s*\d+\s*\|.*elapsed time per iteration \(ms\):\s*([\d.]+)/;
const BATCH = /global batch size:\s*(\d+)/;
const ARGUMENT = /^\s*(?:\d+:\s*)?([a-z][a-z0-9_]*) \.{3,} (.*?)\s*$/;
const RESERVED = /max reserved:\s*([\d.]+)/;
/** @type {[RegExp, string][]} */
const GROUPS = [
  [/world size:\s*(\d+)/, 'training.devices'],
  [/tensor-model-parallel size:\s*(\d+)/, 'training.mapping.tp'],
  [/pipeline-model-parallel size:\s*(\d+)/, 'training.mapping.pp'],
  [/context-parallel size:\s*(\d+)/, 'training.mapping.cp'],
];

// Valid values in a log: a step takes time, memory has a size.
const numbersOf = (lines, pattern) =>
  lines.map((line) => Number(pattern.exec(line)?.[1])).filter((value) => value > 0 && Number.isFinite(value));

export const median = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
};

// The table of arguments as the flags of a command; what no flag of ours knows bears on nothing here.
function argumentsOf(lines, models, text) {
  const given = lines.map((line) => ARGUMENT.exec(line)).filter(Boolean);
  if (given.length === 0) return null;
  const words = given.flatMap(([, name, value]) =>
    ['None', 'False', '[]', ''].includes(value)
      ? []
      : value === 'True'
        ? [`--${name.replaceAll('_', '-')}`]
        : [`--${name.replaceAll('_', '-')}`, value],
  );
  const size = given.find(([, name]) => name === 'world_size')?.[2];
  const read = megatron.read(['pretrain_gpt.py', ...words], models, text);
  return {
    ...read,
    unknown: [],
    inputs: { ...read.inputs, ...(size && { 'training.devices': size, 'cluster.devices': size }) },
  };
}

/** @type {MeasurementFormat} */
export const megatronLog = {
  id: 'megatron-log',
  title: 'Megatron-LM',
  part: 'training',
  started: (text) => STEP.test(text),

  read(text, { models }) {
    const lines = text.split('\n');
    const steps = numbersOf(lines, STEP);
    const settled = steps.length > 2 ? steps.slice(1) : steps; // the first one warms up
    const found = Object.fromEntries(
      GROUPS.map(([pattern, path]) => [path, pattern.exec(text)?.[1]]).filter(([, value]) => value),
    );
    const given = argumentsOf(lines, models, text);
    const batch = lines
      .map((line) => BATCH.exec(line)?.[1])
      .filter(Boolean)
      .at(-1);
    const reserved = numbersOf(lines, RESERVED).reduce((most, one) => Math.max(most, one), 0);
    const unread = lines.filter(
      (line) =>
        line.trim() &&
        !STEP.test(line) &&
        !ARGUMENT.test(line) &&
        !RESERVED.test(line) &&
        !GROUPS.some(([pattern]) => pattern.test(line)) &&
        !/^[\s\-\d:]*-{5,}/.test(line),
    );
    return {
      ...(given ?? {}),
      isWhole: given !== null,
      inputs: {
        ...(given?.inputs ?? {}),
        ...found,
        ...(found['training.devices'] && { 'cluster.devices': found['training.devices'] }),
        ...(batch && { 'training.global_batch': batch }),
      },
      measured: [
        ...(settled.length
          ? [{ figure: 'training.step_time_s', value: median(settled) / 1000, count: settled.length }]
          : []),
        ...(reserved ? [{ figure: 'training.memory_bytes.total', value: reserved * MIB }] : []),
      ],
      unread,
    };
  },
};
