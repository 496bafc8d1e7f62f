// Shell completion and the manual page, both made from the table of verbs.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import test from "node:test";
import { ROOT } from "../support/module.js";

const SLIPSTICK = ROOT + "build/native/slipstick";
const run = (...args) => execFileSync(SLIPSTICK, args, { encoding: "utf8", maxBuffer: 1 << 26 });
const complete = (...words) =>
  run("complete", ...words)
    .split("\n")
    .slice(0, -1);

test("verbs, options, their values, paths and presets complete", () => {
  assert.deepEqual(complete("se"), ["search", "sensitivity"]);
  assert.deepEqual(complete("search", "--obj"), ["--objective"]);
  assert.deepEqual(complete("search", "--for", ""), ["training", "serving"]);
  assert.ok(complete("evaluate", "serving.mapping.").includes("serving.mapping.tp="));
  assert.ok(complete("evaluate", "model=llama-3.1-").includes("model=llama-3.1-70b"));
  assert.deepEqual(complete("evaluate", "training.recompute=s"), ["training.recompute=selective"]);
  assert.deepEqual(complete("sweep", "--report", "serving.tpot_s,serving.ttft_s"), ["serving.tpot_s,serving.ttft_s"]);
  assert.ok(complete("size", "--clusters", "dgx-h100,dgx-b").includes("dgx-h100,dgx-b200"));
  assert.ok(complete("presets", "").includes("device"));
  assert.ok(complete("study", "gemm").includes("gemm-bounds"));
  assert.deepEqual(complete("nonsense", ""), []);
});

/** What bash would offer for a line. */
function inBash(line) {
  const script = `PATH=$(dirname ${SLIPSTICK}):$PATH; source <(slipstick completion bash); COMP_LINE=$1; COMP_POINT=\${#1}; _slipstick; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["-c", script, "bash", line], { encoding: "utf8" });
  assert.equal(stderr, "");
  return stdout.trimEnd().split("\n");
}

test("bash completes, words with = and commas too", () => {
  assert.deepEqual(inBash("slipstick eva"), ["evaluate"]);
  assert.ok(inBash("slipstick evaluate ").includes("model="));
  // Bash replaces only the part after the =.
  assert.ok(inBash("slipstick evaluate cluster=dgx-h").includes("dgx-h100"));
});

test("the scripts are shell; zsh's too where it is installed", () => {
  for (const shell of ["bash", "zsh"]) {
    const checked = spawnSync(shell, ["-n"], { input: run("completion", shell), encoding: "utf8" });
    if (checked.error === undefined) assert.equal(checked.stderr, "");
  }
  assert.equal(spawnSync(SLIPSTICK, ["completion", "fish"]).status, 2);
});

test("the manual page names every verb and option, and man has no complaint", () => {
  const page = run("man");
  const verbs = [...run("--help").matchAll(/^ {2}slipstick ([a-z-]+)/gm)].map(([, verb]) => verb);
  assert.ok(verbs.length > 15);
  for (const verb of verbs) {
    assert.ok(page.includes(`.SS ${verb.replaceAll("-", "\\-")}\n`), verb);
    for (const [option] of run(verb, "--help").matchAll(/^ {2}--[a-z-]+/gm))
      assert.ok(page.includes(`.B ${option.trim().replaceAll("-", "\\-")}`), option);
  }
  const groff = spawnSync("groff", ["-man", "-Kutf8", "-Tutf8", "-ww", "-z"], { input: page, encoding: "utf8" });
  if (groff.error === undefined) assert.equal(groff.stderr, "");
});

test("every option that a verb lists has its place in the table", () => {
  for (const [, verb] of run("--help").matchAll(/^ {2}slipstick ([a-z-]+)/gm)) {
    const listed = run("complete", verb, "--").split("\n").filter(Boolean);
    const shown = [...run(verb, "--help").matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, option]) => option);
    assert.deepEqual(
      listed.filter((option) => option !== "--help"),
      shown,
    );
  }
});
