// The time of a long trace in the page's module. Only a full run includes it.
import assert from "node:assert/strict";
import test from "node:test";
import { loadSlipstick } from "../support/module.js";
import { timed } from "../support/timed.js";
import { REQUEST, traceOf } from "./recorded.js";

const { slipstick } = await loadSlipstick();

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
