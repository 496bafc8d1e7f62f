// The core's verbs, under Node or in a browser: objects in, objects out. A wrong request answers {issues}.
import createSlipstick from './slipstick.js';

async function wasmBinary() {
  const url = new URL('./slipstick.wasm', import.meta.url);
  if (url.protocol !== 'file:') return (await fetch(url)).arrayBuffer();
  const { readFile } = await import('node:fs/promises');
  return readFile(url);
}

// A longer text is refused by the core, which needs no more of it for that.
const MOST = 4_000_001;
const text = (request) => (typeof request === 'string' ? request : JSON.stringify(request ?? {})).slice(0, MOST);
const ALL = 2 ** 31 - 1;
const STEP = 4096;

function search(core, spec) {
  const job = new core.Search(text(spec));
  try {
    const issues = job.issues();
    while (issues === '' && job.step(STEP));
    return JSON.parse(issues || job.report());
  } finally {
    job.delete();
  }
}

/** Compiles the core; once is enough for any number of questions. */
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
    describe: () => JSON.parse(core.describe()),
    presets: (kind = '') => JSON.parse(core.presets(kind)),
    importModel: (config) => JSON.parse(core.importModel(text(config))),
    sweep: (spec, { from = 0, to = ALL } = {}) => JSON.parse(core.sweep(text(spec), from, to)),
    solve: (spec) => JSON.parse(core.solveFor(text(spec))),
    size: (spec) => JSON.parse(core.size(text(spec))),
    search: (spec) => search(core, spec),
    searchObjectives: () => JSON.parse(core.searchObjectives()),
    sensitivity: (request, figure, share = 0.2) => JSON.parse(core.sensitivity(text(request), figure, share)),
    dependence: (request, input = '') => JSON.parse(core.dependence(text(request), input, 0, ALL)),
    design: (request, figure) => JSON.parse(core.design(text(request), figure)),
    costStudy: (request) => JSON.parse(core.costStudy(text(request))),
    study: (id) => JSON.parse(core.study(id)),
  };
}
