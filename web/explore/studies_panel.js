// The papers' studies: the question, what the paper says, what comes out here, and which of its trends hold.
import { h } from '../dom.js';
import { nameOf } from '../report/names.js';
import { number, text, unitOf } from '../text/format.js';
import { t } from '../text/strings.js';
import { labelled, select, fillSelect, partName } from './controls.js';

export class StudiesPanel {
  #pool;
  #context = null;
  #asked = '';

  constructor(pool) {
    this.#pool = pool;
    this.choice = select([], '', (id) => this.#context.open('explore', `studies/${id}`));
    this.result = h('div', { class: 'ex-study', 'aria-live': 'polite' });
    this.element = h('section', {}, h('div', { class: 'ex-form' }, labelled(t('explore.study'), this.choice)), this.result);
    this.ready = pool.call('presets', 'study').then((list) => {
      this.list = list;
      fillSelect(
        this.choice,
        list.map(({ id, title }) => ({ value: id, name: title })),
        list[0]?.id,
      );
    });
  }

  async show(context) {
    this.#context = context;
    try {
      await this.ready;
      const wanted = this.#context.store.sub.split('/')[1];
      const id = this.list.some((one) => one.id === wanted) ? wanted : this.list[0].id;
      this.choice.value = id;
      if (id !== this.#asked) await this.#ask(id);
    } catch (error) {
      this.result.replaceChildren(h('p', { class: 'ex-status' }, t('app.stopped', { message: error.message })));
    }
  }

  async #ask(id) {
    this.#asked = id;
    this.result.replaceChildren(h('p', { class: 'ex-status' }, t('chart.waiting')));
    const study = await this.#pool.call('study', id);
    if (id === this.#asked) this.#draw(study);
  }

  #draw(study) {
    const paths = [...new Set(study.points.flatMap(({ figures }) => Object.keys(figures)))];
    const held = study.expectations.filter(({ holds }) => holds).length;
    const value = (one, path) => (typeof one === 'number' ? text(one, unitOf(path)) : one === null || one === undefined ? '–' : String(one));
    const term = (key, words) => words && [h('dt', {}, t(key)), h('dd', {}, words)];
    const found = (list) => (Array.isArray(list) ? list : [list]).map((one) => (typeof one === 'number' ? number(one) : String(one))).join(', ');
    this.result.replaceChildren(
      h('h2', { class: 'ex-sub' }, study.title),
      h('p', {}, study.question),
      h(
        'dl',
        {},
        term('explore.study.paper', study.paper),
        term('explore.study.says', study.paper_says),
        term('explore.study.differs', study.differs),
      ),
      h('h2', { class: 'ex-sub' }, t('explore.study.expect')),
      h('p', { class: 'ex-status' }, t('explore.study.score', { held, all: study.expectations.length })),
      h(
        'ul',
        { class: 'ex-verdicts' },
        study.expectations.map(({ text: words, holds, found: list }) =>
          h(
            'li',
            { class: holds ? 'good' : 'bad' },
            h('b', {}, holds ? `✓ ${t('explore.study.holds')}` : `✗ ${t('explore.study.fails')}`),
            words,
            h('small', {}, t('explore.study.found', { list: found(list) })),
          ),
        ),
      ),
      h(
        'div',
        { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': t('explore.study.points') },
        h(
          'table',
          { class: 'plain' },
          h('caption', {}, t('explore.study.points')),
          h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, t('explore.study.point')), paths.map((path) => h('th', { scope: 'col' }, `${partName(path)}: ${nameOf(path)}`)), h('th', { scope: 'col' }, t('explore.reason')))),
          h(
            'tbody',
            {},
            study.points.map(({ label, figures, issues }) =>
              h(
                'tr',
                {},
                h('th', { scope: 'row' }, label),
                paths.map((path) => h('td', {}, value(figures[path], path))),
                h('td', {}, issues.map(({ message }) => message).join('; ')),
              ),
            ),
          ),
        ),
      ),
    );
  }
}
