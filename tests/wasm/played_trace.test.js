// Recorded requests in the page's module: the command line's answer, in steps that a worker can stop.
import assert from "node:assert/strict";
import test from "node:test";
import { differences } from "../support/differences.js";
import { loadSlipstick, slipstickCommand } from "../support/module.js";
import { searchWorker } from "../support/search_worker.js";
import { REQUEST, traceOf } from "./recorded.js";

const { slipstick, compiled } = await loadSlipstick();

function played(spec, trace) {
  const job = new slipstick.Replay(JSON.stringify(spec), trace);
  assert.equal(job.issues(), "");
  while (job.step(4096));
  const report = JSON.parse(job.report());
  job.delete();
  return report;
}

test("a trace is answered as on the command line", () => {
  const trace = traceOf(500, 40);
  const report = played({ request: REQUEST, ttft: "1 s", tpot: "30 ms" }, trace);
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

test("all requests of a longer trace are played", () => {
  const report = played({ request: REQUEST }, traceOf(5000, 20));
  assert.equal(report.trace.requests, 5000);
  assert.equal(report.played.requests, 5000);
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
