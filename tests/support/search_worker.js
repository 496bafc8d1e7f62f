// The page's worker under Node; it ends with the test.
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { ROOT } from './module.js';

export function searchWorker(context) {
  const url = pathToFileURL(ROOT + 'build/site/engine/worker.js').href;
  const worker = new Worker(
    `const { parentPort } = require("node:worker_threads");
     globalThis.self = { postMessage: (message) => parentPort.postMessage(message) };
     import(${JSON.stringify(url)}).then(() => parentPort.on("message", (data) => self.onmessage({ data })));`,
    { eval: true },
  );
  context.after(() => worker.terminate());
  return worker;
}
