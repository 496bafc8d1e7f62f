// The module that the page runs must confirm the claims of the lessons.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { check, scenariosOf, valueOf } from '../../web/lessons/expect.js';
import { requestOf } from '../../web/state/scenario.js';
import { t } from '../../web/text/strings.js';
import { loadSlipstick, ROOT } from '../support/module.js';

const { slipstick } = await loadSlipstick();
const described = JSON.parse(slipstick.describe());
const presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
const evaluate = (inputs) =>
  JSON.parse(
    slipstick.evaluate(JSON.stringify(requestOf(described.defaults, { ...inputs, version: '1' }, presetPaths)), ''),
  );
const json = (path) => JSON.parse(readFileSync(`${ROOT}web/${path}`, 'utf8'));
const outputs = new Set(described.outputs.map(({ path }) => path));
const SCENES = ['overview', 'train', 'serve', 'memory', 'chip'];

for (const id of json('lessons/index.json')) {
  const lesson = json(`lessons/${id}.json`);

  test(`lesson ${id} has what a lesson needs`, () => {
    assert.equal(lesson.id, id);
    for (const member of ['title', 'question', 'takeaway']) assert.match(lesson[member], /\S/, member);
    assert.equal(lesson.predict.ranges.length, lesson.predict.choices.length);
    for (const path of lesson.watch)
      assert.ok(outputs.has(path.replace(/\.\d+(?=\.)/, '.*')), `watch: ${path} is no output`);
    assert.ok(SCENES.includes(lesson.scene.split('/')[0]), `scene: ${lesson.scene} is none of ${SCENES}`);
    for (const member of ['steps', 'expect', 'sources'])
      assert.ok(lesson[member]?.length, `${member}: a list of at least one`);
  });

  test(`what lesson ${id} claims comes out`, () => {
    const reports = Object.fromEntries(
      Object.entries(scenariosOf(lesson)).map(([letter, inputs]) => [letter, evaluate(inputs)]),
    );
    for (const [letter, report] of Object.entries(reports))
      assert.equal(report.issues, undefined, `${letter}: ${JSON.stringify(report.issues)}`);
    for (const { expr } of lesson.expect) {
      const { holds, left, right, missing } = check(expr, reports);
      assert.ok(holds, `${expr}: ${left} against ${right} ${missing}`);
    }
  });

  // Only the choice marked as right may be true.
  test(`the keyed answer of lesson ${id} follows from its reports`, () => {
    const reports = Object.fromEntries(
      Object.entries(scenariosOf(lesson)).map(([letter, inputs]) => [letter, evaluate(inputs)]),
    );
    const value = valueOf(lesson.predict.asks, reports);
    const right = lesson.predict.ranges.flatMap(([low, high], i) => (value >= low && value <= high ? [i] : []));
    assert.deepEqual(right, [lesson.predict.answer], `${lesson.predict.asks} = ${value}`);
  });

  test(`every step of lesson ${id} is a scenario that answers`, () => {
    let inputs = { ...lesson.start };
    for (const { set } of lesson.steps) {
      inputs = { ...inputs, ...set };
      assert.equal(evaluate(inputs).issues, undefined, JSON.stringify(set));
    }
  });
}

test('the course is ten of the lessons, on serving, training, cost and energy', () => {
  const course = json('lessons/course.json');
  const all = json('lessons/index.json');
  assert.equal(new Set(course).size, 10);
  for (const id of course) assert.ok(all.includes(id), id);
  const scenes = new Set(course.map((id) => json(`lessons/${id}.json`).scene.split('/')[0]));
  for (const scene of ['serve', 'train', 'chip']) assert.ok(scenes.has(scene), scene);
});

test('Start shows the number of lessons', () => {
  assert.equal(t('overview.example.lessons'), `${json('lessons/index.json').length} lessons`);
});

test('a false expectation is detected', () => {
  const reports = { A: { serving: { tpot_s: 2, feasible: true } } };
  assert.equal(check('A.serving.tpot_s < 1', reports).holds, false);
  assert.equal(check('A.serving.tpot_s = 2', reports).holds, true);
  assert.equal(check('A.serving.feasible = 1', reports).holds, true);
  assert.equal(check('A.serving.tpot_s > 1 and A.serving.tpot_s < 3', reports).holds, true);
  assert.equal(check('A.serving.tpot_s > 1 and A.serving.tpot_s < 2', reports).holds, false);
  assert.deepEqual(check('A.serving.none < 1', reports).missing, ['A.serving.none']);
  assert.throws(() => check('A.serving.tpot_s', reports), /comparison/);
});
