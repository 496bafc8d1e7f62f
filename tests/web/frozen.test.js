// Links in the wild keep their meaning: each link here opens as the scenario that it meant when it was made, and
// figures of plain arithmetic stay the same to the last digit. Times may move with the model; the goldens test them. A
// link whose meaning must change gets a "migration" that says so. Add a link by hand as a line {"link": "#/…&v=3"} in
// frozen_links.json; FREEZE=1 adds the results of lines without them.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { get } from '../../web/state/paths.js';
import { read, writeShort } from '../../web/state/link.js';
import { requestOf } from '../../web/state/scenario.js';
import { loadSlipstick, ROOT } from '../support/module.js';

const FILE = `${ROOT}tests/web/frozen_links.json`;
const SCENES = ['overview', 'train', 'serve', 'memory', 'chip', 'explore', 'compare', 'lessons', 'method'];
const ARITHMETIC = [
  'training.model_flops_per_step',
  'serving.kv_cache_bytes_per_token',
  'scenario.model.layers',
  'scenario.cluster.devices',
];

const { slipstick } = await loadSlipstick();
const described = JSON.parse(slipstick.describe());
const presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
const evaluate = (inputs) =>
  JSON.parse(slipstick.evaluate(JSON.stringify(requestOf(described.defaults, inputs, presetPaths)), ''));
const frozen = JSON.parse(readFileSync(FILE, 'utf8'));

async function resultsOf(link) {
  const state = await read(link, SCENES);
  assert.deepEqual(state.faults, [], link);
  return [state.inputs, ...state.others].map((inputs) => {
    const report = evaluate(inputs);
    assert.equal(report.issues, undefined, `${link}: ${JSON.stringify(report.issues)}`);
    const figures = ARITHMETIC.map((path) => [path, get(report, path)]).filter(([, value]) => value !== undefined);
    return Object.fromEntries(figures);
  });
}

if (process.env.FREEZE) {
  for (const one of frozen) one.results ??= await resultsOf(one.link);
  writeFileSync(FILE, `[\n${frozen.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`);
}

test('a frozen link of every lesson and every kind of state is kept', () => {
  const lessons = JSON.parse(readFileSync(`${ROOT}web/lessons/index.json`, 'utf8'));
  for (const id of lessons)
    assert.ok(
      frozen.some(({ link }) => link.startsWith(`#/lessons/${id}?`)),
      `lesson ${id} has no link in tests/web/frozen_links.json: add {"link": "#/lessons/${id}?…"}, then run this with FREEZE=1`,
    );
  assert.ok(frozen.length >= lessons.length + 12);
});

// The values of an object by their paths.
const leavesOf = (json, path = '') =>
  json !== null && typeof json === 'object'
    ? Object.entries(json).flatMap(([key, one]) => leavesOf(one, path ? `${path}.${key}` : key))
    : [[path, json]];

// A link from when there was only one default scenario.
test('a link of the first version keeps its meaning', async () => {
  const firsts = frozen.filter(({ link }) => /[?&]v=1$/.test(link));
  assert.ok(firsts.length >= 40);
  for (const { link } of firsts) {
    const state = await read(link, SCENES);
    for (const { version, ...inputs } of [state.inputs, ...state.others]) {
      assert.equal(version, '1', link);
      const { written, ...request } = requestOf(described.defaults, { ...inputs, version }, presetPaths);
      assert.deepEqual(written.slice().sort(), ['version', ...Object.keys(inputs)].sort(), link);
      for (const [path, value] of leavesOf(described.defaults[1])) {
        const isWritten = written.some((one) => path === one || path.startsWith(`${one}.`));
        if (!isWritten) assert.equal(get(request, path), value, `${link}: ${path}`);
      }
    }
  }
});

for (const { link, results, migration } of frozen) {
  test(`${link.slice(0, 90)}`, async () => {
    if (migration) return assert.match(migration, /\S/);
    const now = await resultsOf(link);
    assert.deepEqual(now.map(Object.keys), results.map(Object.keys));
    results.forEach((were, i) => {
      for (const [path, value] of Object.entries(were))
        assert.ok(Math.abs(now[i][path] - value) <= 1e-13 * value, `${path}: ${now[i][path]}, was ${value}`);
    });
    const { faults, ...state } = await read(link, SCENES);
    assert.deepEqual(faults, []);
    assert.deepEqual(await read(await writeShort(state), SCENES), { ...state, faults });
  });
}
