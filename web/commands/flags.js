// One table a tool says its command both ways. A row is {flag, aliases, path, when, write, read}:
//   write(scenario)  the flag's value; true for a flag without one; undefined or false where it is not said. Default: what stands at `path`.
//   when(value)      whether that is said at all.
//   read(text)       the flag's value as inputs by path. Default: the text at `path`. A row without path and read is known and sets nothing.
//   single           a flag without a value.
// A table that a command's own words are looked up in has no prototype, which would know "constructor".
//   isUnused         it bears on what is measured, but no input says it.
import { get } from '../state/paths.js';

export const above = (limit) => (value) => value > limit;

const isSaid = (value) => value !== undefined && value !== null && value !== false;

export function said(rows, scenario) {
  return rows.flatMap((row) => {
    if (!row.write && !row.path) return [];
    const value = row.write ? row.write(scenario) : get(scenario, row.path);
    return isSaid(value) && (row.when?.(value) ?? true) ? [[row.flag, value]] : [];
  });
}

// "vllm_x" and "vllm-x" name the same flag in most of these programs.
const plain = (flag) => flag.replace(/^-+/, '').replaceAll('_', '-');

// A variable that the text does not set, the output of a program, or "<N>", which the reader fills in.
export const isOpen = (value) => /\$[\w{(]|^<.*>$/.test(value);

// The flags among words: inputs by path, which rows were read and with what, the flags that no input says, and the words that no row knows.
export function readFlags(rows, words) {
  const byName = new Map(rows.flatMap((row) => [row.flag, ...(row.aliases ?? [])].map((name) => [plain(name), row])));
  const answer = { inputs: {}, given: {}, others: [], unused: [], unknown: [] };
  for (let i = 0; i < words.length; ++i) {
    if (!/^--?[a-zA-Z]/.test(words[i])) {
      (isOpen(words[i]) ? answer.unknown : answer.others).push(words[i]);
      continue;
    }
    const [name, ...rest] = words[i].split('=');
    const row = byName.get(plain(name));
    const takesNext = rest.length === 0 && !row?.single && i + 1 < words.length && !/^--?[a-zA-Z]/.test(words[i + 1]);
    const value = rest.length > 0 ? rest.join('=') : takesNext ? words[++i] : 'true';
    const flag = value === 'true' ? name : `${name} ${value}`;
    if (!row) {
      const values = [];
      while (takesNext && i + 1 < words.length && !/^--?[a-zA-Z]/.test(words[i + 1])) values.push(words[++i]);
      answer.unknown.push([flag, ...values].join(' '));
      continue;
    }
    if (row.single && /^(false|0)$/i.test(value)) continue;
    if (isOpen(value) && (row.path || row.read)) {
      answer.unknown.push(flag);
      continue;
    }
    if (row.isUnused) answer.unused.push(flag);
    try {
      Object.assign(answer.inputs, row.read?.(value) ?? (row.path ? { [row.path]: value } : {}));
      answer.given[row.flag] = value;
    } catch {
      answer.unknown.push(flag);
    }
  }
  return answer;
}

// Reads a whole number as an input; none and any other text set nothing, several numbers are not understood.
export const counts = (path) => (text) => {
  if (/^\d+(,\d+)+$/.test(text)) throw new Error(text);
  return /^\d+$/.test(text) && Number(text) > 0 ? { [path]: text } : {};
};

// The load that vLLM's and SGLang's benchmarks send.
export const LOAD = [
  { flag: 'random-input-len', aliases: ['random-input'], path: 'serving.prompt', write: () => undefined },
  { flag: 'random-output-len', aliases: ['random-output'], path: 'serving.output', write: () => undefined },
  { flag: 'max-concurrency', path: 'serving.concurrency', write: () => undefined },
  {
    flag: 'request-rate',
    path: 'serving.requests_per_s',
    write: () => undefined,
    read: (text) => (text === 'inf' ? {} : { 'serving.requests_per_s': text }),
  },
];

// Flags that a command may hold and that bear on no answer.
export const idle = (flags) => flags.map((flag) => ({ flag }));
export const idleSingle = (flags) => flags.map((flag) => ({ flag, single: true }));

// An engine's share of the memory that its own rule refers to.
export const shareBy =
  (rule) =>
  ({ serving: { engine } }) =>
    engine.memory?.rule === rule ? engine.memory.share : undefined;
