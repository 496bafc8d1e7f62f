// A figure along one input, as a line or a column of choices, or over two, as a map; or the time by bound at each point, as stacked bars.
// Computed in chunks that can be stopped.
/** @import {Context} from '../types.js' */
import { h, redraw } from '../dom.js';
import { write } from '../form/fields.js';
import { get } from '../state/paths.js';
import { nameOf } from '../report/names.js';
import { whole } from '../text/format.js';
import { allInUnit, unitIn } from '../text/measure.js';
import { Asked } from './asked.js';
import { passesOf, passOf, views } from './by_bound.js';
import {
  button,
  faults,
  figureGroups,
  fillSelect,
  inputGroups,
  labelled,
  select,
  tellStale,
  textBox,
} from './controls.js';
import { asLine, asMap, stacked } from './sweep_chart.js';
import { chunkAfter, objectiveFor, valuesAbout } from './sweep_values.js';
import { t } from './texts.js';

const FIRST = {
  one: ['serving.concurrency', 'serving.batch', 'training.mapping.tp', 'cluster.devices'],
  figure: ['serving.tpot_s', 'training.step_time_s', 'cost.device_usd'],
};

export class SweepPanel {
  #pool;
  /** @type {Context} */
  #context = null;
  #run = null; // {request, lanes}
  #result = null;
  #width = 0;
  #catalogue = [];
  #view = null; // 'figure' or the name of a time by bound; null: as suits the figure

  constructor(pool) {
    this.#pool = pool;
    this.one = select([], '', () => this.#suggest(this.one, this.oneValues));
    this.oneValues = textBox('');
    this.two = select([], '', () => this.#suggest(this.two, this.twoValues));
    this.twoValues = textBox('');
    this.figure = select([], '');
    this.best = select(
      ['none', 'training', 'serving'].map((value) => ({ value, name: t(`explore.best.${value}`) })),
      'none',
    );
    const { one, oneValues, two, twoValues, figure, best } = this;
    this.asked = new Asked('sweep', { one, oneValues, two, twoValues, figure, best });
    this.start = button(t('explore.run'), () => this.#ask(), {
      'class': 'primary',
      'id': 'sweep-start',
      'data-key': 'ex-sweep',
    });
    this.stop = button(t('explore.stop'), () => this.#end(), {
      'class': 'ex-plain',
      'hidden': true,
      'data-key': 'ex-sweep-stop',
    });
    this.bar = h('progress', { 'max': 1, 'value': 0, 'hidden': true, 'aria-label': t('explore.progress') });
    this.status = h('p', { class: 'ex-status', role: 'status' });
    this.stale = h('p', { class: 'note', role: 'status' });
    this.chart = h('div', {});
    this.twoField = labelled(t('explore.secondValues'), this.twoValues);
    this.element = h(
      'section',
      { class: 'ex-sweep' },
      h(
        'div',
        { class: 'ex-form' },
        labelled(t('explore.figure'), this.figure),
        labelled(t('explore.input'), this.one),
        labelled(t('explore.values'), this.oneValues, t('explore.values.hint')),
        labelled(t('explore.second'), this.two),
        this.twoField,
        labelled(t('explore.sweep.best'), this.best),
      ),
      h('div', { class: 'ex-run' }, this.start, this.stop, this.bar),
      this.status,
      this.stale,
      this.chart,
    );
    pool.call('presets', '').then(
      (list) => (this.#catalogue = list),
      () => {},
    );
  }

  /** @param {Context} context */
  show(context) {
    const first = !this.#context;
    this.#context = context;
    const { described } = context.core;
    const groups = inputGroups(described, ({ kind, presets }) => presets || !['object', 'text', 'list'].includes(kind));
    const offered = new Set(groups.flatMap(({ options }) => options.map(({ value }) => value)));
    const one =
      this.one.value ||
      FIRST.one.find((path) => offered.has(path) && (get(context.scenario, path) ?? null) !== null) ||
      'cluster.devices';
    fillSelect(this.one, groups, one);
    fillSelect(this.two, [{ value: '', name: t('explore.against.none') }, ...groups], this.two.value);
    const figures = figureGroups(context.report);
    const known = figures.flatMap(({ options }) => options.map(({ value }) => value));
    fillSelect(
      this.figure,
      figures,
      known.includes(this.figure.value) ? this.figure.value : FIRST.figure.find((path) => known.includes(path)),
    );
    const isAsked = this.asked.take(context.store);
    if (first && !isAsked) this.#suggest(this.one, this.oneValues);
    if ((first || isAsked) && this.oneValues.value) this.#begin(); // opens with an answer
    this.twoField.hidden = !this.two.value;
    if (this.#run && this.#run.request !== context.request) this.#end(); // an edit asks something else
    if (this.#result && context.width !== this.#width) this.#draw();
    this.#tellStale();
  }

  #tellStale() {
    tellStale(this.stale, this.#result, this.#context.inputs);
  }

  #suggest(choice, values) {
    const input = this.#context.core.described.inputs.find(({ path }) => path === choice.value);
    const ids = input?.presets ? this.#catalogue.filter(({ kind }) => kind === input.presets).map(({ id }) => id) : [];
    values.value = input ? valuesAbout(input, get(this.#context.scenario, input.path), ids) : '';
    this.twoField.hidden = !this.two.value;
  }

  #ask() {
    this.asked.keep(this.#context.store);
    return this.#begin();
  }

  #end() {
    this.#run?.lanes?.stop();
    this.#run = null;
    this.stop.hidden = true;
    this.bar.hidden = true;
    this.start.hidden = false;
  }

  async #begin() {
    this.#end();
    const axes = [this.one, this.two]
      .map((one, i) => [one.value, [this.oneValues, this.twoValues][i].value.trim()])
      .filter(([path]) => path);
    const figure = this.figure.value;
    const part = figure.split('.')[0];
    const { request, inputs: written } = this.#context;
    if (figure !== this.#result?.figure || axes.length !== this.#result.axes.length) this.#view = null;
    this.#view ??= (axes.length === 1 && passOf(figure)?.id) || 'figure'; // two inputs make a map first
    const pass = passesOf(figure).find(({ id }) => id === this.#view);
    const inputs = this.#context.core.described.inputs;
    const kinds = axes.map(([path]) => inputs.find((input) => input.path === path));
    // Bare numbers are in the unit in which the form shows the input.
    const units = axes.map(([path], i) =>
      kinds[i]?.kind === 'quantity' ? unitIn(write(kinds[i], get(this.#context.scenario, path))) || kinds[i].unit : '',
    );
    const spec = JSON.stringify({
      request,
      axes: axes.map(
        ([path, values], i) =>
          `${path}${kinds[i]?.presets ? '.preset' : ''}=${allInUnit(values, units[i]).replace(/\s*,\s*/g, ',')}`,
      ),
      report: [figure, `${part}.feasible`, `${part}.infeasible`, ...(pass ? [pass.bounds, pass.levels] : [])],
      search:
        this.best.value === 'none' ? null : { for: this.best.value, objective: objectiveFor(figure, this.best.value) },
    });
    this.start.hidden = true;
    this.stop.hidden = false;
    this.bar.hidden = false;
    this.bar.value = 0;
    this.status.textContent = '';
    const rows = [];
    const spans = [];
    let [from, size, count, issues] = [0, Infinity, 4, null];
    let answered = 0;
    const run = { request };
    this.#run = run;
    // An idle worker takes the next points, few enough that a stop acts soon.
    const hear = (answer, at) => {
      if (run !== this.#run) return;
      const { start, began } = spans[at];
      issues ??= answer.issues ?? null;
      size = answer.size ?? 0;
      answer.rows?.forEach((row, i) => (rows[start + i] = row));
      answered += answer.rows?.length ?? 0;
      count = chunkAfter(answer.rows?.length || 1, performance.now() - began);
      if (issues || from >= size) run.lanes.stop();
      this.bar.value = size > 0 ? answered / size : 0;
      this.status.textContent = t('explore.points', { done: whole(answered), all: whole(size) });
    };
    const ask = (at) => {
      spans[at] = { start: from, began: performance.now() };
      from += count;
      return [spec, spans[at].start, from];
    };
    try {
      run.lanes = this.#pool.each('sweep', Infinity, ask, hear);
      await run.lanes.done;
      if (run !== this.#run) return;
      if (issues) {
        this.#result = null;
        this.status.textContent = '';
        this.chart.replaceChildren(faults(issues));
      } else {
        this.#result = { axes, kinds, figure, rows, pass, inputs: written, own: axes.map(([path]) => path) };
        this.#draw();
      }
      this.#tellStale();
    } catch (error) {
      this.status.textContent = t('app.stopped', { message: error.message });
    }
    if (run === this.#run) this.#end();
  }

  #draw() {
    this.#width = this.#context.width;
    const { axes, figure, pass } = this.#result;
    const passes = passesOf(figure);
    const list = [
      { id: 'figure', name: t(`explore.show.${axes.length === 2 ? 'map' : 'figure'}`) },
      ...passes.map(({ id, bounds }) => ({ id, name: nameOf(bounds) })),
    ];
    const choose = (id) => {
      this.#view = id;
      if (id === 'figure' || id === pass?.id) this.#draw();
      else this.#begin(); // parts are asked for where they are shown
    };
    const isStacked = pass !== undefined && this.#view === pass.id;
    const controls = passes.length ? views(list, isStacked ? pass.id : 'figure', choose) : undefined;
    const drawn = { result: this.#result, catalogue: this.#catalogue, width: this.#width, controls };
    redraw(this.chart, isStacked ? stacked(drawn) : axes.length === 2 ? asMap(drawn) : asLine(drawn));
  }
}
