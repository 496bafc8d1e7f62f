// The boundary between the page and the core.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { GLUE, ROOT, loadSlipstick } from "../support/module.js";

const { slipstick, compiled, memory } = await loadSlipstick();

test("the types name exactly the functions that the module binds, with as many parameters", () => {
  const source = readFileSync(ROOT + "wasm/bindings.cc", "utf8");
  const count = (parameters) => parameters.split(",").filter((one) => one.trim()).length;
  const bound = [...source.matchAll(/emscripten::function\("(\w+)", &(\w+)\)/g)].map(([, name, called]) => {
    const [, parameters] = source.match(new RegExp(`^std::string ${called}\\(([^)]*)\\)`, "m"));
    return `${name} ${count(parameters)}`;
  });
  const types = readFileSync(ROOT + "wasm/slipstick.d.ts", "utf8").match(/interface Slipstick \{(.*?)\n\}/s)[1];
  const typed = [...types.matchAll(/^ {2}(\w+)\((.*)\): string;$/gm)].map(
    ([, name, parameters]) => `${name} ${count(parameters)}`,
  );
  assert.deepEqual(typed.sort(), bound.sort());
  for (const one of typed) assert.equal(typeof slipstick[one.split(" ")[0]], "function", one);
});

test("the glue evaluates no text, so that the page can forbid it", () => {
  const glue = readFileSync(GLUE, "utf8");
  assert.doesNotMatch(glue, /\beval\s*\(|\bnew Function\b|(?<!WebAssembly\.)\bFunction\s*\(/);
});

test("the module neither throws nor touches files", () => {
  const imports = WebAssembly.Module.imports(compiled).map((one) => one.name);
  assert.deepEqual(
    imports.filter((name) => /throw|invoke_|__cxa|fd_read|path_open|syscall/.test(name)),
    [],
  );
});

test("text crosses the boundary unharmed", () => {
  const name = 'Modell 模型 \u{1F9EE} \\ " \n';
  const report = JSON.parse(slipstick.evaluate(JSON.stringify({ model: { preset: "llama-3.1-70b", name } }), ""));
  assert.equal(report.scenario.model.name, name);
});

test("issues cross the boundary with their paths", () => {
  const { issues } = JSON.parse(slipstick.evaluate('{"training": {"sequence": -1}}', ""));
  assert.deepEqual(
    issues.map((issue) => issue.path),
    ["training.sequence"],
  );
});

test("a hostile request leaves the module able to answer", () => {
  const before = slipstick.evaluate("", "");
  for (const request of ["[".repeat(5e6), '{"a":'.repeat(1e5), "\ud800", "\0", '{"training": {"sequence": 1e999}}']) {
    assert.ok(JSON.parse(slipstick.evaluate(request, "")).issues.length > 0);
  }
  assert.equal(slipstick.evaluate("", ""), before);
});

test("memory does not grow over 1,000 calls", () => {
  const call = (i) => {
    slipstick.evaluate(JSON.stringify({ training: { sequence: 1024 + i } }), i % 250 === 0 ? "*" : "");
    slipstick.evaluate("{", "");
    slipstick.kernel(
      '{"device": {"preset": "h100-sxm5-80gb"}, "operator": {"kind": "gemm", "m": 1, "n": 1024, "k": 1024, "precision": "bf16"}}',
    );
  };
  for (let i = 0; i < 300; ++i) call(i); // two of them explain everything, so the second meets fragmented memory
  const before = memory.buffer.byteLength;
  for (let i = 0; i < 1000; ++i) call(i);
  assert.equal(memory.buffer.byteLength, before);
});
