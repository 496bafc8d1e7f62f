import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Answering } from '../../web/engine/answering.js';
import { Engine } from '../../web/engine/engine.js';
import { Questions } from '../../web/engine/questions.js';

// A worker that answers only when the test says so.
function slowWorker() {
  const worker = {
    sent: [],
    postMessage: (message) => worker.sent.push(message),
    terminate: () => (worker.ended = true),
  };
  worker.answer = (text) => worker.onmessage({ data: { id: worker.sent.at(-1).id, text } });
  worker.fail = (error) => worker.onmessage({ data: { id: worker.sent.at(-1).id, error } });
  return worker;
}

test('one call is in flight, and of the evaluations that wait only the latest is answered', async () => {
  const worker = slowWorker();
  const engine = new Engine(() => worker);
  const answers = ['a', 'b', 'c'].map((name) => engine.evaluate({ name }));
  assert.equal(worker.sent.length, 1);
  worker.answer('{"n":1}');
  assert.equal(worker.sent.length, 2);
  assert.match(worker.sent[1].args[0], /"c"/);
  worker.answer('{"n":3}');
  assert.deepEqual(await Promise.all(answers), [{ n: 1 }, null, { n: 3 }]);
});

test('a repeated question without a faulty part does not replace later inputs', async () => {
  const worker = slowWorker();
  const answering = new Answering(() => {});
  answering.engine = new Engine(() => worker);
  const scenario = { model: {}, cluster: {}, training: { tokens: 1 }, serving: {}, cost: {} };
  Object.assign(answering, { described: { defaults: { 3: scenario } }, presetPaths: [] });
  const said = [];
  const change = (tokens) =>
    answering.evaluate(
      { 'training.tokens': tokens },
      { onreport: () => said.push(answering.issues.length), onbase() {} },
    );
  const wrong = change('2');
  const right = change('2T');
  const fault = { issues: [{ path: 'training.tokens', message: 'too few', fixes: [] }] };
  worker.answer(JSON.stringify(fault));
  await new Promise(setImmediate);
  worker.answer('{"scenario": {}}'); // to the later inputs
  await new Promise(setImmediate);
  worker.answer('{"scenario": {}}'); // to the former without training
  await new Promise(setImmediate);
  worker.answer('{"scenario": {}}'); // to the presets alone
  assert.deepEqual(await Promise.all([wrong, right]), [false, true]);
  assert.deepEqual(said, [0], 'the fault is not said any more');
});

test('evaluations go before other questions', async () => {
  const worker = slowWorker();
  const engine = new Engine(() => worker);
  const describe = engine.call('describe');
  const sweep = engine.call('sweep', {}, 0, 10);
  const report = engine.evaluate({});
  worker.answer('1');
  assert.equal(worker.sent[1].verb, 'evaluate');
  worker.answer('2');
  assert.equal(worker.sent[2].verb, 'sweep');
  worker.answer('3');
  assert.deepEqual(await Promise.all([describe, report, sweep]), [1, 2, 3]);
});

test('a module that breaks is replaced, and the next question is answered', async () => {
  const workers = [];
  const engine = new Engine(() => (workers.push(slowWorker()), workers.at(-1)));
  const broken = engine.evaluate({});
  const next = engine.call('describe');
  workers[0].fail('unreachable');
  await assert.rejects(broken, /unreachable/);
  assert.ok(workers[0].ended);
  workers[1].answer('[]');
  assert.deepEqual(await next, []);
});

test('a report that is known is answered without the core, in its turn', async () => {
  const workers = [];
  const engine = new Engine(() => (workers.push(slowWorker()), workers.at(-1)));
  const known = { report: 1 };
  engine.know({ a: 1 }, known);
  assert.equal(await engine.evaluate({ a: 1 }), known);
  assert.equal(workers.length, 0, 'no core is fetched for it');
  const order = [];
  const other = engine.evaluate({ a: 2 }).then(() => order.push(2));
  const again = engine.evaluate({ a: 1 }).then(() => order.push(1));
  workers[0].answer('{}');
  await Promise.all([other, again]);
  assert.deepEqual(order, [2, 1]);
  const explained = engine.evaluate({ a: 1 }, '*');
  workers[0].answer('{"explanations":[]}');
  assert.deepEqual(await explained, { explanations: [] });
});

test('questions that wait can be dropped', async () => {
  const worker = slowWorker();
  const engine = new Engine(() => worker);
  engine.call('describe');
  const waiting = engine.call('sweep', {}, 0, 1);
  engine.dropWaiting();
  assert.equal(await waiting, null);
});

test('a question that must be answered is repeated if it was dropped', async () => {
  const worker = slowWorker();
  const engine = new Engine(() => worker);
  engine.call('version');
  const described = engine.ask('describe');
  engine.dropWaiting();
  await Promise.resolve();
  worker.answer('{}');
  await new Promise(setImmediate);
  assert.equal(worker.sent.at(-1).verb, 'describe');
  worker.answer('{"inputs":[]}');
  assert.deepEqual(await described, { inputs: [] });
});

test('a report does not wait for what a scene has asked, and the module is fetched once for both', async () => {
  const workers = [];
  let fetched = 0;
  globalThis.document = { hidden: true };
  globalThis.Worker = function () {
    workers.push(slowWorker());
    return workers.at(-1);
  };
  const fetchBefore = globalThis.fetch;
  globalThis.fetch = () => (fetched++, new Promise(() => {}));
  const answering = new Answering(() => {});
  answering.questions.ask('solve', {}, 'serving.concurrency=1:64', 'serving.tpot_s<=1 s');
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(workers[0].sent[0].verb, 'solve');
  const report = answering.engine.evaluate({});
  assert.equal(workers[1].sent[0].verb, 'evaluate');
  workers[1].answer('{"training":null}');
  assert.deepEqual(await report, { training: null });
  assert.equal(fetched, 1);
  globalThis.fetch = fetchBefore;
  delete globalThis.Worker;
  delete globalThis.document;
});

test('a sweep that a scene asks goes row by row, so that it ends when the inputs change', async () => {
  globalThis.document = { hidden: true };
  const asked = [];
  const engine = {
    call: async (verb, spec, from, to) => {
      asked.push([from, to]);
      if (from === 1) questions.clear();
      return { size: 4, rows: [{ inputs: [from] }] };
    },
  };
  let answered = 0;
  const questions = new Questions(engine, () => answered++);
  const patience = () => new Promise((resolve) => setTimeout(resolve, 300));
  questions.ask('sweep', { axes: [] }, 2, 4);
  await patience();
  assert.deepEqual(asked, [
    [2, 3],
    [3, 4],
  ]);
  assert.deepEqual(questions.ask('sweep', { axes: [] }, 2, 4).rows, [{ inputs: [2] }, { inputs: [3] }]);
  assert.equal(answered, 1);
  asked.length = 0;
  questions.ask('sweep', { axes: [] }, 0, 4);
  await patience();
  assert.deepEqual(
    asked,
    [
      [0, 1],
      [1, 2],
    ],
    'the inputs have changed: no further row is asked',
  );
  assert.equal(answered, 1);
  delete globalThis.document;
});
