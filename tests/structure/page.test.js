// Dependencies of the page's modules: each imports what it needs, and is short enough to read as a whole.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import test from "node:test";
import { filesBelow } from "../support/files.js";
import { ROOT } from "../support/module.js";

const WEB = join(ROOT, "web");
const LONGEST = 400; // lines of code
const codeOf = (path) => readFileSync(path, "utf8").replace(/\/\*\*[^]*?\*\/|^\s*\/\/.*$/gm, "");
const nameOf = (path) => relative(ROOT, path);
const modules = filesBelow(WEB, /\.js$/);

test("no module is imported for what it does when it is loaded", () => {
  const faults = modules.flatMap((path) =>
    [...codeOf(path).matchAll(/^\s*(?:await\s+)?import\s*\(?\s*["'][^"']*["']\)?;/gm)].map(
      ([line]) => `${nameOf(path)}: ${line.trim()}: import what it exports, by name`,
    ),
  );
  assert.deepEqual(faults, []);
});

test("modules of the page stay short enough to be read whole", () => {
  const long = modules
    .map((path) => [
      nameOf(path),
      codeOf(path)
        .split("\n")
        .filter((line) => line.trim()).length,
    ])
    .filter(([, lines]) => lines > LONGEST)
    .map(([path, lines]) => `${path} has ${lines} lines of code, ${LONGEST} at most: split it by subject`);
  assert.deepEqual(long, []);
});

// All modules that a module imports, directly or not.
function importedBy(path, seen = new Set()) {
  if (seen.has(path) || !path.startsWith(WEB)) return seen;
  seen.add(path);
  for (const [, target] of codeOf(path).matchAll(/^(?:import|export)\b[^;"']*?\bfrom\s*["'](\.[^"']+)["']/gm)) {
    if (!target.includes("/wasm/")) importedBy(resolve(dirname(path), target), seen);
  }
  return seen;
}

test("a text that a module says is in a table that comes with it", async () => {
  const { english } = await import(join(WEB, "text/english.js"));
  const tables = new Map();
  for (const path of modules.filter((one) => one.endsWith("/texts.js")))
    tables.set(path, Object.keys((await import(path)).texts));
  const faults = modules.flatMap((path) => {
    const keys = new Set([...Object.keys(english), ...[...importedBy(path)].flatMap((one) => tables.get(one) ?? [])]);
    const code = codeOf(path);
    const said = [...code.matchAll(/\bt\(\s*(?:\w+(?:\(\))? \? )?'([^']+)'/g)]
      .map(([, key]) => key)
      .filter((key) => !keys.has(key));
    const begun = [...code.matchAll(/\bt\(\s*`([\w.]+\.)\$\{/g)]
      .map(([, start]) => start)
      .filter((start) => ![...keys].some((key) => key.startsWith(start)));
    return [...said, ...begun].map(
      (key) => `${nameOf(path)}: "${key}" is neither in web/text/english.js nor in a texts.js that this module imports`,
    );
  });
  assert.deepEqual(faults, []);
});
