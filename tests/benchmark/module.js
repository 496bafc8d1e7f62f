// Times answers in the module: node --no-experimental-fetch tests/benchmark/module.js
import { loadSlipstick } from "../support/module.js";

const { slipstick } = await loadSlipstick();

const cases = {
  "default scenario, text to text, as the page asks it": () => slipstick.evaluate("", ""),
  "its timeline": () => slipstick.timeline(""),
  "default scenario, one figure explained": () => slipstick.evaluate("", "training.step_time_s"),
  "default scenario, all figures explained": () => slipstick.evaluate("", "*"),
  "one kernel": () =>
    slipstick.kernel(
      '{"device": {"preset": "h100-sxm5-80gb"}, "operator": {"kind": "gemm", "m": 4096, "n": 8192, "k": 8192, "precision": "bf16"}}',
    ),
};

for (const [name, run] of Object.entries(cases)) {
  for (let i = 0; i < 100; ++i) run();
  const times = [];
  for (let i = 0; i < 500; ++i) {
    const start = performance.now();
    run();
    times.push(1000 * (performance.now() - start));
  }
  times.sort((a, b) => a - b);
  console.log(`${name}: median ${times[250].toFixed(0)} us, ${times[50].toFixed(0)} to ${times[450].toFixed(0)} us`);
}

// Mappings per second of one instance: median and spread of nine searches.
const searches = {
  "GPT-3 175B on 64 A100": {
    request: {
      model: { preset: "gpt3-175b" },
      cluster: { preset: "dgx-a100", devices: 64 },
      training: { sequence: 2048, global_batch: 64 },
      serving: null,
      cost: null,
    },
    for: "training",
  },
  "DeepSeek-V3 served on 64 H200": {
    request: {
      model: { preset: "deepseek-v3" },
      cluster: { preset: "dgx-h200", devices: 64 },
      training: null,
      serving: { devices: 64, precision: { weights: "fp8", activations: "fp8", kv_cache: "fp8" } },
      cost: null,
    },
    for: "serving",
    pareto: ["tokens_per_s_per_user"],
  },
};
for (const [name, spec] of Object.entries(searches)) {
  const rates = [];
  let space = 0;
  for (let i = 0; i < 9; ++i) {
    const start = performance.now();
    const search = new slipstick.Search(JSON.stringify(spec));
    while (search.step(4096));
    space = JSON.parse(search.report()).space;
    search.delete();
    rates.push((1000 * space) / (performance.now() - start));
  }
  rates.sort((a, b) => a - b);
  console.log(
    `${name}: ${space} mappings, median ${Math.round(rates[4])} a second, ${Math.round(rates[0])} to ${Math.round(rates[8])}`,
  );
}
