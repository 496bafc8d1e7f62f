// The Size scene: a traffic and its targets in three groups of fields, the cheapest deployment in a sentence, clusters cheapest first,
// and what more traffic costs. Made once; it keeps what was asked while the scenario changes.
/** @import {Context} from '../types.js' */
import { costAt, hasEndCosts, steps } from '../charts/steps.js';
import { h, redraw } from '../dom.js';
import { pool } from '../engine/shared_pool.js';
import { asInputs } from '../explore/ranking.js';
import { modelName, shortDevice } from '../report/words.js';
import { heading } from '../scenes/parts.js';
import { withPick } from '../state/scenario.js';
import { text, whole } from '../text/format.js';
import { pieces } from '../text/strings.js';
import { askedOf, READERS, readQuestion, STANDARD, valueIn, writeQuestion } from './question.js';
import { costOf, Sizing } from './sizing.js';
import { dollars, percent, strong, tableOf } from './table.js';
import { t } from './texts.js';

const LENGTHS = ['serving.prompt', 'serving.output'];
const FIELDS = [
  ['traffic', ['rate', 'peak', 'spare']],
  ['lengths', [...LENGTHS, 'mix']],
  ['targets', ['ttft', 'tpot']],
];

// The cluster comes first, as it replaces everything written below it. A deployment only serves.
function withDeployment(inputs, { cluster, training, ...rest }) {
  const picked = cluster ? withPick(inputs, 'cluster', cluster) : inputs;
  return { ...asInputs(picked, rest), ...(training === null && { training: 'null' }) };
}

export class SizeView {
  /** @type {Context} */
  #context = null;
  #fields = new Map();
  #catalogue = [];
  #wrong = [];
  #typed = new Map(); // by name, what was not understood: {text, over: what the question has instead}
  #chosen = null;
  #shown = '';

  constructor() {
    this.sizing = new Sizing(pool, () => this.#draw());
    this.sentence = h('p', { class: 'lead size-answer', role: 'status' });
    this.clusters = h('fieldset', { class: 'ex-checks size-clusters' });
    this.clustersName = h('summary', {}, t('size.clusters.field'));
    this.served = h('p', { class: 'note' });
    this.groups = h(
      'div',
      { class: 'size-groups' },
      FIELDS.map(([group, names]) => this.#group(group, names)),
    );
    this.status = h('p', { class: 'ex-status', id: 'size-progress' });
    this.stop = h(
      'button',
      {
        'type': 'button',
        'class': 'link',
        'id': 'size-stop',
        'data-key': 'size-stop',
        'hidden': true,
        'onclick': () => this.sizing.stop(),
      },
      t('size.stop'),
    );
    this.run = h('div', { class: 'ex-run size-run' }, this.status, this.stop);
    this.table = h('div', {});
    this.chart = h('div', {});
    this.element = h(
      'section',
      { class: 'size' },
      this.sentence,
      this.groups,
      h('details', { 'class': 'ex-box', 'data-key': 'size-clusters' }, this.clustersName, this.clusters),
      this.run,
      this.table,
      this.chart,
    );
    pool.call('presets', '').then((list) => {
      this.#catalogue = list;
      this.#drawClusters();
      this.#draw();
    });
  }

  #group(group, names) {
    return h(
      'fieldset',
      { class: 'size-group' },
      h('legend', {}, t(`size.${group}`)),
      h(
        'div',
        { class: 'size-fields' },
        names.map((name) => this.#field(name)),
      ),
      group === 'traffic' && this.served,
      h('p', { class: 'note' }, t(`size.${group}.note`)),
    );
  }

  #field(name) {
    const id = `size-${name.replace('.', '-')}`;
    const box = h('input', {
      'type': 'text',
      id,
      'data-key': id,
      'inputmode': name === 'mix' ? 'text' : 'decimal',
      'autocomplete': 'off',
      'spellcheck': 'false',
      'aria-describedby': `${id}-fault`,
      'onchange': () => this.#enter(name, box.value),
      'onkeydown': (event) => event.key === 'Enter' && this.#enter(name, box.value),
    });
    const fault = h('small', { class: 'bad', id: `${id}-fault` });
    this.#fields.set(name, { box, fault });
    return h(
      'div',
      { class: name === 'mix' ? 'ex-field wide' : 'ex-field' },
      h('label', { for: id }, t(`size.${name}`)),
      box,
      fault,
    );
  }

  #question = () => readQuestion(this.#context.store.view.size);

  #enter(name, value) {
    const { store } = this.#context;
    if (name.includes('.')) {
      store.set(name, value.trim());
      return;
    }
    const question = this.#question();
    if (valueIn(name, value) === undefined) {
      this.#typed.set(name, { text: value, over: question[name] });
      this.#markAll(question);
    } else {
      this.#typed.delete(name);
      this.#ask({ ...question, [name]: value.trim() });
      this.#markAll(this.#question());
    }
  }

  // Texts that were not understood, typed or in the link, are reported at their field.
  #markAll(question) {
    for (const name of Object.keys(READERS)) {
      const typed = this.#typed.get(name);
      if (typed && typed.over !== question[name]) this.#typed.delete(name);
      const text = this.#typed.get(name)?.text ?? question[name];
      this.#mark(
        name,
        valueIn(name, text) === undefined
          ? t(`size.bad${name === 'tpot' ? '.tpot' : ''}`, {
              text: text.trim(),
              example: STANDARD[name] || t('size.mix.example'),
            })
          : '',
      );
    }
  }

  #mark(name, words) {
    const { box, fault } = this.#fields.get(name);
    box.setAttribute('aria-invalid', String(Boolean(words)));
    fault.textContent = words;
  }

  #ask(question) {
    const { store } = this.#context;
    const size = writeQuestion(question);
    if (size !== (store.view.size ?? '')) store.setView({ ...store.view, size });
  }

  /** @param {Context} context */
  show(context) {
    this.#context = context;
    const question = this.#question();
    this.#markAll(question);
    const written = {
      ...question,
      ...Object.fromEntries([...this.#typed].map(([name, { text: typed }]) => [name, typed])),
    };
    for (const path of LENGTHS) {
      const issue = context.issues.find((one) => one.path === path);
      this.#mark(path, issue?.message ?? '');
      written[path] = issue ? (context.inputs[path] ?? '') : whole(context.scenario.serving?.[path.split('.')[1]] ?? 0);
    }
    for (const [name, { box }] of this.#fields) if (document.activeElement !== box) box.value = written[name];
    this.#drawServed(question);
    const { asked, wrong } = askedOf(question);
    for (const path of LENGTHS) this.#fields.get(path).box.disabled = Boolean(asked?.mixture);
    const isOff = !context.scenario.serving || !context.scenario.cost;
    this.#wrong = isOff ? ['off'] : asked?.clusters.length === 0 ? ['clusters'] : wrong;
    if (asked && !this.#wrong.length) this.sizing.ask(asked, { ...context.request, training: null });
    this.#drawClusters();
    this.#draw();
  }

  // The rate of the scenario's users, who are counted and not timed, is a press away.
  #drawServed(question) {
    const { serving } = this.#context.report;
    const rate =
      serving?.feasible && !this.#context.hidden
        ? String(Number(serving.requests_per_s.toPrecision(3)))
        : question.rate;
    const take = h(
      'button',
      {
        'type': 'button',
        'class': 'link',
        'data-key': 'size-served',
        'onclick': () => this.#ask({ ...question, rate }),
      },
      t('size.served.use'),
    );
    const count = whole(serving?.requests_in_flight ?? 0);
    redraw(this.served, rate !== question.rate && [t('size.served', { rate, count }), ' ', take]);
  }

  #deviceOf(cluster) {
    const entry = this.#catalogue.find(({ kind, id }) => kind === 'cluster' && id === cluster);
    const device = this.#catalogue.find(({ kind, id }) => kind === 'device' && id === entry?.device?.preset);
    return shortDevice(device?.name ?? entry?.name ?? cluster);
  }
  #nameOf = ({ cluster, deployment }) => `${whole(deployment.devices)} × ${this.#deviceOf(cluster)}`;

  #drawClusters() {
    const all = this.#catalogue.filter(({ kind, id }) => kind === 'cluster' && !id.startsWith('single-'));
    if (!all.length || !this.#context) return;
    const question = this.#question();
    const on = question.on.split(',');
    this.clustersName.textContent = t('size.clusters', {
      count: all.filter(({ id }) => on.includes(id)).length,
      all: all.length,
    });
    const turn = (id, checked) =>
      this.#ask({ ...question, on: (checked ? [...on, id] : on.filter((one) => one !== id)).join(',') });
    redraw(
      this.clusters,
      h('legend', { class: 'visually-hidden' }, t('size.clusters.field')),
      all.map(({ id, name }) =>
        h(
          'label',
          {},
          h('input', {
            'type': 'checkbox',
            'value': id,
            'checked': on.includes(id),
            'data-key': `size-on-${id}`,
            'onchange': (event) => turn(id, event.target.checked),
          }),
          ` ${name}`,
        ),
      ),
    );
  }

  #draw() {
    if (!this.#context) return;
    const { state } = this.sizing;
    this.#drawRun(state);
    const missing = ['off', 'clusters'].find((one) => this.#wrong.includes(one));
    if (missing) {
      this.#shown = '';
      redraw(this.sentence, t(`size.none.${missing}`));
      this.table.replaceChildren();
      this.chart.replaceChildren();
      return;
    }
    if (this.#wrong.length && !state.asked) return redraw(this.sentence, t('size.wrong'));
    const shown = JSON.stringify([
      state.answers.length,
      state.asked,
      state.done,
      [...state.curves.values()].map(({ steps: list }) => list.length),
      this.#chosen,
      this.#context.width,
      this.#catalogue.length,
    ]);
    if (shown === this.#shown && !state.issues) return;
    this.#shown = shown;
    const holding = state.answers.filter(({ holds }) => holds);
    redraw(this.sentence, this.#answer(state, holding));
    redraw(this.table, state.answers.length > 0 && this.#tableOf(state.answers, holding));
    redraw(this.chart, this.#chartOf(state, holding));
  }

  #drawRun(state) {
    const words = state.error
      ? t('app.stopped', { message: state.error.message })
      : state.running
        ? t(state.done < state.of ? 'size.progress' : 'size.following', { done: state.done, of: state.of })
        : state.stopped
          ? t('size.stopped')
          : state.took
            ? t('size.took', { count: state.of, time: text(state.took / 1000, 's') })
            : '';
    this.status.textContent = words;
    this.stop.hidden = !state.running;
  }

  #answer(state, holding) {
    if (state.issues) return state.issues.map(({ path, message }) => `${path}: ${message}. `);
    const rate = text(state.asked ?? 0, '');
    if (state.done < state.of || !state.of) return t('size.waiting', { model: modelName(this.#context.scenario) });
    if (!holding.length) return t('size.none', { rate });
    const [best] = holding;
    const { headroom } = best;
    return pieces('size.answer', {
      model: strong(modelName(this.#context.scenario)),
      rate,
      cluster: strong(this.#nameOf(best)),
      cost: strong(t('size.perHour', { cost: dollars(costOf(best)) })),
      breaks: t(`size.breaks.${headroom.breaks_first}`),
      at: text(headroom.requests_per_s, ''),
      more: percent(headroom.traffic),
    });
  }

  #use(answer) {
    this.#chosen = answer.cluster;
    const { store, notice, open } = this.#context;
    store.setInputs(withDeployment(this.#context.inputs, answer.overrides));
    notice(
      t('size.used', { cluster: this.#nameOf(answer) }),
      0,
      h('button', { type: 'button', class: 'link', onclick: () => open('serve') }, t('size.open')),
    );
  }

  #tableOf(answers, holding) {
    const onchoose = (cluster) => {
      this.#chosen = cluster;
      this.#draw();
    };
    return tableOf(answers, holding, {
      chosen: this.#chosen ?? holding[0]?.cluster,
      deviceOf: (cluster) => this.#deviceOf(cluster),
      nameOf: this.#nameOf,
      onchoose,
      onuse: (answer) => this.#use(answer),
    });
  }

  #chartOf(state, holding) {
    const chosen = this.#chosen ?? holding[0]?.cluster;
    const series = holding
      .map(({ cluster }, at) => ({
        cluster,
        name: this.#deviceOf(cluster),
        steps: state.curves.get(cluster)?.steps ?? [],
        kind: cluster === chosen ? 'chosen' : at === 0 ? 'best' : '',
      }))
      .filter(({ steps: list }) => list.length > 1);
    if (!series.length) return null;
    const rate = state.asked;
    const [cheapest] = series.filter((one) => costAt(one, rate) !== undefined);
    return [
      h('div', { class: 'headrow' }, h('h2', {}, t('size.more')), h('span', { class: 'quiet' }, t('size.drag'))),
      steps({
        id: 'size-steps',
        title: t('size.chart'),
        subtitle: [t('size.chart.sub'), hasEndCosts(this.#context.width) && t('size.chart.sub.end')]
          .filter(Boolean)
          .join('; '),
        width: this.#context.width,
        x: { label: t('size.chart.x') },
        y: { label: t('size.chart.y') },
        series,
        here: rate,
        onrate: (value) => this.#ask({ ...this.#question(), rate: String(value) }),
        summary: cheapest
          ? t('size.chart.summary', {
              rate: text(rate, ''),
              name: cheapest.name,
              cost: dollars(costAt(cheapest, rate)),
              far: text(series[0].steps.at(-1).from, ''),
              more: dollars(series[0].steps.at(-1).usd),
            })
          : '',
        columns: [
          t('size.column.gpus'),
          t('size.chart.from'),
          t('size.chart.to'),
          t('size.chart.count'),
          t('size.chart.usd'),
        ],
        rows: () =>
          series.flatMap((one) =>
            one.steps.map(({ from, to, devices, usd }) => [
              one.name,
              { value: from, unit: '/s' },
              { value: to, unit: '/s' },
              { value: devices, unit: 'count' },
              { value: usd, unit: '$' },
            ]),
          ),
      }),
    ];
  }
}

let view = null;
/** @param {Context} context */
export function draw(context) {
  view ??= new SizeView();
  view.show(context);
  return [heading(t('size.title'), t('size.lead')), view.element];
}
