// Runs clang-tidy on units of C++ sources. Units that have not changed since they passed are skipped (build/tidy).
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { filesBelow } from './files.js';
import { ROOT } from './module.js';

const TIDY = 'clang-tidy-19';
const BUILD = join(ROOT, 'build/tidy');
const FLAGS = [
  '-xc++',
  '-std=c++20',
  `-I${ROOT}`,
  `-DSLIPSTICK_SOURCE_DIR="${ROOT}"`,
  '-DJSON_USE_IMPLICIT_CONVERSIONS=0',
  '-fno-exceptions',
  '-Wall',
  '-Wextra',
  '-Wpedantic',
  '-Wshadow',
  '-Wno-deprecated-declarations',
];
/** For headers that the native build generates. */
export const NATIVE = { checks: '', flags: [`-I${ROOT}/build/native/tests`] };

/** The sources below some folders by unit: a whole folder, since common includes take most of the time, or a single program. */
export function unitsBelow(folders, isProgram) {
  const units = new Map();
  for (const path of folders.flatMap((folder) => filesBelow(join(ROOT, folder), /\.cc$/)).sort()) {
    const name = relative(ROOT, isProgram(path) ? path : dirname(path));
    units.set(name, [...(units.get(name) ?? []), relative(ROOT, path)]);
  }
  return units;
}

const texts = new Map();
function textOf(path) {
  if (!texts.has(path)) texts.set(path, readFileSync(join(ROOT, path), 'utf8'));
  return texts.get(path);
}

/** Files of the project and all that they include, directly or not. */
function withIncluded(paths) {
  const all = new Set(paths);
  for (const path of all)
    for (const [, included] of textOf(path).matchAll(/^#include "(.*)"/gm))
      if (existsSync(join(ROOT, included))) all.add(included);
  return [...all].sort();
}

const version = execFileSync(TIDY, ['--version'], { encoding: 'utf8' });

function hashOf(sources, options) {
  const hash = createHash('sha256').update(version + JSON.stringify(options));
  for (const path of ['.clang-tidy', 'tests/support/tidy.js', ...withIncluded(sources)])
    hash.update(`\n${path}\n`).update(textOf(path));
  return hash.digest('hex');
}

/** clang-tidy's findings in a unit; empty if it passes. */
async function faultsOf(name, sources, options) {
  const unit = join(BUILD, `${name.replaceAll('/', '_')}.cc`);
  const passed = `${unit}.passed`;
  const hash = hashOf(sources, options);
  if (existsSync(passed) && readFileSync(passed, 'utf8') === hash) return '';
  writeFileSync(unit, sources.map((path) => `#include "${path}"\n`).join(''));
  try {
    await promisify(execFile)(TIDY, ['--quiet', `--checks=${options.checks}`, unit, '--', ...FLAGS, ...options.flags], {
      cwd: ROOT,
      maxBuffer: 1 << 28,
    });
  } catch (error) {
    return error.stdout || error.stderr || error.message;
  }
  writeFileSync(passed, hash);
  return '';
}

/** clang-tidy's findings in some units, on all cores. `checks` adds checks to .clang-tidy's, or removes them with a minus; `flags` go to the compiler. */
export async function faultsIn(units, options = NATIVE) {
  mkdirSync(BUILD, { recursive: true });
  const waiting = [...units];
  const said = [];
  const work = async () => {
    while (waiting.length > 0) said.push(await faultsOf(...waiting.shift(), options));
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return said.join('').replaceAll(ROOT, '');
}
