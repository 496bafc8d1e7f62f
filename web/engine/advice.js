// Advice on the present scenario, by a worker that is fetched behind the first paint.
/** @import {Advised} from '../types.js' */

const NONE = { report: null, isFresh: false, isOf: false };

export class Advice {
  #modules;
  #onanswer;
  #advising = null;

  // `onanswer` is called when advice on the last question has come.
  constructor(modules, onanswer) {
    this.#modules = modules;
    this.#onanswer = onanswer;
  }

  /** @returns {Advised} */
  on(question) {
    const module = this.#modules.late('advising');
    if (!module) return NONE;
    this.#advising ??= new module.Advising(this.#onanswer);
    return this.#advising.on(question);
  }
}
