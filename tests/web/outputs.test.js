import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { nameOf } from '../../web/report/names.js';
import { unitOf } from '../../web/text/format.js';
import { outputOf, setOutputs } from '../../web/text/outputs.js';
import { slipstickCommand } from '../support/module.js';

const { outputs } = JSON.parse(slipstickCommand(['describe']));

test('the page calls figures what the core calls them, in its units', () => {
  const before = unitOf('training.run.goodput');
  setOutputs(outputs);
  for (const { path, title, unit = '' } of outputs) {
    assert.equal(nameOf(path.replaceAll('*', '0')), title, path);
    assert.equal(unitOf(path.replaceAll('*', '0')), unit, path);
  }
  assert.equal(before, '');
  assert.equal(unitOf('training.run.goodput'), '%');
  assert.equal(outputOf('cost.dies.12.yield').better, 'larger');
});

test('the page has no other names for figures that the core names', () => {
  const folder = new URL('../../web/', import.meta.url);
  const texts = readdirSync(folder, { recursive: true }).filter((file) => /(english|texts)\.js$/.test(file));
  assert.ok(texts.length >= 4);
  for (const file of texts) {
    for (const [, path] of readFileSync(new URL(file, folder), 'utf8').matchAll(/'name\.([a-z0-9_.]+)'/g)) {
      assert.ok(!outputs.some((one) => one.path === path || one.path.endsWith(`.${path}`)), `${file}: ${path}`);
    }
  }
});

test('figures that a report lacks have the unit in their name', () => {
  assert.equal(unitOf('split.device_usd'), '$');
  assert.equal(unitOf('time_s'), 's');
});
