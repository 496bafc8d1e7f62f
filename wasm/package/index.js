// The core's verbs for Node and browsers: objects in, objects out. The answer to a wrong request is {issues}.
import createSlipstick from './slipstick.js';

async function wasmBinary() {
  const url = new URL('./slipstick.wasm', import.meta.url);
  if (url.protocol !== 'file:') return (await fetch(url)).arrayBuffer();
  const { readFile } = await import('node:fs/promises');
  return readFile(url);
}

// The core refuses longer texts, and this much of one is enough for that.
const MOST = 4_000_001;
const text = (request) => (typeof request === 'string' ? request : JSON.stringify(request ?? {})).slice(0, MOST);
const ALL = 2 ** 31 - 1;
const MAPPINGS = 512; // of a search, between two progress calls
const ROWS = 4; // of a sweep
const STEPS = 1 << 14; // engine steps of a replay

// Steps a job of the core to its end; `onstep` gets the number of steps taken, and the report before the first.
function stepped(job, size, onstep) {
  try {
    const issues = job.issues();
    if (issues) return JSON.parse(issues);
    const before = onstep && JSON.parse(job.report());
    for (let steps = 1; job.step(size); steps++) onstep?.(steps, before);
    return JSON.parse(job.report());
  } finally {
    job.delete();
  }
}

const search = (core, spec, onprogress) =>
  stepped(
    new core.Search(text(spec)),
    MAPPINGS,
    onprogress && ((steps, { space }) => onprogress(Math.min(space, steps * MAPPINGS), space)),
  );

function replay(core, spec, trace, onprogress) {
  const job = new core.Replay(text(spec), trace);
  const tell = onprogress && (() => onprogress(JSON.parse(job.report()).done, 1));
  return stepped(job, STEPS, tell);
}

function sweep(core, spec, { from = 0, to = ALL, onprogress }) {
  const part = (begin, end) => JSON.parse(core.sweep(text(spec), begin, Math.min(to, end)));
  if (!onprogress) return part(from, to);
  const rows = [];
  for (;;) {
    const begin = from + rows.length;
    const { size, rows: more, issues } = part(begin, begin + ROWS);
    if (issues) return { issues };
    rows.push(...more);
    const end = Math.min(to, size);
    onprogress(rows.length, end - from);
    if (more.length === 0 || from + rows.length >= end) return { size, rows };
  }
}

// Sizes cluster by cluster to report progress; the first of the cheapest is the best, as in the core.
function size(core, spec, onprogress) {
  const { clusters } = spec ?? {};
  if (!onprogress || !Array.isArray(clusters) || clusters.length < 2) return JSON.parse(core.size(text(spec)));
  const answers = [];
  const cost = (at) => answers[at].cost.usd_per_hour;
  let best = null;
  for (const cluster of clusters) {
    const answer = JSON.parse(core.size(text({ ...spec, clusters: [cluster] })));
    if (answer.issues) return JSON.parse(core.size(text(spec))); // its issues name the place in the list
    answers.push(answer.clusters[0]);
    const last = answers.length - 1;
    if (answers[last].holds && (best === null || cost(last) < cost(best))) best = last;
    onprogress(answers.length, clusters.length);
  }
  return { best, clusters: answers };
}

function solve(core, spec, onprogress) {
  core.onprogress = onprogress ?? null;
  try {
    return JSON.parse(core.solveFor(text(spec)));
  } finally {
    core.onprogress = null;
  }
}

/** Compiles the core; call it once for any number of questions. */
export async function load() {
  const binary = await wasmBinary();
  const core = await createSlipstick({
    instantiateWasm(imports, done) {
      WebAssembly.instantiate(binary, imports).then(({ instance, module }) => done(instance, module));
      return {};
    },
  });
  return {
    evaluate: (request, { explain = '' } = {}) => JSON.parse(core.evaluate(text(request), explain)),
    timeline: (request) => JSON.parse(core.timeline(text(request))),
    kernel: (request) => JSON.parse(core.kernel(text(request))),
    evidence: (request, figure) => JSON.parse(core.evidence(text(request), figure)),
    calibrate: (spec) => JSON.parse(core.calibrate(text(spec))),
    describe: () => JSON.parse(core.describe()),
    presets: (kind = '') => JSON.parse(core.presets(kind)),
    importModel: (config) => JSON.parse(core.importModel(text(config))),
    sweep: (spec, options = {}) => sweep(core, spec, options),
    solve: (spec, { onprogress } = {}) => solve(core, spec, onprogress),
    size: (spec, { onprogress } = {}) => size(core, spec, onprogress),
    search: (spec, { onprogress } = {}) => search(core, spec, onprogress),
    advise: (spec, { onprogress } = {}) => stepped(new core.Advice(text(spec)), 16, onprogress),
    replay: (spec, trace, { onprogress } = {}) => replay(core, spec, trace, onprogress),
    searchObjectives: () => JSON.parse(core.searchObjectives()),
    sensitivity: (request, figure, share = 0.2) => JSON.parse(core.sensitivity(text(request), figure, share)),
    dependence: (request, input = '') => JSON.parse(core.dependence(text(request), input, 0, ALL)),
    design: (request, figure) => JSON.parse(core.design(text(request), figure)),
    costStudy: (request) => JSON.parse(core.costStudy(text(request))),
    study: (id) => JSON.parse(core.study(id)),
  };
}
