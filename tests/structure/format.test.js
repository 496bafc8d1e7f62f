// The C++ code has clang-format's format (.clang-format), in the version that tests/package.json names:
//   tests/node_modules/.bin/clang-format -i FILE...
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join, relative } from "node:path";
import test from "node:test";
import { filesBelow } from "../support/files.js";
import { ROOT } from "../support/module.js";

test("C++ is formatted", () => {
  const files = ["core", "wasm", "tests"].flatMap((folder) => filesBelow(join(ROOT, folder), /\.(h|cc)$/));
  assert.ok(files.length > 500, `${files.length} files`);
  const { status, stderr } = spawnSync(
    join(ROOT, "tests/node_modules/.bin/clang-format"),
    ["--dry-run", "-Werror", ...files],
    { encoding: "utf8", maxBuffer: 1 << 28 },
  );
  const faults = new Set(
    stderr
      .split("\n")
      .map((line) => /^(\S+?):\d+:\d+: error/.exec(line)?.[1])
      .filter(Boolean),
  );
  assert.deepEqual(
    [...faults].map((path) => `tests/node_modules/.bin/clang-format -i ${relative(ROOT, path)}`),
    [],
  );
  assert.equal(status, 0, stderr.slice(0, 1000));
});
