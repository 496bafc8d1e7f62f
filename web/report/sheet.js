// The "why" sheet: a figure's formula, the same with values, words, and its terms to walk down. It stays open beside the form, so that a
// change of input shows in the formula at once.
import { h } from '../dom.js';
import { isPath } from '../state/paths.js';
import { bothBytes, number, text } from '../text/format.js';
import { formulas } from './derivation.js';
import { nameOf } from './names.js';
import { t } from './texts.js';

const SHOWN = 7; // terms

const shareText = (share) => (share ? `${number(share, 2).replace('-', '−')} %` : '');

// The options that were chosen and not chosen, with the compared values.
const amongTable = (among) =>
  h(
    'table',
    { class: 'terms' },
    h('caption', {}, t('why.among')),
    h(
      'tbody',
      {},
      among.map(({ name, value, unit, chosen }) =>
        h(
          'tr',
          { class: chosen ? 'leads' : undefined },
          h('th', { scope: 'row' }, name),
          h('td', {}, text(value, unit)),
          h('td', {}, chosen && t('why.chosen')),
        ),
      ),
    ),
  );

export class Sheet {
  #trail = [];
  #opener = null;
  #known = null;

  // `explain(path)` -> Promise of a map of explanations that holds path; `toInput(path)` focuses an input.
  constructor(element, { explain, toInput, hasInput }) {
    this.element = element;
    this.explain = explain;
    this.toInput = toInput;
    this.hasInput = hasInput;
    // A symbol links to the same place as its row in the table.
    element.addEventListener('click', (event) => {
      const origin = event.target.closest('.formula [data-origin]')?.dataset.origin;
      if (origin && this.#known?.has(origin)) this.#go(origin);
      else if (origin && isPath(origin) && this.hasInput(origin)) this.toInput(origin);
    });
    element.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      this.close();
    });
  }

  get path() {
    return this.element.open ? this.#trail.at(-1) : null;
  }

  async open(path) {
    if (!this.element.open) this.#opener = document.activeElement;
    this.#trail = [path];
    await this.refresh(true);
  }

  close() {
    const key = this.#opener?.dataset?.key;
    this.element.close();
    /** @type {NodeListOf<HTMLElement>} */
    const keyed = document.querySelectorAll('[data-key]');
    const back = this.#opener?.isConnected ? this.#opener : [...keyed].find((one) => one.dataset.key === key);
    back?.focus();
  }

  async #go(path) {
    this.#trail.push(path);
    await this.refresh(true);
  }

  async #back() {
    this.#trail.pop();
    await this.refresh(true);
  }

  // Redraws with the present scenario's explanations; `focus` moves the focus to the sheet's heading.
  async refresh(focus = false) {
    const path = this.#trail.at(-1);
    if (!path) return;
    const explanations = await this.explain(path);
    if (path !== this.#trail.at(-1)) return;
    this.#known = explanations;
    this.#draw(path, explanations?.get(path), explanations);
    if (!this.element.open) this.element.show();
    if (focus) this.element.querySelector('h2')?.focus();
  }

  #draw(path, explanation, explanations) {
    const title = explanation?.title || nameOf(path);
    const bar = (words) =>
      h(
        'div',
        { class: 'bar' },
        this.#trail.length > 1 &&
          h('button', { type: 'button', class: 'link', onclick: () => this.#back() }, `← ${t('why.back')}`),
        h('h2', { id: 'sheet-title', tabindex: -1 }, words),
        h(
          'button',
          { 'type': 'button', 'class': 'close', 'aria-label': t('why.close'), 'onclick': () => this.close() },
          '×',
        ),
      );
    if (!explanation) {
      this.element.replaceChildren(bar(title), h('p', {}, t('why.none')));
      return;
    }
    const { symbols, values } = explanation.formula ? formulas(explanation) : {};
    const value = text(explanation.value, explanation.unit);
    this.element.replaceChildren(
      ...[
        bar(t('why.title', { title, value })),
        symbols &&
          h(
            'div',
            { 'class': 'formula scroll', 'tabindex': 0, 'role': 'region', 'aria-label': t('why.symbol') },
            symbols,
          ),
        values &&
          h(
            'div',
            { 'class': 'formula scroll', 'tabindex': 0, 'role': 'region', 'aria-label': t('why.value') },
            values,
          ),
        explanation.note && h('p', {}, explanation.note),
        explanation.kind === 'constant' && h('p', {}, t('why.constant')),
        explanation.kind === 'procedure' && h('p', {}, t('why.procedure')),
        explanation.among && amongTable(explanation.among),
        ...this.#termsOf(explanation, explanations),
        explanation.source && h('p', { class: 'source' }, `${t('why.source')}: ${explanation.source}`),
      ].filter(Boolean),
    );
  }

  // The terms, those that move the figure most first; beyond a handful the smaller ones are folded.
  #termsOf({ terms }, explanations) {
    const ranked = [...terms].sort((a, b) => Math.abs(b.share) - Math.abs(a.share));
    const smaller = ranked.splice(SHOWN);
    return [
      ranked.length > 0 && this.#table(t('why.terms'), ranked, explanations),
      smaller.length > 0 &&
        h(
          'details',
          {},
          h('summary', {}, t('why.smaller', { count: smaller.length })),
          this.#table(t('why.smaller', { count: smaller.length }), smaller, explanations),
        ),
    ];
  }

  #from({ origin }, explanations) {
    if (!origin) return h('span', { class: 'quiet' }, t('why.number'));
    if (explanations.has(origin))
      return [
        explanations.get(origin).title || nameOf(origin),
        ' ',
        h('button', { type: 'button', class: 'why', onclick: () => this.#go(origin) }, t('why.follow')),
      ];
    const source = explanations.sources?.[origin];
    return [
      h('code', {}, origin),
      isPath(origin) &&
        this.hasInput(origin) && [
          ' ',
          h('button', { type: 'button', class: 'why', onclick: () => this.toInput(origin) }, t('why.edit')),
        ],
      source && h('span', { class: 'quiet' }, ` ${source}`),
    ];
  }

  #table(caption, terms, explanations) {
    const head = [
      h('th', { scope: 'col' }, t('why.symbol')),
      h('th', { scope: 'col' }, t('why.value')),
      h('th', { scope: 'col', title: t('why.share.help') }, t('why.share')),
      h('th', { scope: 'col' }, t('why.from')),
    ];
    return h(
      'table',
      { class: 'terms' },
      h('caption', {}, caption),
      h('thead', {}, h('tr', {}, head)),
      h(
        'tbody',
        {},
        terms.map((term) =>
          h(
            'tr',
            { class: term.leads ? 'leads' : undefined, title: term.leads ? t('why.leads') : undefined },
            h('th', { scope: 'row' }, term.symbol.replaceAll('_', ' ')),
            h('td', { title: bothBytes(term.value, term.unit) }, text(term.value, term.unit)),
            h('td', {}, shareText(term.share)),
            h(
              'td',
              {},
              this.#from(term, explanations),
              term.leads && h('span', { class: 'quiet' }, ` ${t('why.leads')}`),
            ),
          ),
        ),
      ),
    );
  }
}
