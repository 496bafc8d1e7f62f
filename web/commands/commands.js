// The scenario in other tools' words, and their commands as a scenario. One table a tool serves both ways.
/** @import {Inputs, ReadCommand, Tool} from '../types.js' */
import { llamacpp } from './llamacpp.js';
import { megatron } from './megatron.js';
import { mlx } from './mlx.js';
import { nanotron } from './nanotron.js';
import { ollama } from './ollama.js';
import { sglang } from './sglang.js';
import { withoutSlurm } from './slurm.js';
import { torchtitan } from './torchtitan.js';
import { trainer } from './trainer.js';
import { trtllm } from './trtllm.js';
import { vllm } from './vllm.js';
import { commandsOf } from './words.js';

/** @type {Tool[]} */
export const TOOLS = [megatron, torchtitan, nanotron, trainer, vllm, sglang, trtllm, llamacpp, ollama, mlx];

// The tools that also write a command.
export const WRITERS = TOOLS.filter(({ command }) => command);

// `models`: the catalogue's models. Null if the tool does nothing that the scenario asks for.
export const commandFor = (tool, report, models) =>
  report.scenario[tool.part] ? tool.command(report.scenario, models, report) : null;

const flagsOf = (words) => words.filter((_, i) => i >= words.findIndex((word) => word.startsWith('-')));

// A pasted command; null where no tool is known. Of several the first is read, with the flags of the command that sends its load.
/** @returns {ReadCommand | null} */
export function readCommand(text, models) {
  const toolOf = (words) => TOOLS.find((one) => one.started(words));
  // A command may stand in quotes within another: bash -c "vllm serve ...".
  const known = commandsOf(text).flatMap((words) => {
    const within = words.filter((word) => /\s/.test(word)).flatMap(commandsOf);
    const started = within.filter(toolOf);
    return (started.length > 0 ? started : [words]).flatMap((one) => {
      const tool = toolOf(one);
      return tool ? [{ tool, words: tool.part === 'training' ? withoutSlurm(one, words, text) : one }] : [];
    });
  });
  const file = TOOLS.find((one) => one.isFile?.(text));
  if (known.length === 0 && file) known.push({ tool: file, words: [] });
  if (known.length === 0) return null;
  const sends = ({ tool, words }) => tool.isLoad?.(words) ?? false;
  const first = known.find((one) => !sends(one)) ?? known[0];
  const { tool, words } = first;
  const more = known.filter((one) => one !== first);
  const loads = more.filter((one) => one.tool === tool && sends(one));
  const read = tool.read([...words, ...loads.flatMap((load) => flagsOf(load.words))], models, text);
  const run = (one) => one.words.slice(1).join(' '); // echo $COMMAND, eval $COMMAND
  const others = more
    .filter((one) => !loads.includes(one) && run(one) !== run(first))
    .map((other) => `${other.words.slice(0, 4).join(' ')} \u2026`);
  // What follows from a word that is no number is not known.
  const inputs = Object.fromEntries(Object.entries(read.inputs).filter(([, value]) => value !== 'NaN'));
  return { tool, isLoad: sends(first), ...read, inputs, unused: [...read.unused, ...others] };
}

// The inputs after reading a command: it replaces its part, except lengths and load that it does not state.
const KEPT = {
  training: ['training.tokens', 'training.interruptions'],
  serving: [
    'serving.prompt',
    'serving.output',
    'serving.batch',
    'serving.concurrency',
    'serving.requests_per_s',
    'serving.lengths',
    'serving.arrivals',
  ],
};
const LOAD = ['serving.batch', 'serving.concurrency', 'serving.requests_per_s', 'serving.waves'];

// The inputs, without their load if the command states one.
export function withoutLoad(inputs, read) {
  const isLoad = (path) => LOAD.includes(path);
  const isReplaced = Object.keys(read).some(isLoad);
  return Object.fromEntries(Object.entries(inputs).filter(([path]) => !isReplaced || !isLoad(path)));
}

const below = (path, owner) => path === owner || path.startsWith(`${owner}.`);

/**
 * @param {Inputs} inputs
 * @param {Pick<ReadCommand, 'model' | 'shape' | 'inputs' | 'isLoad'> & {tool: {part: string}}} read
 * @returns {Inputs}
 */
export function inputsAfter(inputs, { tool, model, shape, isLoad, inputs: read }) {
  const isLength = (path) => KEPT[tool.part].some((owner) => below(path, owner));
  const isKept = (path) => isLoad || !below(path, tool.part) || isLength(path);
  const isReplaced = (path) => (model || shape) && below(path, 'model');
  const kept = Object.entries(withoutLoad(inputs, read)).filter(([path]) => isKept(path) && !isReplaced(path));
  // What a command leaves out has its tool's default: nothing of its mapping is for the core to choose. A load alone says nothing of who
  // serves it.
  const said = Object.entries(read).filter(([path]) => !isLoad || isLength(path));
  return {
    ...Object.fromEntries(kept),
    ...(isLoad ? {} : { [`${tool.part}.mapping.auto`]: 'false' }),
    ...(model ? { model: model.id } : (shape ?? {})),
    ...Object.fromEntries(said),
  };
}
