// The linker keeps one copy of what the compiler makes of a type (its destructor, its copy): of two types of one name, the wrong one for
// one of them. No compiler sees both, and whether a program breaks hangs on what was inlined.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { filesBelow } from "../support/files.js";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const OF_ONE_FILE = /^namespace \{$.*?^\}  \/\/ namespace$/gms; // names in here meet nobody
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
