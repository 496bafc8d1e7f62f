// A serving pass, kernel by kernel, and a training step, pass by pass, as traces in Chrome's event format, which Perfetto opens.
import { save } from '../charts/lib/export.js';

const MICRO = 1e6;
const event = (name, start, seconds, thread, args) => ({
  name,
  ph: 'X',
  ts: start * MICRO,
  dur: seconds * MICRO,
  pid: 1,
  tid: thread,
  args,
});
const label = (kind, name, thread) => ({ name: kind, ph: 'M', pid: 1, tid: thread, args: { name } });
const THREADS = [null, 'device', 'host'];

// `operators` as the report lists them, {name, time_s, count, bound, work}: those that run at least once per layer are spread evenly over the
// layers, the others follow; the times of all events add up to the pass.
export function traceOf(operators, layers, phase) {
  const events = [
    label('process_name', phase, 0),
    ...THREADS.map((name, thread) => name && label('thread_name', name, thread)).filter(Boolean),
  ];
  let now = 0;
  const run = (one, times, args) => {
    const thread = one.work === 'scheduler' ? 2 : 1;
    for (let left = times; left > 1e-9; left -= 1) {
      const seconds = one.time_s * Math.min(1, left);
      events.push(event(one.name, now, seconds, thread, { bound: one.bound, ...args }));
      now += seconds;
    }
  };
  const inLayers = operators.filter(({ count }) => count >= layers);
  for (let layer = 0; layer < layers; layer++) for (const one of inLayers) run(one, one.count / layers, { layer });
  for (const one of operators) if (!inLayers.includes(one)) run(one, one.count, {});
  return {
    displayTimeUnit: 'ns',
    traceEvents: events,
    otherData: { source: 'Slipstick', order: 'kernels of a layer in the order of the report' },
  };
}

// `timeline` as the core answers it, {stage, kind, micro_batch, start_s, end_s}: one row per pipeline stage.
export function traceOfTraining(timeline, name) {
  const stages = [...new Set(timeline.map(({ stage }) => stage))].sort((a, b) => a - b);
  const rows = stages.map((stage) => label('thread_name', `stage ${stage + 1}`, stage + 1));
  const passes = timeline.map(({ stage, kind, micro_batch: batch, start_s: from, end_s: to }) =>
    event(kind, from, to - from, stage + 1, { micro_batch: batch + 1 }),
  );
  return {
    displayTimeUnit: 'ms',
    traceEvents: [label('process_name', name, 0), ...rows, ...passes],
    otherData: { source: 'Slipstick' },
  };
}

export const saveTrace = (trace, name) =>
  save(new Blob([JSON.stringify(trace)], { type: 'application/json' }), `slipstick-${name}.trace.json`);
