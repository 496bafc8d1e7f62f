// What rests on what, measured: the core moves the inputs of the present scenario and says which figures follow; a few inputs a call, so
// that no answer waits for long.
const NUMBERS_A_CALL = 8;
const REST_MS = 150; // that a pointer rests on a figure before all inputs are moved

export class Dependence {
  #engine;
  #request = null;
  #figuresOf = new Map(); // by input
  #wanted = null;
  #known = 0; // inputs of the scenario that were moved
  #of = Infinity;
  #inHand = undefined; // the input under the pointer or the focus
  #lit = new Set(); // the figures that it moves

  constructor(engine) {
    this.#engine = engine;
  }

  // What was measured on another scenario is no longer true.
  #keepTo(request) {
    if (request === this.#request) return;
    this.#request = request;
    this.#figuresOf = new Map();
    this.#known = 0;
    this.#of = Infinity;
  }

  async #ask(request, input, from, to) {
    const answer = await this.#engine.call('dependence', request, input, from, to);
    if (!answer?.inputs || request !== this.#request) return null;
    for (const { path, figures } of answer.inputs) this.#figuresOf.set(path, figures);
    return answer;
  }

  // The figures that an input, or one below its path, moves.
  async reachedBy(request, input) {
    this.#keepTo(request);
    const below = () => [...this.#figuresOf].filter(([path]) => path === input || path.startsWith(`${input}.`));
    if (!below().length) await this.#ask(request, input, 0, NUMBERS_A_CALL);
    return new Set(below().flatMap(([, figures]) => figures));
  }

  // Tells `onfound` the inputs that move a figure, some at a time, until another figure is wanted (null: none).
  async inputsOf(request, figure, onfound) {
    this.#keepTo(request);
    this.#wanted = figure;
    onfound(new Set());
    if (!figure) return;
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    const tell = () =>
      onfound(new Set([...this.#figuresOf].filter(([, figures]) => figures.includes(figure)).map(([path]) => path)));
    while (this.#wanted === figure && this.#known < this.#of) {
      const answer = await this.#ask(request, '', this.#known, this.#known + NUMBERS_A_CALL);
      if (!answer) return;
      this.#of = answer.of;
      this.#known += NUMBERS_A_CALL;
      if (this.#wanted === figure) tell();
    }
    if (this.#wanted === figure) tell();
  }
  // Marks on the page the figures that an input moves, until another is in hand (undefined: none).
  async lightReached(request, input) {
    this.#inHand = input;
    const lit = input && request ? await this.reachedBy(request, input) : new Set();
    if (this.#inHand !== input) return;
    this.#lit = lit;
    this.lightFigures();
  }

  lightFigures() {
    /** @type {NodeListOf<HTMLElement>} */
    const figures = document.querySelectorAll('[data-figure]');
    for (const one of figures) one.classList.toggle('lit', this.#lit.has(one.dataset.figure));
  }
}
