// A worker: an instance of the module, which the page compiles once for all of them. It answers calls, and steps one
// shard of a search, advice or a design in chunks so short that it hears a stop at once. No other file touches the
// core.
import createSlipstick from '../wasm/slipstick.js';

const CHUNK_MS = 25;
const TELL_MS = 250;
const VERBS = new Set([
  'evaluate',
  'timeline',
  'kernel',
  'evidence',
  'describe',
  'importModel',
  'measurements',
  'coverage',
  'calibrate',
  'size',
  'sweep',
  'solve',
  'solveFor',
  'sensitivity',
  'dependence',
  'costStudy',
  'study',
  'studyPoint',
  'studyOfPoints',
  'searchObjectives',
  'mergeSearch',
  'presets',
]);

let open;
const ready = new Promise((resolve) => (open = resolve));
let search = null; // {id, core: Search, count, running}
let job = null; // {id, core, count, running, started}
const JOBS = { advise: 'Advice', design: 'Design', replay: 'Replay' }; // classes of the module that step

// Lets waiting messages in without a timer's delay.
const channel = new MessageChannel();
const paused = [];
channel.port1.onmessage = () => paused.shift()?.();
const breathe = () =>
  new Promise((resolve) => {
    paused.push(resolve);
    channel.port2.postMessage(null);
  });

function drop() {
  search?.core.delete();
  search = null;
}

// Steps a job until it is done, stopped or no longer `wanted`; `tell` gets its state now and then and at the end.
async function work(one, wanted, tell) {
  let told = performance.now();
  let more = true;
  while (more && one.running && wanted()) {
    const start = performance.now();
    more = one.core.step(one.count);
    const took = performance.now() - start;
    if (took < CHUNK_MS / 2) one.count = Math.min(1 << 20, one.count * 2);
    else if (took > CHUNK_MS) one.count = Math.max(1, Math.floor((one.count * CHUNK_MS) / took));
    if (more && start - told > TELL_MS) {
      tell('running');
      told = performance.now();
    }
    await breathe();
  }
  if (wanted()) tell(more ? 'stopped' : 'done');
}

const run = (one) =>
  work(
    one,
    () => search === one,
    (state) => self.postMessage({ id: one.id, state, shard: one.core.shard() }),
  );

// One such job at a time: a later question ends an earlier one.
async function inSteps(core, kind, id, texts) {
  const one = { id, core: new core[kind](...texts), count: 1, running: true, started: performance.now() };
  if (job) job.running = false;
  job = one;
  const tell = (state) => {
    const seconds = (performance.now() - one.started) / 1000;
    self.postMessage({ id, state, text: one.core.report(), seconds });
  };
  if (one.core.issues()) tell('refused');
  else await work(one, () => true, tell);
  one.core.delete();
  if (job === one) job = null;
}

async function begin(core, id, spec) {
  drop();
  const one = { id, core: new core.Search(spec), count: 64, running: true };
  search = one;
  const issues = one.core.issues();
  if (issues) {
    self.postMessage({ id, state: 'refused', issues });
    drop();
  } else {
    await run(one);
  }
}

// The number of mappings that a search would evaluate, before it begins.
function spaceOf(core, spec) {
  const one = new core.Search(spec);
  const text = one.issues() || one.report();
  one.delete();
  return text;
}

async function answer({ id, verb, args = [] }) {
  const core = await ready;
  if (verb === 'begin') return begin(core, id, args[0]);
  if (JOBS[verb]) return inSteps(core, JOBS[verb], id, args);
  if (verb === 'resume' && search && !search.running) {
    search.running = true;
    return run(search);
  }
  if (verb === 'space') return self.postMessage({ id, text: spaceOf(core, args[0]) });
  if (verb === 'solveFor')
    core.onprogress = (tried, of, low, high) => self.postMessage({ id, progress: { tried, of, low, high } });
  if (!VERBS.has(verb)) throw new Error(`the core has no ${verb}`);
  return self.postMessage({ id, text: core[verb](...args) });
}

self.onmessage = async ({ data }) => {
  if (data.module) {
    const instantiateWasm = (imports, done) => {
      /** @type {WebAssembly.Module} */
      const module = data.module;
      WebAssembly.instantiate(module, imports).then((instance) => done(instance, module));
      return {};
    };
    open(createSlipstick({ instantiateWasm }));
    return;
  }
  if (data.verb === 'stop') {
    if (search) search.running = false;
    return;
  }
  if (data.verb === 'stopSteps') {
    if (job?.id === data.id) job.running = false;
    return;
  }
  try {
    await answer(data);
  } catch (error) {
    self.postMessage({ id: data.id, error: String(error?.message ?? error) });
  }
};
