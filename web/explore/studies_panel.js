// The papers' studies: the question, the paper's statements, our results point by point, which trends are reproduced,
// and why the two differ. The pool computes the points, so a long study shows progress and can be stopped.
/** @import {Context} from '../types.js' */
import { heat } from '../charts/heat.js';
import { h, redraw } from '../dom.js';
import { unknownPlace } from '../scenes/parts.js';
import { text } from '../text/format.js';
import { button, fillSelect, labelled, select } from './controls.js';
import { views } from './by_bound.js';
import { boundChart, hasBounds, operatorsTable, pointsTable, ratiosTable, studyChart } from './study_chart.js';
import { nameOfFigure, unit } from './study_checks.js';
import { flat, inputsOf } from './study_inputs.js';
import { expectationsOf, verdictOf } from './study_verdict.js';
import { inputsNamed } from './study_words.js';
import { t } from './texts.js';

const MOST_AT_ONCE = 60;
const REDRAW_MS = 200;

// A point named by ids of the catalogue ("5nm / hbm3e") is shown with their names.
const NAMED = ['node', 'dram_type', 'network'];
const LABELED = ['label', 'over', 'of', 'at', 'along'];
const renamed = (names, label) =>
  label
    .split(/( \/ |, )/)
    .map((part) => names.get(part) ?? part)
    .join('');
function withNames(names, json, member = '') {
  if (Array.isArray(json)) return json.map((one) => withNames(names, one, member));
  if (json !== null && typeof json === 'object')
    return Object.fromEntries(Object.entries(json).map(([key, one]) => [key, withNames(names, one, key)]));
  return typeof json === 'string' && LABELED.includes(member) ? renamed(names, json) : json;
}

const sizeOf = (study) =>
  study.points?.length ?? study.axes.reduce((size, axis) => size * axis.split('=')[1].split(',').length, 1);

export class StudiesPanel {
  #pool;
  /** @type {Context} */
  #context = null;
  #id = '';
  #run = null;
  #names = new Map(); // of the catalogue's technologies, by id
  #points = [];
  #whole = null;
  #drawn = 0;
  #width = 0;
  #slice = 0;
  #bounds = false; // the chart shows what the time is bound by

  constructor(pool) {
    this.#pool = pool;
    this.unknown = h('div', {});
    this.choice = select([], '', (id) => this.#context.open('explore', `studies/${id}`));
    this.status = h('p', { class: 'ex-status', role: 'status' });
    this.progress = h('progress', { 'aria-label': t('explore.study.progress') });
    this.start = button(t('explore.study.run'), () => this.#begin(), { class: 'primary' });
    this.stop = button(t('explore.stop'), () => this.#run?.stop(), { class: 'ex-plain' });
    this.bar = h('div', { class: 'ex-run' }, this.start, this.stop, this.progress, this.status);
    this.result = h('div', { class: 'ex-study' });
    this.element = h(
      'section',
      {},
      this.unknown,
      h('div', { class: 'ex-form ex-wide' }, labelled(t('explore.study'), this.choice)),
      this.bar,
      this.result,
    );
    this.ready = Promise.all([pool.call('presets', 'study'), pool.call('presets', '')]).then(([studies, catalogue]) => {
      this.#names = new Map(catalogue.filter(({ kind }) => NAMED.includes(kind)).map(({ id, name }) => [id, name]));
      const list = studies.map((study) => ({
        ...study,
        ...withNames(this.#names, { points: study.points, chart: study.chart, ratios: study.ratios }),
      }));
      this.list = list;
      fillSelect(
        this.choice,
        list.map(({ id, title }) => ({ value: id, name: title })),
        list[0]?.id,
      );
    });
  }

  /** @param {Context} context */
  async show(context) {
    this.#context = context;
    try {
      await this.ready;
      const wanted = this.#context.store.sub.split('/')[1];
      const known = this.list.find((one) => one.id === wanted);
      redraw(this.unknown, wanted && !known && unknownPlace(wanted));
      const { id } = known ?? this.list[0];
      this.choice.value = id;
      if (id !== this.#id) this.#open(id);
      else if (context.width !== this.#width) this.#draw();
    } catch (error) {
      this.status.textContent = t('app.stopped', { message: error.message });
    }
  }

  get #study() {
    return this.list.find(({ id }) => id === this.#id);
  }

  #open(id) {
    this.#run?.stop();
    this.#run = null;
    this.#id = id;
    this.#points = [];
    this.#whole = null;
    this.#slice = 0;
    this.#bounds = false;
    this.#draw();
    if (sizeOf(this.#study) <= MOST_AT_ONCE) this.#begin();
  }

  async #begin() {
    const id = this.#id;
    const size = sizeOf(this.#study);
    const points = [];
    const named = [];
    this.#points = named;
    this.#whole = null;
    const begun = performance.now();
    const run = this.#pool.each(
      'studyPoint',
      size,
      (at) => [id, at],
      (answer, at) => {
        points[at] = answer.point;
        named[at] = withNames(this.#names, answer.point);
        if (id === this.#id && performance.now() - this.#drawn > REDRAW_MS) this.#draw();
      },
    );
    this.#run = run;
    this.#draw();
    try {
      const all = await run.done;
      if (run !== this.#run) return;
      if (all) this.#whole = withNames(this.#names, await this.#pool.call('studyOfPoints', id, JSON.stringify(points)));
      if (run !== this.#run) return;
      this.#run = null;
      this.took = (performance.now() - begun) / 1000;
      this.#draw();
    } catch (error) {
      this.#run = null;
      this.#draw();
      this.status.textContent = t('app.stopped', { message: error.message });
    }
  }

  #draw() {
    this.#drawn = performance.now();
    this.#width = this.#context.width;
    const study = this.#study;
    const size = sizeOf(study);
    const done = this.#points.filter(Boolean).length;
    const running = this.#run !== null;
    this.start.hidden = running || (this.#whole !== null && size <= MOST_AT_ONCE);
    this.start.textContent = t(done && done < size ? 'explore.again' : 'explore.study.run');
    this.stop.hidden = !running;
    this.progress.hidden = !running;
    this.progress.max = size;
    this.progress.value = done;
    this.status.textContent = running
      ? t('explore.points', { done, all: size })
      : this.#whole
        ? t('explore.study.took', { all: size, time: text(this.took, 's') })
        : done
          ? t('explore.points', { done, all: size })
          : t('explore.study.size', { all: size });
    const open = new Set([...this.result.querySelectorAll('details[open]')].map((one) => one.dataset.key));
    const named = (words) => words && inputsNamed(words, this.#context.core.described.inputs);
    const term = (key, words) => words && [h('dt', {}, t(key)), h('dd', {}, named(words))];
    this.result.replaceChildren(
      h('h2', { class: 'ex-sub' }, study.title),
      h('p', {}, study.question),
      this.#chart(study) ?? '',
      ratiosTable(study, this.#points),
      operatorsTable(study, this.#points),
      h(
        'div',
        { class: 'ex-reading' },
        h(
          'dl',
          {},
          term('explore.study.paper', study.paper),
          term('explore.study.says', study.paper_says),
          term('explore.study.reading', study.our_reading),
          term('explore.study.get', verdictOf(this.#whole)),
          term('explore.study.differs', study.differs),
        ),
        expectationsOf(this.#whole),
      ),
      this.#inputs(study),
      pointsTable(study, this.#points),
    );
    for (const one of this.result.querySelectorAll('details')) one.open = open.has(one.dataset.key);
  }

  #chart(study) {
    const { chart } = study;
    const points = this.#points.filter(Boolean);
    if (!chart || !points.length) return null;
    const list = [
      { id: 'study', name: t('explore.study.own') },
      { id: 'bounds', name: t('bounds.bar') },
    ];
    const choose = (id) => {
      this.#bounds = id === 'bounds';
      this.#draw();
      this.result.querySelector('.views [aria-pressed=true]')?.focus();
    };
    const controls = hasBounds(study) ? views(list, this.#bounds ? 'bounds' : 'study', choose) : undefined;
    if (chart.heat) return this.#heat(study, controls);
    return this.#bounds
      ? boundChart(study, points, this.#width, controls)
      : studyChart(study, points, this.#whole, this.#width, controls);
  }

  // Two axes as a map; one value of the third at a time.
  #heat(study, controls) {
    const value = (point) => point.figures[study.chart.figure];
    const common = {
      id: 'study-chart',
      title: study.chart.title ?? nameOfFigure(study.chart.figure),
      width: this.#width,
      unit: unit(study.chart.figure),
      controls,
    };
    const known = this.#points
      .filter((point) => typeof point?.figures[study.chart.figure] === 'number')
      .sort((a, b) => value(a) - value(b));
    const [least, most] = [known[0], known.at(-1)];
    const summary = least
      ? t('explore.lines.summary', {
          least: text(value(least), common.unit),
          leastAt: least.label,
          most: text(value(most), common.unit),
          mostAt: most.label,
        })
      : '';
    const [rows, columns, slices] = study.axes.map((axis) =>
      axis
        .split('=')[1]
        .split(',')
        .map((one) => renamed(this.#names, one)),
    );
    const cells = [];
    for (const y of rows.keys()) {
      for (const x of columns.keys()) {
        const point = this.#points[(y * columns.length + x) * slices.length + this.#slice];
        if (point)
          cells.push({
            x,
            y,
            value: value(point) ?? undefined,
            reason: value(point) ? '' : (point.issues[0]?.message ?? t('explore.noFigure')),
          });
      }
    }
    if (!cells.some(({ value: one }) => one)) return null;
    const which = select(
      slices.map((name, i) => ({ value: String(i), name })),
      String(this.#slice),
      (at) => {
        this.#slice = Number(at);
        this.#draw();
        this.result.querySelector('select')?.focus();
      },
    );
    return h(
      'div',
      {},
      h('div', { class: 'ex-form' }, labelled(t('explore.study.slice'), which)),
      this.#bounds
        ? boundChart(
            study,
            this.#points.filter((point, i) => point && i % slices.length === this.#slice),
            this.#width,
            controls,
          )
        : heat({
            ...common,
            x: { label: t('explore.study.memory'), names: columns.map((name) => name.replace(/ \(.*\)$/, '')) },
            y: { label: t('explore.study.node'), names: rows },
            cells,
            summary,
          }),
    );
  }

  // The inputs: the scenario over the default one, and the changes of each point.
  #inputs(study) {
    const given = Object.entries(flat(study.request));
    const point = study.points?.[0];
    const apply = () => {
      const { defaults, inputs: fields } = this.#context.core.described;
      const inputs = { ...inputsOf(defaults, study.request, fields), ...(point ? flat(point.overrides) : {}) };
      this.#context.store.setInputs(inputs);
      this.#context.open('overview');
    };
    return h(
      'details',
      { 'class': 'ex-box', 'data-key': 'study-inputs' },
      h('summary', {}, t('explore.study.inputs')),
      h(
        'dl',
        { class: 'ex-given' },
        given.map(([path, one]) => [h('dt', {}, path), h('dd', {}, one)]),
      ),
      study.axes &&
        h(
          'ul',
          { class: 'ex-given' },
          study.axes.map((axis) => h('li', {}, axis.replace('=', ': ').replaceAll(',', ', '))),
        ),
      study.verb ? null : button(t('explore.study.open'), apply, { class: 'ex-plain' }),
    );
  }
}
