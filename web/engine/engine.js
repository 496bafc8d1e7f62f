// Promises over the worker. One call is in flight; of the evaluations that wait only the latest is kept, and it goes first.
import { coreWorker } from './core_worker.js';

export class Engine {
  #worker;
  #start;
  #next = 1;
  #flight = null;
  #evaluation = null;
  #queue = [];
  #known = new Map();

  // Called when a first call starts and when none is left.
  onbusy = () => {};

  // `start` makes a worker; another one is started if the first one's module breaks.
  constructor(start = coreWorker) {
    this.#start = start;
  }

  get isBusy() {
    return this.#flight !== null;
  }

  // Fetches the core now; otherwise the first question does.
  open() {
    if (!this.#worker) this.#open();
  }

  // The report that came with the site: its request need not wait for the core.
  know(request, report) {
    this.#known.set(JSON.stringify(request), report);
  }

  #open() {
    this.#worker = this.#start();
    this.#worker.onmessage = ({ data }) => this.#answer(data);
    this.#worker.onerror = (event) =>
      this.#answer({ id: this.#flight?.id, error: event.message || 'the worker failed to start' });
  }

  // A report, {"issues"}, or null if a later evaluation replaced this one.
  evaluate(request, explain = '') {
    return new Promise((resolve, reject) => {
      this.#evaluation?.resolve(null);
      this.#evaluation = { verb: 'evaluate', args: [JSON.stringify(request), explain], resolve, reject };
      this.#send();
    });
  }

  // Any other verb, in order, after the evaluations.
  call(verb, ...args) {
    return new Promise((resolve, reject) => {
      this.#queue.push({
        verb,
        args: args.map((one) => (typeof one === 'object' ? JSON.stringify(one) : one)),
        resolve,
        reject,
      });
      this.#send();
    });
  }

  // Repeats a call whenever it is dropped.
  async ask(verb, ...args) {
    let answer = null;
    while (!answer) answer = await this.call(verb, ...args);
    return answer;
  }

  // Drops the calls that wait; their promises resolve to null.
  dropWaiting() {
    for (const one of this.#queue.splice(0)) one.resolve(null);
  }

  #send() {
    if (this.#flight) return;
    const job = this.#evaluation ?? this.#queue.shift();
    if (!job) return this.onbusy();
    if (job === this.#evaluation) this.#evaluation = null;
    const known = job.verb === 'evaluate' && !job.args[1] && this.#known.get(job.args[0]);
    if (known) {
      job.resolve(known);
      return this.#send();
    }
    this.open();
    this.#flight = { ...job, id: this.#next++ };
    this.onbusy();
    this.#worker.postMessage({ id: this.#flight.id, verb: job.verb, args: job.args });
  }

  /** @param {{id: number, text?: string, error?: string}} answer */
  #answer({ id, text, error }) {
    if (id !== this.#flight?.id) return;
    const job = this.#flight;
    this.#flight = null;
    if (error !== undefined) {
      this.#worker.terminate();
      this.#open();
      job.reject(new Error(error));
    } else {
      job.resolve(JSON.parse(text));
    }
    this.#send();
  }
}
