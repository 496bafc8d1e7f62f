// How long answers take in the module: node tests/benchmark/module.js
import { loadSlipstick } from "../support/module.js";

const { slipstick } = await loadSlipstick();

const cases = {
  "default scenario, text to text": () => slipstick.evaluate("", ""),
  "default scenario, one figure explained": () => slipstick.evaluate("", "training.step_time_s"),
  "one kernel": () =>
    slipstick.kernel('{"device": {"preset": "h100-sxm5-80gb"}, "operator": {"kind": "gemm", "m": 4096, "n": 8192, "k": 8192, "precision": "bf16"}}'),
};

for (const [name, run] of Object.entries(cases)) {
  for (let i = 0; i < 200; ++i) run();
  const times = [];
  for (let i = 0; i < 1000; ++i) {
    const start = performance.now();
    run();
    times.push(1000 * (performance.now() - start));
  }
  times.sort((a, b) => a - b);
  console.log(`${name}: median ${times[500].toFixed(0)} us, p95 ${times[950].toFixed(0)} us`);
}
