// Further answers of the core for the present request, each asked once.
import { painted } from '../dom.js';

// Long questions wait until the inputs rest: an edit that is followed at once by another sends none.
const REST_MS = 120;
const rest = (verb) => new Promise((resolve) => setTimeout(resolve, verb === 'evaluate' ? 0 : REST_MS));

export class Questions {
  #engine;
  #onanswer;
  #answers = new Map();
  #lately = new Map();
  #painted = null;

  // `onanswer` is called when an answer has come that the page may show.
  constructor(engine, onanswer) {
    this.#engine = engine;
    this.#onanswer = onanswer;
  }

  // The request has changed: questions about the previous one are dropped.
  clear() {
    this.#answers = new Map();
  }

  // Undefined while the answer is on its way.
  ask(verb, ...args) {
    const key = JSON.stringify([verb, args]);
    const answers = this.#answers;
    if (answers.has(key)) return answers.get(key);
    answers.set(key, undefined);
    // After the first paint: nothing that the first view does not need is fetched before it.
    this.#painted ??= painted();
    this.#painted
      .then(() => rest(verb))
      .then(() => (answers === this.#answers ? this.#call(verb, args) : null))
      .then(
        (answer) => {
          if (answers !== this.#answers) return;
          if (answer === null) {
            answers.delete(key);
            return;
          }
          answers.set(key, answer);
          this.#onanswer();
        },
        () => {},
      );
    return undefined;
  }

  // A sweep row by row, so that it ends where the request changes; null then.
  async #call(verb, args) {
    const [spec, from, to] = args;
    if (verb !== 'sweep') return this.#engine.call(verb, ...args);
    const answers = this.#answers;
    const rows = [];
    let answer = null;
    for (let row = from; row < to; row++) {
      answer = answers === this.#answers ? await this.#engine.call(verb, spec, row, row + 1) : null;
      if (!answer?.rows) return answer;
      rows.push(...answer.rows);
    }
    return { ...answer, rows };
  }

  // The same, but while an answer is on its way the previous one of this slot, so that nothing jumps.
  lately(slot, verb, ...args) {
    const answer = this.ask(verb, ...args);
    if (answer) this.#lately.set(slot, answer);
    return this.#lately.get(slot);
  }
}
