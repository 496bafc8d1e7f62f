// Dependence in both directions. The figures that an input moves: the core moves the input and lists them. The inputs
// that move a figure: the core lists those that its explanation leads to.
const NUMBERS_A_CALL = 8;
const REST_MS = 150; // that a pointer rests on a figure before its inputs are asked for

export class Dependence {
  #engine;
  #request = null;
  #figuresOf = new Map(); // by input
  #wanted = null;
  #inHand = undefined; // the input under the pointer or the focus
  #lit = new Set(); // the figures that it moves

  constructor(engine) {
    this.#engine = engine;
  }

  // Results of another scenario are no longer valid.
  #keepTo(request) {
    if (request === this.#request) return;
    this.#request = request;
    this.#figuresOf = new Map();
  }

  // The figures that an input, or one below its path, moves.
  async reachedBy(request, input) {
    this.#keepTo(request);
    const below = () => [...this.#figuresOf].filter(([path]) => path === input || path.startsWith(`${input}.`));
    if (!below().length) {
      const answer = await this.#engine.call('dependence', request, input, 0, NUMBERS_A_CALL);
      if (request === this.#request)
        for (const { path, figures } of answer?.inputs ?? []) this.#figuresOf.set(path, figures);
    }
    return new Set(below().flatMap(([, figures]) => figures));
  }

  // Calls `onfound` with the inputs that move a figure (null: none), unless another is wanted by then.
  async inputsOf(request, figure, onfound) {
    this.#wanted = figure;
    onfound(new Set());
    if (!figure) return;
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    if (this.#wanted !== figure) return;
    const answer = await this.#engine.call('sensitivity', request, figure, 0);
    if (this.#wanted === figure) onfound(new Set((answer?.inputs ?? []).map(({ path }) => path)));
  }

  // Marks the figures on the page that an input moves, until another one is in hand (undefined: none).
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
