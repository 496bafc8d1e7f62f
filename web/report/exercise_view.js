// How the link asks the page to be shown; answers that it hides stay hidden until they are asked for.
import { redraw } from '../dom.js';
import { viewOf } from '../state/view.js';
import { exerciseBar } from './exercise.js';

export class ExerciseView {
  #revealed = false;

  // `bar` is the element of the exercise's line; `onreveal` is told when the answers may be shown.
  constructor(bar, { store, form, onreveal }) {
    this.bar = bar;
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
    document.body.classList.toggle('no-form', shown.embedded && !this.store.view.show);
    const line = exerciseBar({
      view: shown,
      revealed: this.#revealed,
      reveal: () => {
        this.#revealed = true;
        this.take();
        this.onreveal();
      },
      leave: () => this.store.setView({}),
    });
    this.bar.hidden = line.length === 0;
    redraw(this.bar, line);
  }
}
