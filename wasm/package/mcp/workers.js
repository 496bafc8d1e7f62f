// Workers with the core: the server receives messages while one computes, and a call can be ended at any time.
import { Worker } from 'node:worker_threads';

const MOST = 8; // more than cores, so that short questions need not wait for long ones; a worker takes little memory

function start() {
  const one = { thread: new Worker(new URL('./worker.js', import.meta.url)), call: null };
  one.thread.on('message', ({ progress, answer }) =>
    progress ? one.call?.onprogress?.(progress.done, progress.of) : one.call?.resolve(answer),
  );
  one.thread.on('error', (error) => one.call?.reject(error));
  one.thread.on('exit', () => one.call?.reject(new Error('the core ended')));
  return one;
}

export class Workers {
  #idle = [];
  #count = 0;
  #waiting = [];

  // The core's answer. `signal` ends the call and its worker; `onprogress(done, of)` gets its progress.
  async ask(verb, args, { signal, onprogress } = {}) {
    const one = await this.#take();
    if (signal?.aborted) {
      this.#give(one);
      throw signal.reason;
    }
    const abort = () => one.call?.reject(signal.reason);
    try {
      const answer = await new Promise((resolve, reject) => {
        one.call = { resolve, reject, onprogress };
        signal?.addEventListener('abort', abort);
        one.thread.postMessage({ verb, args });
      });
      this.#give(one);
      return answer;
    } catch (error) {
      // A worker that was ended or broke is not reused.
      one.thread.terminate();
      this.#count--;
      if (this.#waiting.length) this.#give(this.#take());
      throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  #take() {
    if (this.#idle.length) return this.#idle.pop();
    if (this.#count === MOST) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#count++;
    return start();
  }

  #give(one) {
    one.call = null;
    const next = this.#waiting.shift();
    if (next) next(one);
    else this.#idle.push(one);
  }
}
