// Advice on the present scenario, in its own worker, so that an edit does not wait for it. It takes only one worker of
// the pool.
import { Pool } from './pool.js';

const REST_MS = 500; // the inputs rest before advice is asked for

export class Advising {
  #pool = new Pool({ count: 1 });
  #key = '';
  #timer = 0;
  #running = null;
  #report = null;
  #isFresh = false;
  #asked = ''; // the request that the last advice is on

  // `onanswer` is called when advice on the last question has come.
  constructor(onanswer) {
    this.onanswer = onanswer;
  }

  // {report, isFresh, isOf}: the last advice, whether it is on this very question, and whether on its request, so that its figures may stand
  // beside the report; {"request", "for"?, "objective"?, "top"?}.
  on(question) {
    const key = JSON.stringify(question);
    if (key !== this.#key) {
      this.#key = key;
      this.#isFresh = false;
      clearTimeout(this.#timer);
      this.#running?.stop();
      this.#timer = setTimeout(() => this.#ask(question, key), REST_MS);
    }
    return { report: this.#report, isFresh: this.#isFresh, isOf: this.#asked === JSON.stringify(question.request) };
  }

  async #ask(question, key) {
    const hear = (report, state) => {
      if (key !== this.#key || state === 'running') return;
      this.#report = report;
      this.#asked = JSON.stringify(question.request);
      this.#isFresh = true;
      this.onanswer();
    };
    // If a worker breaks, the last advice stays.
    this.#running = await this.#pool.advise(question, hear).catch(() => null);
    if (key !== this.#key) this.#running?.stop();
  }
}
