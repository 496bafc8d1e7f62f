// After a change of advice the answers show for a moment, struck out, what they were.
const SHOWN_MS = 5000;

export class Before {
  #report = null;
  #forgetting = 0;

  // `onforgotten` is told when it is to be shown no more.
  constructor(onforgotten) {
    this.onforgotten = onforgotten;
  }

  show(report) {
    clearTimeout(this.#forgetting);
    this.#forgetting = 0;
    this.#report = { ...report, faulty: new Set() };
  }

  // What to draw, null for nothing: a moment from the first drawing on.
  drawn() {
    if (this.#report) this.#forgetting ||= setTimeout(() => this.#forget(), SHOWN_MS);
    return this.#report;
  }

  #forget() {
    this.#forgetting = 0;
    this.#report = null;
    this.onforgotten();
  }
}
