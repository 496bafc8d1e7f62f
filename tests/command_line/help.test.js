// Every command has a usage and working examples.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import { ROOT } from "../support/module.js";

const run = (...args) => spawnSync(ROOT + "build/native/slipstick", args, { encoding: "utf8" });
const VERBS = [...run("--help").stdout.matchAll(/^ {2}slipstick (\S+)/gm)].map(([, verb]) => verb);
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

test("help, --help and -h list every command, and `help COMMAND` explains one", () => {
  assert.ok(VERBS.length > 20 && VERBS.includes("evaluate") && VERBS.includes("dependence"));
  for (const word of ["help", "-h"]) assert.equal(run(word).stdout, run("--help").stdout);
  assert.equal(run("help", "size").stdout, run("size", "--help").stdout);
});

test("a wrong name of a command or an option suggests the names like it", () => {
  for (const words of [["evalute"], ["evalute", "--help"], ["evalute", "--lines"]]) {
    const { status, stdout } = run(...words);
    assert.equal(status, 2);
    assert.deepEqual(JSON.parse(stdout).issues[0], {
      path: "evalute",
      message: "Unknown command; nearest: evaluate; `slipstick --help` lists all",
      fixes: [],
    });
  }
  assert.match(run("search", "--thread", "2").stdout, /Unknown option; nearest: --threads; `slipstick search --help`/);
});
