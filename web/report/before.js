// After applied advice, the answers show their previous values for a moment, struck out.
const SHOWN_MS = 5000;

export class Before {
  #report = null;
  #forgetting = 0;

  // `onforgotten` is called when they are no longer shown.
  constructor(onforgotten) {
    this.onforgotten = onforgotten;
  }

  show(report) {
    clearTimeout(this.#forgetting);
    this.#forgetting = 0;
    this.#report = { ...report, faulty: new Set() };
  }

  // The previous values to draw, or null; shown for a moment from the first drawing on.
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
