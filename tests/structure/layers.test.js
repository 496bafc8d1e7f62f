// Allowed includes and imports. The two tables are the architecture: a folder may use itself and the folders in its
// row.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, existsSync } from "node:fs";
import { join, dirname, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import test from "node:test";
import { filesBelow } from "../support/files.js";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

const WORKLOAD = ["base"];
const HARDWARE = ["base", "workload"];
const SOFTWARE = ["base", "workload"];
const MAPPING = ["base", "workload", "hardware", "software"];
const KERNELS = [...MAPPING, "mapping"];
const COMPOSITION = [...KERNELS, "operators", "collectives"];
const SERVING = [...COMPOSITION, "engine_step"];
const TRAINING = [...COMPOSITION, "training_stage"];
const SEARCH = [...SERVING, "training_stage", "training", "serving"];
const ECONOMICS = ["base", "workload", "hardware"];

const SCENARIO = [
  ...SEARCH,
  "simulation",
  "post_training",
  "diffusion",
  "search",
  "economics",
  "technology",
  "catalogue",
];

// The folders that answer requests as JSON text: only these are visible to the page and the command line.
const FACE = ["api", "exploration", "sizing", "advice", "replay", "studies", "import", "scenario"];

const CORE = {
  base: [],
  workload: WORKLOAD,
  hardware: HARDWARE,
  software: SOFTWARE,
  mapping: MAPPING,
  operators: KERNELS,
  collectives: [...KERNELS, "operators"],
  training_stage: COMPOSITION,
  training: TRAINING,
  engine_step: COMPOSITION,
  serving: SERVING,
  simulation: [...SERVING, "serving"],
  post_training: [...SEARCH, "simulation"],
  diffusion: COMPOSITION,
  economics: ECONOMICS,
  technology: [...ECONOMICS, "economics"],
  search: SEARCH,
  evidence: [...SEARCH, "diffusion"],
  catalogue: [...KERNELS, "operators", "collectives"],
  scenario: [...SCENARIO, "evidence"],
  evaluation: [...SCENARIO, "scenario", "evidence"],
  exploration: [...SCENARIO, "scenario", "evaluation"],
  sizing: [...SCENARIO, "scenario", "evaluation", "exploration"],
  advice: [...SCENARIO, "scenario", "evaluation", "exploration", "sizing"],
  replay: [...SCENARIO, "scenario", "evaluation", "sizing"],
  import: ["base", "workload", "scenario"],
  studies: [...SCENARIO, "scenario", "evidence", "evaluation", "exploration"],
  api: [...SCENARIO, "scenario", "evaluation"],
  text: [...SCENARIO, "scenario", "evaluation", "sizing"],
  command_line: ["base", ...FACE, "text"],
};

// JSON is read before the model and written after it; the model itself does not use it.
const MAY_SEE_JSON = [
  "base",
  "catalogue",
  "scenario",
  "evaluation",
  "exploration",
  "sizing",
  "advice",
  "replay",
  "import",
  "studies",
  "api",
  "text",
];

const SOURCES = /\.(h|cc)$/;
const includesOf = (path) =>
  [...readFileSync(path, "utf8").matchAll(/^\s*#include\s*["<]([^">]+)[">]/gm)].map((match) => match[1]);

test("core's includes follow the layers", () => {
  const faults = [];
  for (const path of filesBelow(join(ROOT, "core"), SOURCES)) {
    const place = relative(ROOT, path).split(sep).join("/");
    const folder = place.split("/")[1];
    if (!(folder in CORE)) {
      faults.push(`${place}: core/${folder} has no row in the table CORE of this test`);
      continue;
    }
    for (const include of includesOf(path)) {
      if (include.startsWith("nlohmann/") && place !== "core/base/json.h")
        faults.push(`${place} includes ${include}: use core/base/json.h`);
      const [top, used] = include.split("/");
      if (["wasm", "web", "tests"].includes(top)) faults.push(`${place} includes ${include}`);
      if (top !== "core") continue;
      if (used !== folder && !CORE[folder].includes(used))
        faults.push(`${place} includes ${include}, which is not below core/${folder} (core/README.md, The map)`);
      if (/^core\/base\/(json|schema)\.h$/.test(include) && !MAY_SEE_JSON.includes(folder))
        faults.push(`${place} includes ${include}: only ${MAY_SEE_JSON.join(", ")} may`);
    }
  }
  assert.deepEqual(faults, []);
});

// No file includes itself indirectly. A component is a header with its source and field table.
test("files inside a folder form layers", () => {
  const componentOf = (name) => name.replace(/\.(h|cc)$/, "").replace(/_fields$/, "");
  for (const folder of Object.keys(CORE)) {
    const used = new Map();
    for (const path of filesBelow(join(ROOT, "core", folder), SOURCES)) {
      const component = componentOf(path.split(sep).at(-1));
      const siblings = includesOf(path).filter((include) => dirname(include) === `core/${folder}`);
      const others = siblings
        .map((include) => componentOf(include.split("/").at(-1)))
        .filter((name) => name !== component);
      used.set(component, new Set([...(used.get(component) ?? []), ...others]));
    }
    const done = new Set();
    const visit = (component, trail) => {
      assert.ok(!trail.includes(component), `core/${folder}: ${[...trail, component].join(" -> ")}`);
      if (done.has(component)) return;
      for (const other of used.get(component) ?? []) visit(other, [...trail, component]);
      done.add(component);
    };
    for (const component of used.keys()) visit(component, []);
  }
});

test("wasm names nothing of core but what answers requests", () => {
  const faults = filesBelow(join(ROOT, "wasm"), SOURCES).flatMap((path) =>
    includesOf(path)
      .filter((include) => include.startsWith("core/") && !FACE.includes(include.split("/")[1]))
      .map((include) => `${relative(ROOT, path)} includes ${include}`),
  );
  assert.deepEqual(faults, []);
});

test("core has no exceptions, no output and no state", () => {
  const faults = [];
  for (const path of filesBelow(join(ROOT, "core"), SOURCES)) {
    const place = relative(ROOT, path).split(sep).join("/");
    if (place.startsWith("core/command_line/")) continue;
    for (const include of includesOf(path)) {
      if (/^(iostream|fstream|filesystem|thread|mutex|random|chrono|ctime)$/.test(include))
        faults.push(`${place} includes <${include}>: the core is a pure function, without I/O, threads or clocks`);
    }
    const text = readFileSync(path, "utf8")
      .replace(/\/\/.*$/gm, "")
      .replace(/"(\\.|[^"\\])*"/g, '""');
    for (const [word] of text.matchAll(/\b(throw|catch|dynamic_cast|typeid|getenv|printf|fopen|stdin|stdout)\b/g))
      faults.push(`${place} says ${word}: what goes wrong is an issue in a Result, what is read is an argument`);
    for (const [line] of text.matchAll(
      /^\s*(static|thread_local|inline)\s+(?!const|constexpr|inline|_assert)[\w:<>,\s*&]+\s(=|\{[^}]*\};)/gm,
    )) {
      faults.push(`${place} keeps state, make it const: ${line.trim()}`);
    }
  }
  assert.deepEqual(faults, []);
});

const COMMENT = /^\s*(\/\/.*|\/\*\*.*\*\/)$/gm; // whole-line comments, which may name types
const importsOf = (path) =>
  [
    ...readFileSync(path, "utf8")
      .replace(COMMENT, "")
      .matchAll(
        /(?:^|\s)(?:import|export)\s*(?:[^"';]*?\sfrom\s*)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)/g,
      ),
  ].map((match) => match[1] ?? match[2]);

test("the page imports only its own files, by relative paths, and only engine names wasm", () => {
  const web = join(ROOT, "web");
  const faults = [];
  for (const path of filesBelow(web, /\.js$/)) {
    const place = relative(ROOT, path).split(sep).join("/");
    for (const target of importsOf(path)) {
      if (!target.startsWith(".")) {
        faults.push(`${place} imports ${target}`);
        continue;
      }
      const file = resolve(dirname(path), target);
      if (relative(web, file).startsWith("wasm" + sep)) {
        if (!place.startsWith("web/engine/")) faults.push(`${place} imports ${target}: only web/engine may`);
      } else if (!existsSync(file)) {
        faults.push(`${place} imports ${target}, which is not there`);
      }
    }
  }
  assert.deepEqual(faults, []);
});

test("the top level holds only what a visitor should see", () => {
  const allowed = ["CMakeLists.txt", "README.md", "core", "tests", "wasm", "web", "build"];
  const shown = readdirSync(ROOT).filter((name) => !name.startsWith("."));
  assert.deepEqual(
    shown.filter((name) => !allowed.includes(name)),
    [],
  );
});

test("files of core stay short enough to be read whole", () => {
  const long = filesBelow(join(ROOT, "core"), SOURCES)
    .map((path) => [relative(ROOT, path), readFileSync(path, "utf8").split("\n").length - 1])
    .filter(([, lines]) => lines > 400)
    .map(([path, lines]) => `${path} has ${lines} lines, 400 at most: split it by subject`);
  assert.deepEqual(long, []);
});
