// Which inputs move a figure, and how strongly: a tornado of the strongest and a table of all.
/** @import {Context} from '../types.js' */
import { tornado } from '../charts/tornado.js';
import { columnHeads, h, redraw, scrolled } from '../dom.js';
import { labelIn } from '../form/fields.js';
import { asIf } from '../scenes/parts.js';
import { text, unitOf } from '../text/format.js';
import { Asked } from './asked.js';
import { faults, figureGroups, figureName, fillSelect, inPart, labelled, select } from './controls.js';
import { nameOfValue } from './sweep_values.js';
import { t } from './texts.js';

const MOST = 14;
const SHARES = ['0.05', '0.1', '0.2', '0.5'];
const FIRST = ['training.time_to_train_s', 'serving.tpot_s', 'cost.device_usd'];

const COLUMNS = ['explore.matters.value', 'explore.matters.down', 'explore.matters.up', 'explore.elasticity'];

// Inputs that move the figure by less than a thousandth of their own change.
const FAINT = 0.01;
const elasticityText = (value) =>
  value === null ? '–' : Math.abs(value) < FAINT ? `< ${FAINT}` : value.toFixed(2).replace('-', '−');

export class SensitivityPanel {
  #pool;
  /** @type {Context} */
  #context = null;
  #asked = null;
  #answer = null;
  #width = 0;

  constructor(pool) {
    this.#pool = pool;
    this.figure = select([], '', () => this.#choose());
    this.share = select(
      SHARES.map((share) => ({ value: share, name: text(Number(share), '%') })),
      '0.2',
      () => this.#choose(),
    );
    this.asked = new Asked('sensitivity', { figure: this.figure, share: this.share });
    this.status = h('p', { class: 'ex-status', role: 'status' });
    this.result = h('div', { class: 'ex-table', id: 'matters' });
    this.element = h(
      'section',
      {},
      h(
        'div',
        { class: 'ex-form' },
        labelled(t('explore.figure'), this.figure),
        labelled(t('explore.share'), this.share),
      ),
      this.status,
      this.result,
    );
  }

  /** @param {Context} context */
  show(context) {
    this.#context = context;
    const figures = figureGroups(context.report);
    const known = figures.flatMap(({ options }) => options.map(({ value }) => value));
    fillSelect(
      this.figure,
      figures,
      known.includes(this.figure.value) ? this.figure.value : FIRST.find((path) => known.includes(path)),
    );
    this.asked.take(context.store);
    this.#ask();
    if (this.#answer && context.width !== this.#width) this.#draw();
  }

  #choose() {
    this.asked.keep(this.#context.store);
    return this.#ask();
  }

  async #ask() {
    const key = JSON.stringify([this.#context.request, this.figure.value, this.share.value]);
    if (key === this.#asked) return;
    this.#asked = key;
    this.status.textContent = t('chart.waiting');
    try {
      const answer = await this.#pool.call('sensitivity', this.#context.request, this.figure.value, this.share.value);
      if (key !== this.#asked) return;
      this.status.textContent = '';
      this.#answer = answer;
      this.#draw();
    } catch (error) {
      this.status.textContent = t('app.stopped', { message: error.message });
    }
  }

  #draw() {
    this.#width = this.#context.width;
    const answer = this.#answer;
    if (answer.issues) {
      this.result.replaceChildren(faults(answer.issues));
      return;
    }
    if (!answer.inputs.length || !answer.value) {
      this.result.replaceChildren(h('p', { class: 'ex-status' }, t('explore.matters.none')));
      return;
    }
    const { described } = this.#context.core;
    const inputs = new Map(described.inputs.map((input) => [input.path, input]));
    const of = (path) => inputs.get(path) ?? inputs.get(path.replace(/\.\d+(?=\.|$)/g, '.*'));
    const named = (path) => labelIn(this.#context.scenario, path);
    // Inputs with the same name also state their object.
    const label = (path) => {
      const part =
        path
          .split('.')
          .slice(0, -1)
          .findLast((one) => !/^\d+$/.test(one)) ?? '';
      const isAlone = answer.inputs.filter((one) => named(one.path) === named(path)).length < 2;
      return isAlone ? named(path) : `${named(path)} (${part.replaceAll('_', ' ')})`;
    };
    const change = (value) => value / answer.value - 1;
    const unit = unitOf(answer.figure);
    const top = answer.inputs.slice(0, MOST);
    redraw(
      this.result,
      asIf(this.#context.report[answer.figure.split('.')[0]]),
      tornado({
        id: 'matters-chart',
        title: t('explore.matters.table', { figure: figureName(answer.figure) }),
        subtitle: `± ${text(Number(answer.share), '%')}`,
        width: this.#width,
        rows: top.map((one) => ({
          path: one.path,
          label: label(one.path),
          down: change(one.low_figure),
          up: change(one.high_figure),
        })),
        onrow: (path) => this.#context.toInput(path),
      }),
      scrolled(
        t('explore.matters.table', { figure: figureName(answer.figure) }),
        h(
          'table',
          { class: 'plain by-rows' },
          columnHeads([t('explore.input'), ...COLUMNS.map((key) => t(key))]),
          h(
            'tbody',
            {},
            answer.inputs.map((one) =>
              h(
                'tr',
                {},
                h('th', { scope: 'row' }, inPart(one.path, label(one.path))),
                [
                  nameOfValue(one.value, of(one.path)),
                  one.low === one.value ? t('explore.matters.edge') : text(one.low_figure, unit),
                  one.high === one.value ? t('explore.matters.edge') : text(one.high_figure, unit),
                  elasticityText(one.elasticity),
                ].map((cell, i) => h('td', { 'data-name': t(COLUMNS[i]) }, cell)),
              ),
            ),
          ),
        ),
      ),
    );
  }
}
