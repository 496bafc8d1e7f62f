// A pasted measurement as figures of the report and the scenario that it was made with, as far as it says.
/** @import {MeasurementFormat} from '../types.js' */
import { inputsAfter, withoutLoad } from '../commands/commands.js';
import { withPick } from '../state/scenario.js';
import { llamaBench } from './llama_bench.js';
import { megatronLog } from './megatron_log.js';
import { ncclTests } from './nccl_tests.js';
import { servingBenchmark } from './serving_benchmark.js';
import { torchtitanLog } from './torchtitan_log.js';
import { trtllmBench } from './trtllm_bench.js';

/** @type {MeasurementFormat[]} */
export const FORMATS = [megatronLog, torchtitanLog, servingBenchmark, trtllmBench, llamaBench, ncclTests];

// {format, inputs, model, measured: [{figure or collective, value}], unread: [lines], missing: [what it does not say]}; null where no format is
// known. `catalogue`: {models, clusters}.
export function readMeasurement(text, catalogue) {
  const format = FORMATS.find((one) => one.started(text));
  if (!format) return null;
  const { unread = [], missing = [], ...read } = format.read(text, catalogue);
  return read.measured.length ? { format, ...read, unread, missing } : null;
}

// The inputs, overridden by what a measurement states about its scenario.
export function inputsWith(inputs, read, scenario) {
  if (read.isWhole) return inputsAfter(inputs, { ...read, tool: { part: 'training' } });
  const kept = withoutLoad(inputs, read.inputs);
  const withModel =
    read.model && read.model.id !== scenario.model.preset ? withPick(kept, 'model', read.model.id) : kept;
  const withCluster =
    read.cluster && read.cluster.id !== scenario.cluster.preset
      ? withPick(withModel, 'cluster', read.cluster.id)
      : withModel;
  return { ...withCluster, ...read.inputs };
}
