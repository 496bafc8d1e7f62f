// The linker keeps one copy of the functions that the compiler generates for a type (destructor, copy). If two types
// share a name, one of them gets the other's. No compiler sees both, and whether the program breaks depends on
// inlining.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { filesBelow } from "../support/files.js";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const OF_ONE_FILE = /^namespace \{$.*?^\}  \/\/ namespace$/gms; // these names are local
const TYPE = /^(?:struct|class|enum(?: class)?|union) (\w+(?:<.*?>)?)[^;{}]*\{/gm;

test("every type of the core has a name of its own", () => {
  const places = new Map();
  for (const path of filesBelow(join(ROOT, "core"), /\.(h|cc)$/)) {
    const text = readFileSync(path, "utf8").replace(OF_ONE_FILE, "");
    for (const [, name] of text.matchAll(TYPE)) places.set(name, [...(places.get(name) ?? []), relative(ROOT, path)]);
  }
  assert.ok(places.size > 500 && places.has("Scenario"), String(places.size));
  assert.deepEqual(
    [...places].filter(([, files]) => files.length > 1),
    [],
  );
});
