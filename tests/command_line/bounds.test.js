// Requests are bounded: missing files, batches of millions, contradictory lines.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import test from "node:test";
import { ROOT } from "../support/module.js";

const SLIPSTICK = ROOT + "build/native/slipstick";
const MEMORY = 500_000; // kB of address space, of which the program takes a tenth
const LONGEST = 4_000_000;

/** Runs with little memory and little time. */
function run(args, input = "") {
  const limited = ["-c", `ulimit -v ${MEMORY}; exec "$0" "$@"`, SLIPSTICK, ...args];
  const { status, stdout, signal } = spawnSync("bash", limited, {
    input,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    timeout: 60_000,
  });
  assert.equal(signal, null, args.join(" "));
  return { status, stdout };
}
const answer = (args, input) => {
  const { status, stdout } = run(args, input);
  return { status, ...JSON.parse(stdout) };
};

test("a folder, an empty file, a file without an end and one that is not there are wrong requests", () => {
  const folder = mkdtempSync(tmpdir() + "/slipstick-");
  try {
    const empty = folder + "/empty.json";
    writeFileSync(empty, "");
    for (const [file, message] of [
      [folder, "Cannot read this file"],
      [folder + "/none.json", "Cannot read this file"],
      [empty, "This file is empty"],
      ["/dev/null", "This file is empty"],
      ["/dev/zero", "Too long: at most 64 MB"],
    ]) {
      for (const verb of ["evaluate", "search", "compare", "merge"]) {
        const { status, issues } = answer([verb, file]);
        assert.equal(status, 2, `${verb} ${file}`);
        assert.deepEqual(
          issues.map(({ path, message: words }) => [path, words]),
          [[file, message]],
          verb,
        );
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  assert.equal(answer(["evaluate", "-"], "").status, 2);
});

test("a request of more than 4 MB is refused, as a line too", () => {
  const long = JSON.stringify({ model: "x".repeat(5_000_000) });
  assert.equal(answer(["evaluate", "-"], long).issues[0].message, "Too long: at most 4 MB");
  const lines = run(["evaluate", "--lines"], `${long}\n{"version":1,"training":null,"serving":null}\n`)
    .stdout.trim()
    .split("\n");
  assert.equal(JSON.parse(lines[0]).issues[0].message, "Too long: at most 4 MB");
  assert.ok(JSON.parse(lines[1]).cost);
});

for (const [name, request, stages] of [
  ["2^26 sequences", { training: { global_batch: 67108864 } }, 4],
  ["the largest batch", { training: { global_batch: 1073741824 } }, 4],
  [
    "80 stages",
    { cluster: { devices: 80 }, training: { global_batch: 1048576, mapping: { tp: 1, pp: 80, virtual_stages: 1 } } },
    80,
  ],
  [
    "80 stages, GPipe",
    {
      cluster: { devices: 80 },
      training: { global_batch: 1048576, mapping: { tp: 1, pp: 80, virtual_stages: 1, schedule: "gpipe" } },
    },
    80,
  ],
  [
    "uneven stages",
    { cluster: { devices: 24 }, training: { global_batch: 134217728, mapping: { tp: 8, pp: 3, virtual_stages: 1 } } },
    3,
  ],
  [
    "ZB-H1",
    {
      cluster: { devices: 64 },
      training: { global_batch: 67108864, mapping: { tp: 8, pp: 8, virtual_stages: 1, schedule: "zb-h1" } },
    },
    8,
  ],
  [
    "DualPipe",
    {
      cluster: { devices: 64 },
      training: { global_batch: 67108864, mapping: { tp: 8, pp: 8, virtual_stages: 1, schedule: "dualpipe" } },
    },
    8,
  ],
]) {
  test(`${name}: the timeline is cut, and the report says so`, () => {
    const set = (object, path = "") =>
      Object.entries(object).flatMap(([key, value]) =>
        typeof value === "object" ? set(value, `${path}${key}.`) : `${path}${key}=${value}`,
      );
    const { status, stdout } = run(["evaluate", "version=1", "serving=null", ...set(request)]);
    assert.equal(status, 0, stdout.slice(0, 300));
    assert.ok(stdout.length < LONGEST, `${stdout.length} bytes`);
    const { training } = JSON.parse(stdout);
    assert.equal(training.stages.length, stages);
    assert.equal(training.timeline_cut.shown, training.timeline.length);
    assert.ok(training.timeline_cut.of > 1e6);
    // The same number of first passes from each stage.
    const each = training.timeline.length / stages;
    for (let stage = 0; stage < stages; ++stage) {
      const row = training.timeline.filter((pass) => pass.stage === stage);
      assert.ok(Math.abs(row.length - each) <= 3, `${row.length} of stage ${stage}`);
      for (let i = 1; i < row.length; ++i) assert.ok(row[i].start_s >= row[i - 1].end_s * (1 - 1e-12));
    }
    assert.ok(training.timeline.every(({ kind }) => kind !== "update"));
  });
}

test("a short timeline is complete", () => {
  const { training } = answer(["evaluate", "version=1", "serving=null"]);
  assert.equal(training.timeline_cut, null);
  assert.equal(training.timeline.filter(({ kind }) => kind === "update").length, 4);
});

test("no line ends a batch", () => {
  const lines = [
    { cluster: { devices: 8 } },
    { cluster: { device: { tdp: "700 W" } } },
    {},
    { cluster: { devices: 8, networks: [] } },
  ].map((request) => ({ version: 1, ...request }));
  const { status, stdout } = run(["evaluate", "--lines"], lines.map((line) => JSON.stringify(line)).join("\n"));
  assert.equal(status, 0);
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    answers.map(({ issues }) => issues?.[0].path ?? null),
    ["cluster.networks", "cluster.networks", null, "cluster.networks"],
  );
});
