// --measured: answers calibrated by a measurement of one's own system, as scripts use it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import { ROOT, slipstickCommand } from "../support/module.js";

const SLIPSTICK = `${ROOT}build/native/slipstick`;

const SCENARIO = ["version=3", "model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=8"];
const evaluate = (...more) => JSON.parse(slipstickCommand(["evaluate", ...SCENARIO, ...more]));

function wrongOf(verb, ...words) {
  const { status, stdout } = spawnSync(SLIPSTICK, [verb, ...SCENARIO, ...words], { encoding: "utf8" });
  assert.equal(status, 2);
  return JSON.parse(stdout).issues[0];
}

test("--measured moves the answers, says what explains it, and is the same as the member of a request", () => {
  const before = evaluate();
  const slower = 1.12 * before.serving.tpot_s;
  const after = evaluate("--measured", `serving.tpot_s=${1000 * slower} ms`);
  assert.ok(Math.abs(after.serving.tpot_s / slower - 1) < 0.005, `${after.serving.tpot_s} for ${slower}`);
  assert.ok(after.serving.tokens_per_s < before.serving.tokens_per_s);
  assert.match(after.warnings[0], /^Moved to your measurement: Time per output token/);
  assert.equal(
    evaluate(`measured.0.path=serving.tpot_s`, `measured.0.value=${slower}`).serving.tpot_s,
    evaluate("--measured", `serving.tpot_s=${slower}`).serving.tpot_s,
  );
});

test("several measurements, and other questions of the same machine", () => {
  const before = evaluate();
  const [token, step] = [1.1 * before.serving.tpot_s, 1.1 * before.training.step_time_s];
  const measured = ["--measured", `serving.tpot_s=${token}`, "--measured", `training.step_time_s=${step}`];
  const after = evaluate(...measured);
  assert.ok(
    Math.abs(after.serving.tpot_s / token - 1) < 0.005 && Math.abs(after.training.step_time_s / step - 1) < 0.005,
  );
  const rows = slipstickCommand(["sweep", ...SCENARIO, ...measured, "cost.lifetime=3,4", "--report", "serving.tpot_s"])
    .trim()
    .split("\n")
    .slice(1);
  for (const row of rows) assert.ok(Math.abs(Number(row.split(",")[1]) / token - 1) < 0.005, row);
});

test("other machines than the measured one are neither moved nor more certain", () => {
  const MAPPED = [...SCENARIO, "serving.mapping.tp=1"];
  const measured = ["--measured", `serving.tpot_s=${1.1 * evaluate("serving.mapping.tp=1").serving.tpot_s}`];
  const compared = (...more) =>
    JSON.parse(slipstickCommand(["compare", ...MAPPED, ...more, "--against", "cluster=dgx-b200"])).figures.find(
      ({ path }) => path === "serving.tpot_s",
    ).values;
  const swept = (...more) =>
    slipstickCommand([
      "sweep",
      ...MAPPED,
      ...more,
      "cluster=dgx-h100,dgx-b200",
      "--report",
      "serving.tpot_s,serving.tpot_interval.low,serving.tpot_interval.high",
    ])
      .trim()
      .split("\n")
      .slice(1);
  for (const asked of [compared, swept]) {
    const [own, plain] = [asked(...measured), asked()];
    assert.notEqual(own[0], plain[0]);
    assert.equal(own[1], plain[1]);
  }
});

test("a measurement that is invalid or that no constant explains is an issue with its path", () => {
  const wrong = (...words) => wrongOf("evaluate", ...words);
  const impossible = wrong("--measured", "serving.tpot_s=1 us");
  assert.equal(impossible.path, "measured.0.value");
  assert.match(impossible.message, /No constant explains 1 us/);
  assert.ok(impossible.fixes.some(({ path, value }) => path === "measured.0.value" && value > 1e-6));
  assert.ok(impossible.fixes.some(({ path, value }) => path === "measured" && value === undefined));
  assert.equal(wrong("--measured", "fast").path, "--measured");
  assert.equal(wrong("--measured", "serving.no_such_s=1").path, "measured.0.path");
  for (const text of [
    "serving.tpot_s=",
    "serving.tpot_s=soon",
    "serving.tpot_s=-1",
    "serving.tpot_s=21 GB",
    "serving.tpot_s=1e999",
  ])
    assert.equal(wrong("--measured", text).path, "measured.0.value", text);
  const path = "measured.0.value";
  for (const [verb, ...words] of [
    ["sweep", `${path}=0.01,0.02`, "--report", "serving.tpot_s"],
    ["solve", `${path}=0.01:0.02`, "--until", "serving.ttft_s<=1"],
    ["search", "--axis", `${path}=0.01,0.02`],
  ])
    assert.match(wrongOf(verb, "--measured", "serving.tpot_s=6 ms", ...words).message, /does not vary/, verb);
});
