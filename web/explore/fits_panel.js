// What fits: the models of the catalogue that a device or server serves, by weight precision and engine, each a press from the scenario.
/** @import {Context} from '../types.js' */
import { h, redraw } from '../dom.js';
import { clusterOptions } from '../report/picker_options.js';
import { shortDevice } from '../report/words.js';
import { CARDS } from '../scenes/overview.js';
import { unknownPlace } from '../scenes/parts.js';
import { text, whole } from '../text/format.js';
import { button, fillSelect, labelled, select, textBox } from './controls.js';
import { inputsOf, waysOn } from './ways.js';
import { t } from './texts.js';

const SINCE = 2024; // models are asked about that were published then or later
const FIRST_ROWS = 12;
const FIGURES = [
  'serving.feasible',
  'serving.tokens_per_s_per_user',
  'serving.max_context',
  'serving.max_batch',
  'serving.requests_in_flight',
  'serving.batch',
];
const KEPT = ['serving.prompt', 'serving.output'];

export class FitsPanel {
  #pool;
  /** @type {Context} */
  #context = null;
  #catalogue = null;
  #cluster = null; // {id, name} that the answers are of
  #key = ''; // what was asked
  #ways = [];
  #models = [];
  #found = []; // per way, per model: {rate, context, users}, null where it does not fit
  #whole = false;

  constructor(pool) {
    this.#pool = pool;
    this.cluster = select([], '', (id) => this.#open(id));
    this.filter = textBox('', { oninput: () => this.#draw() });
    this.unknown = h('div', {});
    this.cards = h('p', { class: 'ex-questions' });
    this.status = h('p', { class: 'ex-status', role: 'status', id: 'fits-status' });
    this.table = h('div', { class: 'ex-table', id: 'fits' });
    this.element = h(
      'section',
      { class: 'ex-fits' },
      this.unknown,
      this.cards,
      h(
        'div',
        { class: 'ex-form' },
        labelled(t('picker.cluster'), this.cluster),
        labelled(t('explore.fits.filter'), this.filter),
      ),
      this.status,
      this.table,
    );
  }

  /** @param {Context} context */
  async show(context) {
    this.#context = context;
    this.#catalogue ??= await context.core.catalogue();
    const groups = Map.groupBy(clusterOptions(this.#catalogue), ({ group }) => group);
    const asked = context.store.sub.split('/')[1];
    const known = this.#catalogue.some(({ kind, id }) => kind === 'cluster' && id === asked);
    redraw(this.unknown, asked && !known && unknownPlace(asked));
    const id = known ? asked : (context.scenario.cluster.preset ?? CARDS[0]);
    fillSelect(
      this.cluster,
      [...groups].map(([name, options]) => ({
        name,
        options: options.map((one) => ({ value: one.id, name: one.name })),
      })),
      id,
    );
    redraw(
      this.cards,
      t('explore.questions'),
      ': ',
      CARDS.map((one, at) => [
        at > 0 && ', ',
        button(cardName(this.#catalogue, one), () => this.#open(one), { 'class': 'link', 'data-key': `fits-${one}` }),
      ]),
    );
    const kept = Object.fromEntries(
      KEPT.filter((path) => context.inputs[path] !== undefined).map((path) => [path, context.inputs[path]]),
    );
    const key = JSON.stringify([id, kept]);
    if (key === this.#key) return;
    this.#key = key;
    try {
      await this.#ask(key, id, kept);
    } catch (error) {
      this.status.textContent = t('app.stopped', { message: error.message });
    }
  }

  #open = (id) => this.#context.open('explore', `fits/${id}`);

  async #ask(key, cluster, kept) {
    const { core } = this.#context;
    this.#whole = false;
    this.status.textContent = t('chart.waiting');
    const requestOf = (inputs) => ({ ...core.requestFor(inputs), cost: null });
    const of = (kind) => this.#catalogue.filter((one) => one.kind === kind);
    const own = await this.#pool.call('evaluate', requestOf({ ...kept, cluster, training: 'null' }), '');
    if (key !== this.#key) return;
    const { device } = own.scenario.cluster;
    this.#cluster = { id: cluster, kept };
    this.#ways = waysOn(device, own.scenario.serving.engine.preset, of('engine'));
    const size = ({ published }) => published?.parameters ?? 0;
    this.#models = of('model')
      .filter(({ published }) => published?.year >= SINCE)
      .sort((a, b) => size(b) - size(a));
    this.#found = [];
    const axes = [`model.preset=${this.#models.map(({ id }) => id).join(',')}`];
    for (const way of this.#ways) {
      const spec = { request: requestOf(inputsOf(kept, cluster, way)), axes, report: FIGURES };
      const { rows = [] } = await this.#pool.call('sweep', spec, 0, this.#models.length);
      if (key !== this.#key) return;
      this.#found.push(this.#models.map((model, i) => found(rows[i], model)));
    }
    this.#draw();
  }

  #draw() {
    if (!this.#cluster) return;
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = this.#models
      .map((model, i) => ({ model, cells: this.#found.map((list) => list[i]) }))
      .filter(({ cells }) => cells.some(Boolean));
    const kept = fits.filter(({ model }) =>
      words.every((word) => `${model.id} ${model.name}`.toLowerCase().includes(word)),
    );
    const shown = this.#whole ? kept : kept.slice(0, FIRST_ROWS);
    this.status.textContent = t('explore.fits.count', {
      device: cardName(this.#catalogue, this.#cluster.id),
      fits: whole(fits.length),
      all: whole(this.#models.length),
      year: SINCE,
    });
    const title = ({ name, weights }) => `${name} · ${weights}`;
    if (fits.length > 0 && kept.length === 0) {
      redraw(this.table, h('p', { class: 'ex-status' }, t('explore.fits.none')));
      return;
    }
    redraw(
      this.table,
      h(
        'table',
        {},
        h('caption', { class: 'visually-hidden' }, t('explore.fits.caption')),
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', { scope: 'col' }, t('group.model')),
            this.#ways.map((way) => h('th', { scope: 'col' }, way.name, h('br'), way.weights)),
          ),
        ),
        h(
          'tbody',
          {},
          shown.map(({ model, cells }) =>
            h(
              'tr',
              {},
              h('th', { scope: 'row' }, model.name),
              cells.map((cell, i) =>
                h(
                  'td',
                  { 'data-l': title(this.#ways[i]), 'class': cell ? undefined : 'quiet' },
                  cell ? this.#cell(model, this.#ways[i], cell) : '–',
                ),
              ),
            ),
          ),
        ),
      ),
      kept.length > shown.length &&
        button(t('explore.rows', { count: whole(kept.length) }), () => ((this.#whole = true), this.#draw()), {
          'class': 'ex-plain',
          'data-key': 'fits-rows',
        }),
    );
  }

  #cell(model, way, { rate, context, users }) {
    const take = () => {
      const { store, open } = this.#context;
      store.setInputs(inputsOf(this.#cluster.kept, this.#cluster.id, way, model.id));
      open('overview');
    };
    const rateText = t('explore.fits.rate', { rate: text(rate, '') });
    const room = t('explore.fits.room', {
      context: text(context, ' tokens').replace(/\s+/g, '\u00a0'),
      users: whole(users),
    });
    return h(
      'button',
      {
        'type': 'button',
        'class': 'fit',
        'data-key': `fit-${model.id}-${way.engine}-${way.weights}`,
        'aria-label': t('explore.fits.take', {
          model: model.name,
          engine: way.name,
          weights: way.weights,
          rate: rateText,
          room,
        }),
        'onclick': take,
      },
      h('b', {}, rateText),
      h('small', {}, room),
    );
  }
}

// The context that fits the memory and that the model supports; users with the scenario's prompt and output.
function found(row, { context: most = Infinity }) {
  const [feasible, rate, context, perReplica, running, ofReplica] = row?.figures ?? [];
  return feasible === true
    ? { rate, context: Math.min(context, most), users: (perReplica * running) / ofReplica }
    : null;
}

// "8 × H100" for a server, "RTX 4090" for a device.
function cardName(catalogue, id) {
  const cluster = catalogue.find((one) => one.kind === 'cluster' && one.id === id);
  const device = catalogue.find((one) => one.kind === 'device' && one.id === cluster?.device?.preset);
  const name = shortDevice(device?.name ?? cluster?.name ?? id);
  return cluster?.devices > 1 ? `${whole(cluster.devices)} × ${name}` : name;
}
