// slipstick replay: a file of recorded requests, as scripts and people use it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ROOT } from "../support/module.js";

const folder = mkdtempSync(join(tmpdir(), "slipstick-"));
after(() => rmSync(folder, { recursive: true }));
function fileOf(name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
const run = (...args) => spawnSync(ROOT + "build/native/slipstick", ["replay", ...args], { encoding: "utf8" });

const SCENARIO = ["model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=1"];
const line = (at, blocks) =>
  JSON.stringify({ timestamp: at, input_length: 1500, output_length: 50, hash_ids: blocks }) + "\n";
// Three prompts of 1,500 tokens: the second finds two blocks of 512, the third one.
const TRACE = fileOf("trace.jsonl", line(0, [0, 1, 2]) + line(9000, [0, 1, 3]) + line(20000, [0, 4, 5]));

test("a trace is answered as JSON, with the hit rate that one counts by hand", () => {
  const { status, stdout } = run(TRACE, ...SCENARIO);
  assert.equal(status, 0);
  const answer = JSON.parse(stdout);
  assert.equal(answer.trace.requests, 3);
  assert.ok(Math.abs(answer.played.hit_rate - 1536 / 4500) < 1e-12);
  assert.equal(answer.needed.replicas, 1);
  assert.equal(answer.breaks, null);
});

test("people read a table, and the scenario may be a file", () => {
  const scenario = fileOf("scenario.json", JSON.stringify({ model: "llama-3.1-8b", cluster: { devices: 1 } }));
  const { status, stdout } = run(TRACE, scenario, "--format", "table", "--speed", "2");
  assert.equal(status, 0);
  assert.match(stdout, /^3 requests \(mooncake\), .* over 10 s, on 1 device \(1 replica\)/);
  assert.match(stdout, /prefix-cache hit rate 34\.1 % \(34\.1 % with unlimited memory\)/);
  assert.match(stdout, /Needs 1 replica, 1 device of 8 in whole servers, \$/);
});

test("a wrong line, a missing file and a wrong target are issues", () => {
  const wrong = run(fileOf("wrong.jsonl", line(0, [0]) + "{\n"), ...SCENARIO);
  assert.equal(wrong.status, 2);
  assert.equal(JSON.parse(wrong.stdout).issues[0].path, "line 2");
  assert.match(wrong.stderr, /^line 2: Not valid JSON/);
  assert.equal(run(join(folder, "none.jsonl")).status, 2);
  assert.equal(run().status, 2);
  assert.equal(JSON.parse(run(TRACE, "--ttft", "5 kg").stdout).issues[0].path, "ttft");
});
