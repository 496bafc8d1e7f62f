// Shows the page as its link asks; hidden answers stay hidden until they are requested.
import { redraw } from '../dom.js';
import { linkOf } from '../state/address.js';
import { viewOf } from '../state/view.js';

export class ExerciseView {
  #revealed = false;
  #drawn = ''; // the view's words and the state of the answers that the bar shows

  // `bar` is the element of the exercise's line; `onreveal` is told when the answers may be shown.
  constructor(bar, { core, store, form, onreveal }) {
    this.bar = bar;
    this.core = core;
    this.store = store;
    this.form = form;
    this.onreveal = onreveal;
    this.shown = viewOf();
  }

  get hidesAnswers() {
    return this.shown.hidesAnswers && !this.#revealed;
  }

  take() {
    const shown = viewOf(this.store.view);
    this.shown = shown;
    this.store.isLocked = shown.isLocked;
    this.form.setView(shown);
    document.body.classList.toggle('answers-hidden', this.hidesAnswers);
    document.body.classList.toggle('embedded', shown.embedded);
    document.body.classList.toggle('form-asked', Boolean(shown.limits));
    document.body.classList.toggle('no-form', shown.embedded && !this.store.view.show);
    const says = shown.hidesAnswers || shown.question || (shown.limits && !shown.embedded);
    this.bar.hidden = !says;
    if (says) this.draw();
    else this.bar.replaceChildren();
  }

  // Redraws only if its content changes, since a reader may be answering.
  async draw() {
    if (this.bar.hidden) return;
    const key = JSON.stringify([this.store.view, this.#revealed, Boolean(this.core.report)]);
    if (key === this.#drawn && this.bar.firstChild) return;
    this.#drawn = key;
    const { exerciseBar } = await import('./exercise.js');
    redraw(
      this.bar,
      exerciseBar({
        view: this.shown,
        revealed: this.#revealed,
        core: this.core,
        reveal: () => {
          this.#revealed = true;
          this.take();
          this.onreveal();
        },
        leave: () => this.store.setView({}),
        begin: (student) => this.#begin(student),
      }),
    );
  }

  // A student's numbers are locked inputs: they come with the link.
  async #begin(student) {
    const { numbersOf } = await import('../state/exercise.js');
    const { inputs, view } = this.store;
    const drawn = { ...inputs, ...numbersOf(this.shown, student) };
    location.href = await linkOf({ ...this.store.state, inputs: drawn, view: { ...view, student } });
  }
}
