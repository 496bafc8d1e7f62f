// Published runs as the page reads them: evaluated as scenarios, they give the values in the table of runs.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { inputsOf, rowsById, runWords, signedShare } from '../../web/evidence/runs.js';
import { grouped, summaryOf, worstFirst } from '../../web/evidence/summary.js';
import { get } from '../../web/state/paths.js';
import { requestOf } from '../../web/state/scenario.js';
import { loadSlipstick } from '../support/module.js';

const { slipstick } = await loadSlipstick();
const described = JSON.parse(slipstick.describe());
const presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
const FOLDER = new URL('../../core/presets/evidence/', import.meta.url);
const ids = readdirSync(FOLDER).map((name) => name.replace('.json', ''));
const textOf = (id) => readFileSync(new URL(`${id}.json`, FOLDER), 'utf8');

test('every run can be loaded as the scenario, and gives the value behind its error', () => {
  let count = 0;
  for (const id of ids) {
    const rows = rowsById(JSON.parse(textOf(id)));
    for (const run of JSON.parse(slipstick.measurements(id, textOf(id))).runs) {
      const { row } = rows.get(run.id);
      const report = JSON.parse(
        slipstick.evaluate(JSON.stringify(requestOf(described.defaults, inputsOf(rows.get(run.id)), presetPaths)), ''),
      );
      assert.equal(report.issues, undefined, `${run.id}: ${JSON.stringify(report.issues)}`);
      const figure =
        row.figure.startsWith('training.') && run.kind !== 'training_memory' ? 'training.step_time_s' : row.figure;
      assert.ok(
        Math.abs(get(report, figure) / run.computed - 1) < 1e-9,
        `${run.id}: ${get(report, figure)} against ${run.computed}`,
      );
      ++count;
    }
  }
  assert.ok(count >= 600);
});

test('a run in words says what ran where, under what, and how', () => {
  const source = JSON.parse(textOf('nvidia-dgxc'));
  const [row] = source.rows.filter(({ id }) => id === 'dgxc-v25.02-llama3-70b-BF16-H100-256');
  const named = (kind, id) =>
    ({ 'device/h100-sxm5-80gb': 'H100', 'software/megatron': 'Megatron-Core' })[`${kind}/${id}`];
  const { what, how } = runWords({ row, source }, { device: 'h100-sxm5-80gb', software: 'megatron' }, named);
  assert.equal(what, 'Llama-3-70B on 256 × H100, Megatron-Core, bf16');
  assert.match(how, /^8,192 × 512 tokens, TP 4 PP 4/);
});

test('a made image in words says its model, devices, steps and how it is shared', () => {
  const source = JSON.parse(textOf('xdit-hunyuanvideo'));
  const row = source.rows.find(({ id }) => id === 'xdit-hunyuanvideo-h100-960x960-ulysses-6');
  const named = (kind, id) =>
    ({ 'device/h100-sxm5-80gb': 'H100', 'diffusion_model/hunyuanvideo': 'HunyuanVideo' })[`${kind}/${id}`];
  const { what, how } = runWords({ row, source }, { device: 'h100-sxm5-80gb', software: 'eager' }, named);
  assert.equal(what, 'HunyuanVideo on 6 × H100, eager');
  assert.equal(how, '960 × 960, attention flash2, Ulysses 6');
});

test('errors are summarized by hand: median, mean, worst', () => {
  const runs = [0.1, -0.3, 0.2].map((error, i) => ({ id: `${i}`, error, kind: i < 2 ? 'a' : 'b' }));
  const { count, median, mean, worst } = summaryOf(runs);
  assert.deepEqual([count, median, worst.id], [3, 0.2, '1']);
  assert.ok(Math.abs(mean - 0.2) < 1e-12);
  assert.deepEqual(
    worstFirst(runs).map(({ id }) => id),
    ['1', '2', '0'],
  );
  assert.deepEqual(
    grouped(runs, ({ kind }) => kind).map(([key, list]) => [key, list.length]),
    [
      ['a', 2],
      ['b', 1],
    ],
  );
  assert.equal(signedShare(-0.034), '−3.4\u00a0%');
  assert.equal(signedShare(0.18), '+18\u00a0%');
});
