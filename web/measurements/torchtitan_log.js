// A log of torchtitan (torchtitan/components/metrics.py): a line every few steps, with the tokens a second of one device ("tps", "wps" until 2025)
// and the most memory that it reserved; and what it says when it starts, where that was pasted too.
/** @import {MeasurementFormat} from '../types.js' */
import { modelOfTitan } from '../commands/torchtitan.js';
import { median } from './megatron_log.js';

const GIB = 2 ** 30;
const STEP = /step:\s*\d+\s.*memory:\s*([\d.]+)GiB\([\d.]+%\)\s+[tw]ps:\s*([\d,]+)/;
const STARTS = /local batch size (\d+), global batch size (\d+).*sequence length (\d+)/;
const MESH = /device mesh with \[([^\]]*)\], \[([\d, ]*)\]/;
const MODEL = /Model (\S+) (\S+) size: [\d,]+ total parameters/;
const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, 'g');
const DEGREES = { __proto__: null, tp: 'tp', pp: 'pp', cp: 'cp', dp_shard: 'shard_within' };

const inputsOf = (text) => {
  const [, local, global, sequence] = STARTS.exec(text) ?? [];
  const [, names, sizes] = MESH.exec(text) ?? [];
  const degrees = names ? names.replace(/['\s]/g, '').split(',') : [];
  const counts = sizes ? sizes.split(',').map(Number) : [];
  const devices = counts.reduce((all, one) => all * one, 1);
  const isSplit = counts[degrees.indexOf('pp')] > 1;
  const [, recompute] = /Applied (full|selective) activation checkpointing/.exec(text) ?? [];
  return {
    ...(global && { 'training.global_batch': global, 'training.sequence': sequence }),
    ...(local && !isSplit && { 'training.mapping.micro_batch': local }),
    ...Object.fromEntries(
      degrees.flatMap((name, i) => (DEGREES[name] ? [[`training.mapping.${DEGREES[name]}`, `${counts[i]}`]] : [])),
    ),
    ...(counts.length > 0 && { 'cluster.devices': `${devices}` }),
    ...(recompute && { 'training.recompute': recompute }),
    ...(/with torch\.compile/.test(text) && { 'training.framework': 'fsdp' }),
  };
};

/** @type {MeasurementFormat} */
export const torchtitanLog = {
  id: 'torchtitan-log',
  title: 'torchtitan',
  part: 'training',
  started: (text) => STEP.test(text.replace(COLOUR, '')),

  read(pasted, { models }) {
    const text = pasted.replace(COLOUR, '');
    const steps = text.split('\n').flatMap((line) => {
      const [, memory, tokens] = STEP.exec(line) ?? [];
      return tokens ? [{ memory: Number(memory), tokens: Number(tokens.replaceAll(',', '')) }] : [];
    });
    const settled = steps.length > 2 ? steps.slice(1) : steps; // the first one warms up
    const most = Math.max(...steps.map(({ memory }) => memory));
    const rates = settled.map(({ tokens }) => tokens).filter((tokens) => tokens > 0);
    const [, name, flavor] = MODEL.exec(text) ?? [];
    const model = name && modelOfTitan(`${name} ${flavor}`, models);
    return {
      inputs: inputsOf(text),
      model,
      name: name && `${name} ${flavor}`,
      measured: [
        rates.length > 0 && {
          figure: 'training.tokens_per_s_per_device',
          value: median(rates),
          count: rates.length,
        },
        most > 0 && { figure: 'training.memory_bytes.total', value: most * GIB },
      ].filter(Boolean),
      unread: name && !model ? [`${name} ${flavor}`] : [],
      missing: [!name && 'model', !MESH.test(text) && 'devices'].filter(Boolean),
    };
  },
};
