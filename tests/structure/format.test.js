// The C++ code is as clang-format writes it by .clang-format. Versions differ: tests/package.json names the one that counts.
//   tests/node_modules/.bin/clang-format -i FILE...
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { ROOT } from "../support/module.js";

const filesBelow = (folder) =>
  readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : filesBelow(path);
    return /\.(h|cc)$/.test(entry.name) ? [path] : [];
  });

test("C++ is formatted", () => {
  const files = ["core", "wasm", "tests"].flatMap(filesBelow);
  assert.ok(files.length > 500, `${files.length} files`);
  const { status, stderr } = spawnSync(join(ROOT, "tests/node_modules/.bin/clang-format"), ["--dry-run", "-Werror", ...files], { cwd: ROOT, encoding: "utf8", maxBuffer: 1 << 28 });
  const faults = new Set(stderr.split("\n").map((line) => /^(\S+?):\d+:\d+: error/.exec(line)?.[1]).filter(Boolean));
  assert.deepEqual([...faults], []);
  assert.equal(status, 0, stderr.slice(0, 1000));
});
