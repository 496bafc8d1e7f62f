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
// Lines of sources that are compiled together.
const MOST_LINES = 10_000;
/** For headers that the native build generates. */
export const NATIVE = { checks: '', flags: [`-I${ROOT}/build/native/tests`] };

/** The sources below some folders by unit: a whole folder or a single program. */
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

/** The file in which a unit's hash stands once it has passed. */
const passedFile = (name) => join(BUILD, `${name.replaceAll('/', '_')}.passed`);

/** clang-tidy's findings in sources that are compiled together; empty if they pass. */
async function faultsOf(name, sources, options) {
  const unit = join(BUILD, `${name.replaceAll('/', '_')}.cc`);
  writeFileSync(unit, sources.map((path) => `#include "${path}"\n`).join(''));
  try {
    await promisify(execFile)(TIDY, ['--quiet', `--checks=${options.checks}`, unit, '--', ...FLAGS, ...options.flags], {
      cwd: ROOT,
      maxBuffer: 1 << 28,
    });
  } catch (error) {
    return error.stdout || error.stderr || error.message;
  }
  return '';
}

/** The words of a code, beside members, which are names of their type. */
const wordsOf = (code) =>
  new Set(
    code
      .replace(/\/\/.*$/gm, '')
      .replace(/R"(\w*)\([^]*?\)\1"|"(?:[^"\\\n]|\\.)*"/g, '""')
      .replace(/(?:\.|->|::)\s*~?\w+/g, ' ')
      .match(/\b[A-Za-z_]\w*/g),
  );

const declared = new Map();
/** The words with which a header declares something, at the start of its lines. */
function declaredIn(path) {
  if (!declared.has(path)) declared.set(path, wordsOf(textOf(path).replace(/^\s.*$/gm, '')));
  return declared.get(path);
}

/** The names that sources define for themselves alone. */
function ownNames(sources) {
  const names = new Set();
  for (const path of sources)
    for (const [local] of textOf(path).matchAll(/^namespace \{$.*?^\} {2}\/\/ namespace$/gms))
      for (const [, suite, test, type, name] of local.matchAll(
        /^(?:TEST\w*\((\w+), (\w+)|(?:struct|class|enum class|enum|union) (\w+)|(?!namespace)\w[^\n(){}[\]=;]*?[\s&*](\w+) ?[({[=])/gm,
      ))
        names.add(suite ? `${suite}_${test}` : (type ?? name));
  return names;
}

/** Whether a name that one unit has for itself means something else in another one. */
const isConfused = (one, other) =>
  [...one.own].some(
    (name) =>
      other.words.has(name) || other.headers.some((path) => !one.headers.includes(path) && declaredIn(path).has(name)),
  );

/**
 * Units in groups to be compiled together, since what they all include takes most of the time of each. No name is confused in a
 * group, and a group has one program at most.
 */
function grouped(units) {
  const described = units.map(([name, sources]) => ({
    name,
    sources,
    lines: sources.reduce((sum, path) => sum + textOf(path).split('\n').length, 0),
    isProgram: name.endsWith('.cc'),
    own: ownNames(sources),
    words: wordsOf(sources.map(textOf).join('\n')),
    headers: withIncluded(sources).filter((path) => path.endsWith('.h')),
  }));
  const fits = (unit, group) =>
    group.every((one) => !(one.isProgram && unit.isProgram) && !isConfused(one, unit) && !isConfused(unit, one));
  const linesOf = (group) => group.reduce((sum, { lines }) => sum + lines, 0);
  const groups = [];
  for (const unit of described.sort((a, b) => b.lines - a.lines)) {
    const group = groups.find((one) => linesOf(one) + unit.lines <= MOST_LINES && fits(unit, one));
    if (group) group.push(unit);
    else groups.push([unit]);
  }
  return groups;
}

/** clang-tidy's findings in some units, on all cores. `checks` adds checks to .clang-tidy's, or removes them with a minus; `flags` go to the compiler. */
export async function faultsIn(units, options = NATIVE) {
  mkdirSync(BUILD, { recursive: true });
  const hashes = new Map([...units].map(([name, sources]) => [name, hashOf(sources, options)]));
  const hasPassed = ([name]) =>
    existsSync(passedFile(name)) && readFileSync(passedFile(name), 'utf8') === hashes.get(name);
  const waiting = grouped([...units].filter((unit) => !hasPassed(unit)));
  const said = [];
  const note = (faults, ...passed) => {
    said.push(faults);
    if (!faults) for (const { name } of passed) writeFileSync(passedFile(name), hashes.get(name));
  };
  const work = async () => {
    for (let group = waiting.shift(); group; group = waiting.shift()) {
      const [first, ...others] = group;
      const together = group.flatMap(({ sources }) => sources);
      const faults = await faultsOf(`${first.name}${others.length ? '_and_others' : ''}`, together, options);
      if (!faults || others.length === 0) note(faults, ...group);
      // Each by itself: some name may have two meanings only together.
      else for (const { name, sources } of group) note(await faultsOf(name, sources, options), { name });
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return said.join('').replaceAll(ROOT, '');
}
