// A number as the unknown: the last value of an input that keeps a condition.
import { h } from '../dom.js';
import { labelOf } from '../form/fields.js';
import { get } from '../state/paths.js';
import { show } from '../text/measure.js';
import { text, unitOf } from '../text/format.js';
import { pieces, t } from '../text/strings.js';
import { button, faults, figureGroups, figureName, fillSelect, inputGroups, isNumeric, labelled, select, textBox } from './controls.js';
import { nameOfValue } from './sweep_values.js';

const FEASIBLE = ['training.feasible', 'serving.feasible'];

export class SolvePanel {
  #pool;
  #context = null;

  constructor(pool) {
    this.#pool = pool;
    this.unknown = select([], '', () => this.#suggest());
    this.from = textBox('');
    this.to = textBox('');
    this.figure = select([], '', () => this.#bound());
    this.how = select(
      [
        { value: '<=', name: t('explore.atMost') },
        { value: '>=', name: t('explore.atLeast') },
      ],
      '>=',
    );
    this.bound = textBox('1');
    this.answer = h('div', { role: 'status', id: 'solve-answer' });
    const onenter = (event) => event.key === 'Enter' && this.#solve();
    for (const box of [this.from, this.to, this.bound]) box.addEventListener('keydown', onenter);
    this.element = h(
      'section',
      { class: 'ex-solve' },
      h('div', { class: 'ex-form' }, labelled(t('explore.unknown'), this.unknown), short(labelled(t('explore.from'), this.from)), short(labelled(t('explore.to'), this.to))),
      h('div', { class: 'ex-form' }, labelled(t('explore.until'), this.figure), short(labelled(t('explore.limit.how'), this.how)), short(labelled(t('explore.bound'), this.bound))),
      h('div', { class: 'ex-run' }, button(t('explore.run'), () => this.#solve(), { class: 'primary', id: 'solve-start', 'data-key': 'ex-solve' })),
      this.answer,
    );
  }

  show(context) {
    const first = !this.#context;
    this.#context = context;
    const fallback = context.request.serving ? 'serving.prompt' : 'training.sequence';
    fillSelect(this.unknown, inputGroups(context.page.described, isNumeric), this.unknown.value || fallback);
    const fits = FEASIBLE.filter((path) => get(context.report, path) !== undefined).map((path) => ({ value: path, name: figureName(path) }));
    const figures = [...fits, ...figureGroups(context.report)];
    fillSelect(this.figure, figures, this.figure.value || fits.at(-1)?.value);
    if (first) {
      this.#suggest();
      this.#bound();
    }
  }

  #input() {
    return this.#context.page.described.inputs.find(({ path }) => path === this.unknown.value);
  }

  // Four binary orders about the present value.
  #suggest() {
    const input = this.#input();
    const value = get(this.#context.scenario, input.path);
    const size = typeof value === 'number' && value > 0 ? value : 8;
    const write = (one) => (input.kind === 'quantity' ? show(one, input.unit, input.unit_factor) : String(one));
    const counted = input.kind === 'count' || input.kind === 'length';
    const low = Math.max(size / 16, input.low ?? 0);
    const high = Math.min(size * 256, input.high ?? Infinity);
    this.from.value = write(counted ? Math.max(1, Math.floor(low)) : low);
    this.to.value = write(counted ? Math.floor(high) : high);
  }

  #bound() {
    if (FEASIBLE.includes(this.figure.value)) {
      this.how.value = '>=';
      this.bound.value = '1';
      return;
    }
    const value = get(this.#context.report, this.figure.value);
    this.bound.value = typeof value === 'number' ? String(Number(value.toPrecision(3))) : '';
  }

  async #solve() {
    const { path } = this.#input();
    const figure = this.figure.value;
    this.answer.replaceChildren(h('p', { class: 'ex-status' }, t('chart.waiting')));
    try {
      const range = `${path}=${this.from.value.trim()}:${this.to.value.trim()}`;
      const answer = await this.#pool.call('solve', this.#context.request, range, `${figure}${this.how.value}${this.bound.value.trim()}`);
      this.answer.replaceChildren(answer.issues ? faults(answer.issues) : this.#said(answer, figure));
    } catch (error) {
      this.answer.replaceChildren(h('p', { class: 'ex-status' }, t('app.stopped', { message: error.message })));
    }
  }

  #said(answer, figure) {
    const input = this.#input();
    const name = labelOf(answer.path);
    if (answer.value === null) return h('p', { class: 'ex-answer' }, t('explore.answer.none', { input: name, reason: answer.reason }));
    const shown = nameOfValue(answer.value, input);
    return h(
      'div',
      {},
      h(
        'p',
        { class: 'ex-answer' },
        pieces(`explore.answer.${answer.which}`, {
          input: name,
          value: h('b', {}, shown),
          figure: figureName(figure),
          result: h('b', {}, text(answer.figure.value, unitOf(figure))),
        }),
      ),
      h(
        'div',
        { class: 'ex-run' },
        button(t('explore.answer.use'), () => this.#context.store.set(answer.path, String(answer.value)), { class: 'ex-plain', id: 'solve-use', 'data-key': 'ex-solve-use' }),
      ),
    );
  }
}

function short(field) {
  field.classList.add('short');
  return field;
}
