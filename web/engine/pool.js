// Workers for long questions, each with its own instance of a module that is compiled once. A search is cut into as many shards
// as there are workers and merged by the core, so that their number does not show in the answer.
import { startWorker } from '../host.js';
import { coreModule } from './core_worker.js';

const MOST = 8;
const MERGE_MS = 300;

// With more than two cores, one is left to the page, which needs little.
export const workersFor = (cores) => Math.max(2, Math.min(MOST, (cores || 2) - 1));

// The shards of a search, as the specs that workers begin.
export const shardSpecs = (spec, shards) => Array.from({ length: shards }, (_, shard) => ({ ...spec, shard, shards }));

// Seconds until the end at the present pace; undefined before there is a pace.
export function timeLeft({ done, space }, seconds) {
  return done > 0 && seconds > 0.2 ? (seconds * (space - done)) / done : undefined;
}

export class Pool {
  #count;
  #start;
  #compile;
  #workers = null;
  #module = null;
  #calls = new Map();
  #next = 1;
  #searching = [];

  /** @param {{count?: number, start?: () => Worker, module?: () => Promise<WebAssembly.Module>}} [options] */
  constructor({ count = workersFor(navigator.hardwareConcurrency), start, module = coreModule } = {}) {
    this.#count = count;
    this.#start = start ?? (() => startWorker('worker'));
    this.#compile = module;
  }

  get size() {
    return this.#count;
  }

  async #open() {
    this.#workers ??= this.#compile().then((module) => {
      this.#module = module;
      return Array.from({ length: this.#count }, () => this.#worker());
    });
    try {
      return await this.#workers;
    } catch (error) {
      this.#workers = null;
      throw error;
    }
  }

  #worker() {
    const worker = this.#start();
    worker.onmessage = ({ data }) => this.#hear(data);
    worker.onerror = (event) => this.#break(event.message || 'the worker failed to start');
    worker.postMessage({ module: this.#module });
    return worker;
  }

  // Ends a worker in the middle of its work; a new one takes over its other tasks.
  #renew(workers, at) {
    const ended = workers[at];
    ended.terminate();
    workers[at] = this.#worker();
    for (const call of this.#calls.values()) {
      if (call.worker !== ended) continue;
      call.worker = workers[at];
      call.worker.postMessage(call.message);
    }
  }

  #hear(data) {
    const call = this.#calls.get(data.id);
    if (!call) return;
    if (data.error !== undefined) this.#break(data.error);
    else call.hear(data);
  }

  // A broken module is not reused: all workers restart with the next question.
  #break(message) {
    const workers = this.#workers;
    this.#workers = null;
    workers?.then((list) => list.forEach((worker) => worker.terminate()));
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const { reject } of calls) reject(new Error(message));
  }

  #ask(worker, verb, args, { hear, reject }) {
    const id = this.#next++;
    const message = { id, verb, args: args.map((one) => (typeof one === 'object' ? JSON.stringify(one) : one)) };
    this.#calls.set(id, { hear: (data) => hear(data, id), reject, worker, message });
    worker.postMessage(message);
    return id;
  }

  // One answer of the core, parsed.
  async call(verb, ...args) {
    const [worker] = await this.#open();
    return new Promise((resolve, reject) => {
      const hear = ({ text }, id) => {
        this.#calls.delete(id);
        resolve(JSON.parse(text));
      };
      this.#ask(worker, verb, args, { hear, reject });
    });
  }

  // The same for a long question with progress: {done, stop()}; `done` is null if it was stopped.
  watch(verb, spec, onprogress) {
    let stopped = false;
    let stop = () => {};
    const done = this.#open().then((workers) => {
      if (stopped) return null;
      return new Promise((resolve, reject) => {
        const at = workers.length - 1;
        const hear = ({ text, progress }, id) => {
          if (progress) {
            onprogress(progress);
            return;
          }
          this.#calls.delete(id);
          resolve(JSON.parse(text));
        };
        const id = this.#ask(workers[at], verb, [spec], { hear, reject });
        stop = () => {
          if (!this.#calls.delete(id)) return;
          this.#renew(workers, at);
          resolve(null);
        };
      });
    });
    return {
      done,
      stop: () => {
        stopped = true;
        stop();
      },
    };
  }

  // One call for each of 0 … count - 1, handed out to whoever is free; `onanswer(answer, at)` hears each. Answers {done, stop()}:
  // `done` is true when all were answered, false when stopped before.
  each(verb, count, argsOf, onanswer) {
    let next = 0;
    let stopped = false;
    const work = (worker) =>
      new Promise((resolve, reject) => {
        const step = () => {
          if (stopped || next >= count) {
            resolve();
            return;
          }
          const at = next++;
          const hear = ({ text }, id) => {
            this.#calls.delete(id);
            onanswer(JSON.parse(text), at);
            step();
          };
          this.#ask(worker, verb, argsOf(at), { hear, reject });
        };
        step();
      });
    return {
      done: this.#open()
        .then((workers) => Promise.all(workers.map(work)))
        .then(() => !stopped),
      stop: () => (stopped = true),
    };
  }

  // Advice on a scenario: {"request", "for"?, "objective"?, "limits"?, "top"?}. `onreport(report, state)` hears what is known so far:
  // running, stopped or done; {"issues"} with refused. A later question ends an earlier one. Answers {stop()}.
  advise(spec, onreport, onerror) {
    return this.#inSteps('advise', spec, onreport, onerror);
  }

  // The best chip design likewise: {"request", "objective"?, "vary"?, "locks"?, "limits"?, "mapping"?}.
  design(spec, onreport, onerror) {
    return this.#inSteps('design', spec, onreport, onerror);
  }

  // A file of requests, its text, played likewise: {"request", "ttft"?, "tpot"?, "percentile"?, "speed"?, "requests_per_s"?}.
  replay(spec, trace, onreport, onerror) {
    return this.#inSteps('replay', spec, onreport, onerror, trace);
  }

  async #inSteps(verb, spec, onreport, onerror, ...more) {
    const workers = await this.#open();
    const worker = workers.at(-1);
    const hear = ({ text, state, seconds }, id) => {
      if (state !== 'running') this.#calls.delete(id);
      onreport({ ...JSON.parse(text), seconds }, state);
    };
    const id = this.#ask(worker, verb, [spec, ...more], { hear, reject: (error) => onerror?.(error) });
    return { stop: () => this.#calls.get(id)?.worker.postMessage({ verb: 'stopSteps', id }) };
  }

  // {"space", …} of a search not begun, or {"issues"}.
  sizeOf(spec) {
    return this.call('space', spec);
  }

  // Begins a search. `onreport(report, state)` gets the merged report: running, stopped or done; {"issues"} with
  // refused. Returns {stop(), resume()}.
  async search(spec, onreport, onerror) {
    const workers = await this.#open();
    for (const id of this.#searching) this.#calls.delete(id);
    const shards = workers.map(() => null);
    const states = workers.map(() => 'running');
    let merging = false;
    let stale = false;
    let last = 0;
    const over = () => states.every((state) => state !== 'running');
    const merge = async () => {
      const texts = shards.filter(Boolean);
      if (merging || !texts.length) {
        stale = true;
        return;
      }
      merging = true;
      stale = false;
      last = performance.now();
      const ended = over();
      try {
        const report = await this.call('mergeSearch', JSON.stringify(texts));
        merging = false;
        if (!report.issues) onreport(report, ended ? (states.includes('stopped') ? 'stopped' : 'done') : 'running');
        if (over() && (stale || !ended)) merge();
      } catch {
        merging = false; // the break is told by the shards' own calls
      }
    };
    let failed = false;
    const reject = (error) => {
      if (!failed) onerror?.(error);
      failed = true;
    };
    const hearFrom = (at) => (data) => {
      if (failed) return;
      if (data.state === 'refused') {
        failed = true;
        onreport(JSON.parse(data.issues), 'refused');
        return;
      }
      shards[at] = data.shard;
      states[at] = data.state;
      if (over() || performance.now() - last > MERGE_MS) merge();
    };
    const ids = shardSpecs(spec, workers.length).map((one, at) =>
      this.#ask(workers[at], 'begin', [one], { hear: hearFrom(at), reject }),
    );
    this.#searching = ids;
    return {
      stop: () => workers.forEach((worker) => worker.postMessage({ verb: 'stop' })),
      resume: () => {
        workers.forEach((worker, at) => {
          if (states[at] !== 'stopped') return;
          states[at] = 'running';
          worker.postMessage({ id: ids[at], verb: 'resume' });
        });
      },
    };
  }
}
