// The module as other programs use it: packed from build/package and installed into a project.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { differences } from "../support/differences.js";
import { ROOT, slipstickCommand } from "../support/module.js";

const PACKAGE = ROOT + "build/package/";
const project = mkdtempSync(join(tmpdir(), "slipstick-package-"));
after(() => rmSync(project, { recursive: true }));

const run = (command, ...args) => execFileSync(command, args, { cwd: project, encoding: "utf8", maxBuffer: 1 << 28 });
const [packed] = JSON.parse(run("npm", "pack", PACKAGE, "--json", "--silent"));
writeFileSync(join(project, "package.json"), JSON.stringify({ name: "project", private: true, type: "module" }));
// Leaves out the server's dependency (tested in mcp_server.test.js).
run("npm", "install", "--offline", "--omit=optional", "--no-audit", "--no-fund", "--silent", `./${packed.filename}`);

/** The JSON that a program in that project prints. */
function answer(program) {
  writeFileSync(
    join(project, "program.js"),
    `import { load } from 'slipstick';\nconst slipstick = await load();\nconsole.log(JSON.stringify(${program}));\n`,
  );
  return JSON.parse(run("node", "program.js"));
}
const command = (...args) => JSON.parse(slipstickCommand(args));

test("the package holds the module, its types and the schema, and names the release", () => {
  assert.deepEqual(packed.files.map(({ path }) => path).sort(), [
    "README.md",
    "index.d.ts",
    "index.js",
    ...[
      "arguments.js",
      "figures.js",
      "guide.md",
      "scenario.js",
      "server.js",
      "tools.js",
      "worker.js",
      "workers.js",
    ].map((name) => `mcp/${name}`),
    "package.json",
    ...[
      "size/question.js",
      "state/link.js",
      "state/paths.js",
      "state/scenario.js",
      "text/format.js",
      "text/inputs.js",
      "text/measure.js",
      "text/outputs.js",
    ].map((name) => `page/${name}`),
    "schema.json",
    "slipstick.d.ts",
    "slipstick.js",
    "slipstick.wasm",
  ]);
  const { version, license, bin, optionalDependencies } = JSON.parse(readFileSync(PACKAGE + "package.json", "utf8"));
  assert.equal(`slipstick ${version}\n`, slipstickCommand(["--version"]));
  assert.equal(license, "UNLICENSED");
  assert.equal(readFileSync(PACKAGE + "schema.json", "utf8"), slipstickCommand(["schema"]));
  // The command exists, and needs the Node version that the tests run with.
  for (const name of Object.keys(bin)) assert.ok(existsSync(join(project, "node_modules/.bin", name)), name);
  const tests = JSON.parse(readFileSync(ROOT + "tests/package.json", "utf8")).devDependencies;
  for (const [name, wanted] of Object.entries(optionalDependencies)) assert.equal(tests[name], wanted, name);
});

test("a program gets the command line's answers", () => {
  const request = { model: "llama-3.1-8b", cluster: "dgx-h100", training: null, serving: { batch: 64 } };
  const report = answer(`slipstick.evaluate(${JSON.stringify(request)})`);
  writeFileSync(join(project, "request.json"), JSON.stringify(request));
  assert.deepEqual(differences(report, command("evaluate", join(project, "request.json"))), []);
  const found = answer(
    "slipstick.search({request: {model: 'llama-3.1-8b', cluster: 'dgx-h100', serving: null}, for: 'training', top: 1})",
  );
  const { best } = command("search", "model=llama-3.1-8b", "cluster=dgx-h100", "serving=null", "--top", "1");
  assert.deepEqual(differences(found.best, best), []);
});

test("advice, evidence and calibration are the command line's", () => {
  const place = ["model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=8"];
  const request = "{model: 'llama-3.1-8b', cluster: {preset: 'dgx-h100', devices: 8}}";
  const { seconds: _, ...advice } = command("advise", ...place, "--for", "serving", "--top", "3");
  assert.deepEqual(differences(answer(`slipstick.advise({request: ${request}, for: 'serving', top: 3})`), advice), []);
  assert.deepEqual(
    differences(
      answer(`slipstick.evidence(${request}, 'serving.tpot_s')`),
      command("evidence", ...place, "--figure", "serving.tpot_s"),
    ),
    [],
  );
  const measured = { measured: [{ figure: "serving.tpot_s", value: 0.024 }] };
  assert.deepEqual(
    differences(
      answer(`slipstick.calibrate(${JSON.stringify(measured)})`),
      JSON.parse(slipstickCommand(["calibrate", "-"], JSON.stringify(measured))),
    ),
    [],
  );
});

test("a question with progress has the same answer", () => {
  const QUESTIONS = {
    search: { request: { model: "llama-3.1-8b", cluster: "dgx-h100", serving: null }, for: "training", top: 1 },
    sweep: { axes: ["serving.batch=1,2,4,8,16,32"], report: ["serving.tpot_s"] },
    size: { requests_per_s: 20, tpot: 0.04, clusters: ["dgx-h100", "dgx-h200", "dgx-b200"] },
    solve: { range: "serving.prompt=1k:64k", until: "serving.ttft_s<=1 s" },
  };
  const questions = Object.entries(QUESTIONS).map(
    ([verb, spec]) => `[${JSON.stringify(verb)}, ${JSON.stringify(spec)}]`,
  );
  const answers = answer(`[${questions.join(", ")}].map(([verb, spec]) => {
    const heard = [];
    return { heard, with: slipstick[verb](spec, { onprogress: (...progress) => heard.push(progress) }), without: slipstick[verb](spec) };
  })`);
  answers.forEach(({ heard, with: one, without: other }, at) => {
    assert.deepEqual(differences(one, other), [], Object.keys(QUESTIONS)[at]);
    assert.ok(
      heard.length > 1 && heard.every(([done, of]) => done > 0 && done <= of),
      `${Object.keys(QUESTIONS)[at]}: ${JSON.stringify(heard)}`,
    );
  });
  assert.deepEqual(answers[1].heard.at(-1), [6, 6]);
  assert.deepEqual(answers[2].heard, [
    [1, 3],
    [2, 3],
    [3, 3],
  ]);
});

test("a wrong request answers its issues", () => {
  assert.match(answer("slipstick.evaluate({modle: 1})").issues[0].message, /Unknown input/);
  assert.ok(answer("slipstick.search({for: 'nothing'})").issues.length > 0);
  assert.equal(
    answer("slipstick.size({requests_per_s: 1, clusters: ['dgx-h100', 'x']}, {onprogress: () => {}})").issues[0].path,
    "clusters.1",
  );
});

test("every verb of the types is there, and no other", () => {
  const types = readFileSync(PACKAGE + "index.d.ts", "utf8");
  const declared = [...types.matchAll(/^  ([a-zA-Z]+)\(.*\): /gm)].map(([, verb]) => verb);
  assert.ok(declared.length > 10);
  assert.deepEqual(answer("Object.keys(slipstick)").sort(), declared.sort());
});
