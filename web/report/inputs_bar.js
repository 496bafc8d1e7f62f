// The bar that opens the form: at the bottom, as a sheet, where there is no room beside the scene; above Start, whose sentence asks, as a column.
// It says the parallelism or, once the four answers have scrolled away or the form is open, their figures, unless hidden. The line
// repeats what stands elsewhere, so it is not read out.
import { h } from '../dom.js';
import { mappingIn } from '../form/chosen.js';
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
    const figures = [...this.answers.querySelectorAll('.four .value')].map((value) => h('b', {}, value.dataset.short));
    const isHidden = document.body.classList.contains('answers-hidden');
    const words = isHidden ? this.#asked() : this.#mappings();
    const isSaid = isHidden || (this.#isSeen && !this.isOpen);
    this.#line.replaceChildren(...(isSaid ? words.map((one) => h('span', {}, one)) : figures));
  }

  // The question, if the mapping is among the answers.
  #asked() {
    const { cluster } = this.#scenario;
    const [model, device] = [modelName(this.#scenario), deviceName(this.#scenario)];
    return [t('form.asked', { model, device, count: whole(cluster.devices) })];
  }

  #mappings() {
    return ['training', 'serving']
      .filter((part) => this.#scenario[part])
      .map((part) =>
        t('form.mapped', { part: t(`group.${part}`), mapping: mappingIn(part, { scenario: this.#scenario }) }),
      );
  }
}
