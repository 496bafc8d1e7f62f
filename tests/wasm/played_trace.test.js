// Recorded requests in the page's module: the command line's answer, in steps that a worker can stop, and the time of a
// long trace.
import assert from "node:assert/strict";
import test from "node:test";
import { differences } from "../support/differences.js";
import { loadSlipstick, slipstickCommand } from "../support/module.js";
import { searchWorker } from "../support/search_worker.js";
import { timed } from "../support/timed.js";

const { slipstick, compiled } = await loadSlipstick();

const REQUEST = { model: { preset: "llama-3.1-8b" }, cluster: { preset: "dgx-h100" } };

// Requests at `rate` per second that all share their first block of 512 tokens.
function traceOf(count, rate) {
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const spread = (mean) => Math.max(1, Math.round(-mean * Math.log(random())));
  let at = 0;
  const lines = Array.from({ length: count }, (_, i) => {
    at += -Math.log(random()) / rate;
    const prompt = Math.min(60_000, 100 + spread(2000));
    const blocks = Array.from({ length: Math.ceil(prompt / 512) }, (_, k) => (k === 0 ? 0 : i * 128 + k));
    return { timestamp: Math.round(at * 1000), input_length: prompt, output_length: spread(250), hash_ids: blocks };
  });
  return lines.map((line) => JSON.stringify(line)).join("\n");
}

function played(spec, trace) {
  const job = new slipstick.Replay(JSON.stringify(spec), trace);
  assert.equal(job.issues(), "");
  let longest = 0;
  for (let more = true; more; ) {
    const start = performance.now();
    more = job.step(4096);
    longest = Math.max(longest, performance.now() - start);
  }
  const report = JSON.parse(job.report());
  job.delete();
  return { report, longest };
}

test("a trace is answered as on the command line", () => {
  const trace = traceOf(500, 40);
  const { report } = played({ request: REQUEST, ttft: "1 s", tpot: "30 ms" }, trace);
  const { seconds, ...said } = JSON.parse(
    slipstickCommand(
      ["replay", "-", "model=llama-3.1-8b", "cluster=dgx-h100", "--ttft", "1 s", "--tpot", "30 ms"],
      trace,
    ),
  );
  assert.ok(seconds > 0);
  assert.deepEqual(differences(report, said), []);
});

test("a wrong file names its line, and a wrong question its member", () => {
  for (const [spec, trace, path] of [
    [{}, '{"timestamp":0,"input_length":5,"output_length":1}\n{', "line 2"],
    [{ ttft: "5 kg" }, traceOf(2, 1), "ttft"],
    [{}, "", ""],
  ]) {
    const job = new slipstick.Replay(JSON.stringify(spec), trace);
    assert.equal(JSON.parse(job.issues()).issues[0].path, path);
    assert.equal(job.step(10), false);
    job.delete();
  }
});

test("100,000 requests within 10 s, in short steps", () => {
  const trace = traceOf(100_000, 20);
  const start = performance.now();
  const job = new slipstick.Replay(JSON.stringify({ request: REQUEST }), trace);
  assert.equal(job.issues(), "");
  const read = performance.now() - start;
  let longest = 0;
  let first = 0; // until the run on the scenario's own replicas ends
  for (let more = true; more; ) {
    const from = performance.now();
    more = job.step(4096);
    longest = Math.max(longest, performance.now() - from);
    if (!first && more && JSON.parse(job.report()).playing === 1) first = performance.now() - start;
  }
  const report = JSON.parse(job.report());
  job.delete();
  assert.equal(report.trace.requests, 100_000);
  assert.equal(report.played.requests, 100_000);
  timed("100,000 requests read", read, 3000);
  timed("100,000 requests read and played", first || performance.now() - start, 10_000);
  timed("with the search for the fewest replicas", performance.now() - start, 20_000);
  timed("the longest 4,096 steps", longest, 200);
});

test("the worker reports progress and stops on request", async (context) => {
  const worker = searchWorker(context);
  worker.postMessage({ module: compiled });
  const spec = JSON.stringify({ request: REQUEST });
  const stopped = new Promise((resolve, reject) => {
    worker.on("message", ({ id, state, text, error }) => {
      if (error) reject(new Error(error));
      const report = JSON.parse(text);
      if (state === "running" && id === 1) {
        assert.ok(report.done >= 0 && report.done < 1);
        worker.postMessage({ verb: "stopSteps", id });
      } else if (id === 1) resolve({ state, report });
    });
  });
  worker.postMessage({ id: 1, verb: "replay", args: [spec, traceOf(20_000, 20)] });
  const { state } = await stopped;
  assert.ok(state === "stopped" || state === "done");
});
