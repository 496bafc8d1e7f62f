// clang-tidy finds nothing in the C++ code (.clang-tidy). A folder is one unit, since most of the time goes into what all files
// include; a unit in which nothing changed since it passed is not read again (build/tidy).
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, relative } from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import { filesBelow } from "../support/files.js";
import { ROOT } from "../support/module.js";

const TIDY = "clang-tidy-19";
const BUILD = join(ROOT, "build/tidy");
const FLAGS = [
  "-xc++",
  "-std=c++20",
  `-I${ROOT}`,
  "-DJSON_USE_IMPLICIT_CONVERSIONS=0",
  "-fno-exceptions",
  "-Wall",
  "-Wextra",
  "-Wpedantic",
  "-Wshadow",
  "-Wno-deprecated-declarations",
];
// Not wasm/bindings.cc, which only Emscripten compiles.
const SOURCES = ["core"];

/** Sources by folder; the second program of a folder by itself. */
function units() {
  const folders = new Map();
  for (const path of SOURCES.flatMap((folder) => filesBelow(join(ROOT, folder), /\.cc$/)).sort()) {
    const name = relative(ROOT, path.endsWith("_main.cc") ? path : dirname(path));
    folders.set(name, [...(folders.get(name) ?? []), relative(ROOT, path)]);
  }
  return folders;
}

const texts = new Map();
function textOf(path) {
  if (!texts.has(path)) texts.set(path, readFileSync(join(ROOT, path), "utf8"));
  return texts.get(path);
}

/** Files of the project and those that they include, in turn. */
function withIncluded(paths) {
  const all = new Set(paths);
  for (const path of all)
    for (const [, included] of textOf(path).matchAll(/^#include "(.*)"/gm))
      if (existsSync(join(ROOT, included))) all.add(included);
  return [...all].sort();
}

const version = execFileSync(TIDY, ["--version"], { encoding: "utf8" });

function hashOf(sources) {
  const hash = createHash("sha256").update(version);
  for (const path of [".clang-tidy", "tests/structure/tidy.test.js", ...withIncluded(sources)])
    hash.update(`\n${path}\n`).update(textOf(path));
  return hash.digest("hex");
}

/** What clang-tidy says of a unit; nothing where it passes. */
async function faultsOf(name, sources) {
  const unit = join(BUILD, `${name.replaceAll("/", "_")}.cc`);
  const passed = `${unit}.passed`;
  const hash = hashOf(sources);
  if (existsSync(passed) && readFileSync(passed, "utf8") === hash) return "";
  writeFileSync(unit, sources.map((path) => `#include "${path}"\n`).join(""));
  try {
    await promisify(execFile)(TIDY, ["--quiet", unit, "--", ...FLAGS], { cwd: ROOT, maxBuffer: 1 << 28 });
  } catch (error) {
    return error.stdout || error.stderr || error.message;
  }
  writeFileSync(passed, hash);
  return "";
}

test("C++", async () => {
  mkdirSync(BUILD, { recursive: true });
  const waiting = [...units()];
  assert.ok(waiting.length > 30, `${waiting.length} units`);
  const said = [];
  const work = async () => {
    while (waiting.length > 0) said.push(await faultsOf(...waiting.shift()));
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  assert.equal(said.join("").replaceAll(ROOT, ""), "");
});
