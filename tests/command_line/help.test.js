// Every command has a usage and working examples.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import { ROOT } from "../support/module.js";

const run = (...args) => spawnSync(ROOT + "build/native/slipstick", args, { encoding: "utf8" });
const VERBS = [
  "evaluate",
  "search",
  "merge",
  "sweep",
  "solve",
  "size",
  "replay",
  "advise",
  "sensitivity",
  "design",
  "study",
  "cost-study",
  "kernel",
  "describe",
  "presets",
  "import-model",
  "compare",
  "schema",
  "completion",
  "man",
];
const NEEDS_FILES = ["merge", "import-model", "replay"];

for (const verb of VERBS) {
  test(`${verb} --help gives its usage and examples that answer`, () => {
    for (const word of ["--help", "-h"]) {
      const { status, stdout } = run(verb, word);
      assert.equal(status, 0);
      assert.match(stdout, new RegExp(`^usage: slipstick ${verb}`));
      const examples = [...stdout.matchAll(/^example: (slipstick .*)/gm)];
      assert.ok(examples.length > 0);
      if (word === "-h" || NEEDS_FILES.includes(verb)) continue;
      for (const [, example] of examples) {
        const answered = spawnSync("bash", ["-c", example.replace("slipstick", ROOT + "build/native/slipstick")], {
          encoding: "utf8",
          maxBuffer: 1 << 28,
        });
        assert.equal(answered.status, 0, `${example}: ${answered.stdout.slice(0, 300)}`);
      }
    }
  });
}

test("--help lists every command; an unknown one has no help", () => {
  const { status, stdout } = run("--help");
  assert.equal(status, 0);
  for (const verb of VERBS) assert.match(stdout, new RegExp(`slipstick ${verb}\\b`));
  assert.equal(run("nonsense", "--help").status, 2);
});
