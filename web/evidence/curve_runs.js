// Published runs of the scenario's model on its family of devices, as points of throughput against interactivity.
/** @import {Context} from '../types.js' */
import { knownRuns } from './known_runs.js';
import { namesOf } from './names.js';
import { runWords, sourceName } from './runs.js';

const SAME = 0.005; // of the active parameters, by which a model is known whatever a source calls it

// Publishers give the time per token at a number of requests, but rarely the throughput: then it is that of decoding.
function pointOf(known, { id, source, setting }, named) {
  const { row, source: file } = known({ id, source });
  const { concurrency, batch, devices = 1, prompt, output } = row.serving;
  const users = concurrency ?? batch;
  if (!(users > 0)) return null;
  const throughput = known({ id: id.replace(/tpot$/, 'tokens_per_s'), source })?.row;
  const rate = throughput?.figure === 'serving.tokens_per_s' ? throughput.value : users / row.value;
  const { what, how } = runWords({ row, source: file }, setting, named);
  return {
    x: 1 / row.value,
    y: rate / devices,
    tpot: row.value,
    batch: users,
    prompt,
    output,
    name: `${what}, ${how} (${sourceName(file)})`,
  };
}

// [{x, y, tpot, batch, prompt, output, name}], most similar first; empty until the files of their sources have loaded.
/** @param {Context} context */
export function measuredPoints(context) {
  const named = namesOf(context);
  const evidence = context.lately('evidence-serving.tpot_s', 'evidence', context.request, 'serving.tpot_s');
  const family = named('family', evidence?.setting?.device);
  if (!family) return [];
  const { parameters } = evidence.setting;
  const alike = evidence.runs.filter(
    ({ kind, setting }) =>
      kind === 'output_token' &&
      named('family', setting.device) === family &&
      Math.abs(setting.parameters / parameters - 1) < SAME,
  );
  const known = knownRuns(context, alike);
  return known ? alike.map((run) => pointOf(known, run, named)).filter(Boolean) : [];
}
