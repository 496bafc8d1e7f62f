// Memory use of a large search.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import test from "node:test";
import { ROOT } from "../support/module.js";

const LARGE = [
  "model=gpt3-175b",
  "cluster=dgx-a100",
  "cluster.devices=6144",
  "training.global_batch=36864",
  "training.sequence=4096",
  "serving=null",
  "cost=null",
];

test("a search of ten million mappings takes at most 64 MiB", { skip: process.platform !== "linux" }, async () => {
  const args = [
    "search",
    ...LARGE,
    "--for",
    "training",
    "--pareto",
    "memory_headroom_bytes",
    "--threads",
    "2",
    "--limit",
    "offload.optimizer=0",
    "--limit",
    "training.mapping.schedule=1f1b,gpipe,zb-h1",
  ];
  const child = spawn(ROOT + "build/native/slipstick", args, { stdio: ["ignore", "pipe", "inherit"] });
  let peak = 0;
  const look = setInterval(() => {
    try {
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1] ?? 0));
    } catch {
      // the process has ended
    }
  }, 20);
  let text = "";
  for await (const piece of child.stdout) text += piece;
  clearInterval(look);
  const { space, done, seconds } = JSON.parse(text);
  console.log(`# ${space} mappings in ${seconds.toFixed(1)} s, ${(peak / 1024).toFixed(1)} MiB`);
  assert.ok(space >= 10e6, String(space));
  assert.equal(done, space);
  assert.ok(peak > 0 && peak <= 64 * 1024, `${peak} KiB`);
});
