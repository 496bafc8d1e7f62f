// A pass as a trace of Chrome's event format, which Perfetto and chrome://tracing open: kernel after kernel, layer by layer.

const MICRO = 1e6;
const event = (name, start, seconds, thread, args) => ({ name, ph: 'X', ts: start * MICRO, dur: seconds * MICRO, pid: 1, tid: thread, args });
const label = (kind, name, thread) => ({ name: kind, ph: 'M', pid: 1, tid: thread, args: { name } });
const THREADS = [null, 'device', 'host'];

// `operators` as the report lists them, {name, time_s, count, bound, work}: those that run at least once per layer are spread evenly over the
// layers, the others follow; the times of all events add up to the pass.
export function traceOf(operators, layers, phase) {
  const events = [label('process_name', phase, 0), ...THREADS.map((name, thread) => name && label('thread_name', name, thread)).filter(Boolean)];
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
  return { displayTimeUnit: 'ns', traceEvents: events, otherData: { source: 'Slipstick', order: 'kernels of a layer in the order of the report' } };
}
