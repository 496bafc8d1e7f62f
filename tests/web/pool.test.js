import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pool } from '../../web/engine/pool.js';

function fakePool() {
  const workers = [];
  const start = () => {
    const worker = {
      sent: [],
      postMessage: (message) => worker.sent.push(message),
      terminate: () => (worker.ended = true),
    };
    worker.say = (data) => worker.onmessage({ data });
    workers.push(worker);
    return worker;
  };
  return { pool: new Pool({ count: 2, start, module: async () => 'module' }), workers };
}

test('advice is heard as it comes, with its seconds, and stopped by its id', async () => {
  const { pool, workers } = fakePool();
  const heard = [];
  const advice = await pool.advise({ request: { a: 1 }, for: 'serving' }, (report, state) =>
    heard.push([report, state]),
  );
  const worker = workers[1];
  const { id, verb, args } = worker.sent.at(-1);
  assert.equal(verb, 'advise');
  assert.deepEqual(JSON.parse(args[0]), { request: { a: 1 }, for: 'serving' });
  worker.say({ id, state: 'running', text: '{"changes":[]}', seconds: 0.2 });
  advice.stop();
  assert.deepEqual(worker.sent.at(-1), { verb: 'stopSteps', id });
  worker.say({ id, state: 'stopped', text: '{"changes":[1]}', seconds: 0.3 });
  worker.say({ id, state: 'done', text: '{}', seconds: 1 });
  assert.deepEqual(heard, [
    [{ changes: [], seconds: 0.2 }, 'running'],
    [{ changes: [1], seconds: 0.3 }, 'stopped'],
  ]);
  const before = worker.sent.length;
  advice.stop();
  assert.equal(worker.sent.length, before, 'what has ended is not stopped');
});

test('callers waiting for advice are told if the module breaks', async () => {
  const { pool, workers } = fakePool();
  let error;
  await pool.advise(
    {},
    () => {},
    (one) => (error = one),
  );
  workers[1].say({ id: workers[1].sent.at(-1).id, error: 'unreachable' });
  assert.match(error.message, /unreachable/);
});
