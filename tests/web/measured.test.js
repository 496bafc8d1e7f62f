import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read, write } from '../../web/state/link.js';
import { measurementsIn, withMeasured, withMeasuredKept, withoutMeasured } from '../../web/state/measured.js';
import { Store } from '../../web/state/store.js';

const BATCH = { 'serving.batch': '64' };

test('a measurement is two inputs, a second one of the same figure takes its place', () => {
  const one = withMeasured(BATCH, 'serving.tpot_s', '0.021');
  assert.deepEqual(one, { ...BATCH, 'measured.0.path': 'serving.tpot_s', 'measured.0.value': '0.021' });
  const two = withMeasured(withMeasured(one, 'training.step_time_s', '9'), 'serving.tpot_s', '0.03');
  assert.deepEqual(
    measurementsIn(two).map(({ path, value }) => [path, value]),
    [
      ['training.step_time_s', '9'],
      ['serving.tpot_s', '0.03'],
    ],
  );
  assert.deepEqual(withoutMeasured(two, 'training.step_time_s'), {
    ...BATCH,
    'measured.0.path': 'serving.tpot_s',
    'measured.0.value': '0.03',
  });
});

test('another input that changes does not move the measurement: it says where it was made', () => {
  const one = withMeasured({ ...BATCH, 'model.name': 'A&B 5%' }, 'serving.tpot_s', '0.021');
  const changed = withMeasuredKept(one, { ...one, 'serving.batch': '128' }, { 'serving.mapping.tp': '8' });
  assert.equal(changed['measured.0.at'], 'version=3&model.name=A%26B 5%25&serving.batch=64&serving.mapping.tp=8');
  const again = withMeasuredKept(changed, { ...changed, 'serving.batch': '16' });
  assert.equal(again['measured.0.at'], changed['measured.0.at'], 'stays where it was made');
  const second = withMeasuredKept(again, withMeasured(again, 'training.step_time_s', '9'));
  assert.equal(second['measured.1.at'], undefined, 'a new one is of the scenario as it is');
});

test('the store keeps measurements through every way of editing, and undo takes one back', () => {
  const store = new Store({ scene: 'overview', inputs: {} });
  store.setInputs(withMeasured(store.inputs, 'serving.tpot_s', '0.021'));
  for (const edit of [
    () => store.set('serving.batch', '8'),
    () => store.pick('model', 'llama-3.1-8b'),
    () => store.reset('serving.batch'),
  ]) {
    edit();
    assert.equal(store.inputs['measured.0.at'], 'version=3');
  }
  for (let i = 0; i < 4; i++) store.undo();
  assert.deepEqual(store.inputs, {});
});

test('the link holds it', async () => {
  const inputs = withMeasuredKept({}, withMeasured(BATCH, 'serving.tpot_s', '21 ms'));
  const link = write({ scene: 'serve', inputs });
  assert.match(link, /measured\.0\.path=serving\.tpot_s&measured\.0\.value=21\+ms/);
  assert.deepEqual((await read(link, ['overview', 'serve'])).inputs, inputs);
});

// Walking a list of 4,294,967,294 places took minutes.
test('an index beyond the list of measurements is ignored', () => {
  assert.deepEqual(
    measurementsIn({
      'measured.4294967294.path': 'serving.tpot_s',
      'measured.4294967294.value': '21 ms',
      'measured.1.path': 'serving.ttft_s',
    }),
    [{ path: 'serving.ttft_s' }],
  );
});
