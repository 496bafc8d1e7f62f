// Where the form has no room beside the scene it is a sheet; the bar at the bottom opens it, and says what the scenario is or, once
// the four answers have scrolled away or the sheet is open, their figures, unless hidden. The line repeats what stands elsewhere, so it
// is not read out.
import { h } from '../dom.js';
import { whole } from '../text/format.js';
import { t } from '../text/strings.js';
import { deviceName, modelName } from './words.js';

export class InputsBar {
  #line = h('span', { 'class': 'said', 'aria-hidden': 'true' });
  #button = h(
    'button',
    {
      'type': 'button',
      'id': 'open-inputs',
      'aria-expanded': 'false',
      'aria-controls': 'form',
      'onclick': () => this.toggle(),
    },
    t('form.title'),
  );
  #isSeen = true; // whether the four answers are
  #scenario = null;

  constructor(element, { answers, form }) {
    this.answers = answers;
    this.form = form;
    element.append(this.#line, this.#button);
    new IntersectionObserver(([{ isIntersecting }]) => {
      this.#isSeen = isIntersecting;
      this.#draw();
    }).observe(answers.querySelector('.four'));
    form.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !this.isOpen || event.target.matches('input[type=text]')) return;
      this.close();
      this.#button.focus();
    });
  }

  get isOpen() {
    return document.body.classList.contains('inputs-open');
  }

  toggle() {
    if (this.isOpen) return this.close();
    this.open();
    this.form.querySelector('.menu, .field input, summary')?.focus({ preventScroll: true });
  }

  open() {
    this.#set(true);
  }

  close() {
    this.#set(false);
  }

  #set(isOpen) {
    document.body.classList.toggle('inputs-open', isOpen);
    this.#button.setAttribute('aria-expanded', isOpen);
    this.#button.textContent = t(isOpen ? 'form.done' : 'form.title');
    this.#draw();
  }

  show(scenario) {
    this.#scenario = scenario;
    this.#draw();
  }

  #draw() {
    if (!this.#scenario) return;
    const { cluster } = this.#scenario;
    const asked = t('form.asked', {
      model: modelName(this.#scenario),
      count: whole(cluster.devices),
      device: deviceName(this.#scenario),
    });
    const figures = [...this.answers.querySelectorAll('.four .value')].map((value) => h('b', {}, value.dataset.short));
    const isHidden = document.body.classList.contains('answers-hidden');
    this.#line.replaceChildren(...(isHidden || (this.#isSeen && !this.isOpen) ? [asked] : figures));
  }
}
