// A worker of the server: gets a verb of the package and its arguments, sends progress and the answer.
import { parentPort } from 'node:worker_threads';
import { load } from '../index.js';

const TELL_MS = 100;
const core = await load();

parentPort.on('message', ({ verb, args }) => {
  let last = -TELL_MS;
  const onprogress = (done, of) => {
    if (performance.now() - last < TELL_MS) return;
    last = performance.now();
    parentPort.postMessage({ progress: { done, of } });
  };
  parentPort.postMessage({ answer: core[verb](...args, { onprogress }) });
});
