// A build configured before GoogleTest was installed finds the tests later: the README's two commands in their order.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import test from "node:test";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

test("a build configured without GoogleTest has its tests after the next call", () => {
  const build = mkdtempSync(join(tmpdir(), "slipstick-build-"));
  const run = (program, ...args) => execFileSync(program, args, { cwd: ROOT, encoding: "utf8" });
  const configure = (hidden) =>
    run("bash", "-c", `source web/packages.sh && configure "${build}" -DCMAKE_DISABLE_FIND_PACKAGE_GTest=${hidden}`);
  const listed = () => Number(/Total Tests: (\d+)/.exec(run("ctest", "--test-dir", build, "-N"))[1]);
  try {
    configure("ON");
    assert.equal(listed(), 0);
    configure("OFF");
    assert.ok(listed() > 20);
  } finally {
    rmSync(build, { recursive: true });
  }
});

test("both commands configure on every call", () => {
  const configured = (script) =>
    readFileSync(join(ROOT, script), "utf8")
      .split("\n")
      .filter((line) => /^\s*configure /.test(line))
      .map((line) => /build\/\w+/.exec(line)[0]);
  assert.deepEqual(configured("web/serve"), ["build/native", "build/wasm"]);
  assert.deepEqual(configured("tests/run"), ["build/native", "build/sanitize", "build/fuzz"]);
  for (const script of ["web/serve", "tests/run"])
    assert.doesNotMatch(readFileSync(join(ROOT, script), "utf8"), /build\.ninja/);
});
