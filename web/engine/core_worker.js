// Workers with the core, which is fetched and compiled once for all of them.
import { compileCore, startWorker } from '../host.js';

/** @type {Promise<WebAssembly.Module> | null} */
let module = null;

// If loading failed, the next question tries again.
export function coreModule() {
  module ??= compileCore().catch((error) => {
    module = null;
    throw error;
  });
  return module;
}

// A worker that answers calls; calls that arrive before the module wait for it.
export function coreWorker() {
  const worker = startWorker('worker');
  coreModule().then(
    (one) => worker.postMessage({ module: one }),
    ({ message }) => worker.dispatchEvent(new ErrorEvent('error', { message })),
  );
  return worker;
}
