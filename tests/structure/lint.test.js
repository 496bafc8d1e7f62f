// The checkers find nothing: ESLint (tests/eslint.config.js) and Prettier (.prettierrc.json) in page, package and
// tests, TypeScript in the page (tests/tsconfig.json), shellcheck in the scripts.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import test from "node:test";
import { ROOT } from "../support/module.js";

function faultsOf(command, words) {
  const { status, stdout, stderr, error } = spawnSync(command, words, {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  assert.equal(error, undefined);
  return { status, said: stdout + stderr };
}

test("JavaScript", () => {
  const eslint = join(ROOT, "tests/node_modules/.bin/eslint");
  assert.deepEqual(
    faultsOf(eslint, ["--config", "tests/eslint.config.js", "--max-warnings=0", "web", "wasm", "tests"]),
    { status: 0, said: "" },
  );
});

test("form of JavaScript", () => {
  const prettier = join(ROOT, "tests/node_modules/.bin/prettier");
  const cache = ["--cache", "--cache-location", "tests/node_modules/.cache/prettier"];
  const paths = ["web", "tests", "wasm/package"];
  assert.deepEqual(faultsOf(prettier, ["--list-different", ...cache, ...paths]), { status: 0, said: "" });
});

test("types of the page", () => {
  const tsc = join(ROOT, "tests/node_modules/.bin/tsc");
  assert.deepEqual(faultsOf(tsc, ["--project", "tests/tsconfig.json", "--pretty", "false"]), { status: 0, said: "" });
});

test("scripts of the shell", () => {
  assert.deepEqual(
    faultsOf("shellcheck", [
      "--source-path=web",
      "--external-sources",
      ".ci/run",
      "tests/run",
      "web/serve",
      "web/packages.sh",
    ]),
    { status: 0, said: "" },
  );
});
