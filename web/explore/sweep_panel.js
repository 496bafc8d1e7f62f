// A figure along one input, as a line or a column of choices, or over two, as a map; or the time by bound at each point, as stacked bars.
// Computed in chunks that can be stopped.
/** @import {Context} from '../types.js' */
import { heat } from '../charts/heat.js';
import { lines } from '../charts/lines.js';
import { h, redraw } from '../dom.js';
import { labelOf, write } from '../form/fields.js';
import { get } from '../state/paths.js';
import { nameOf } from '../report/names.js';
import { text, unitOf, whole } from '../text/format.js';
import { allInUnit, unitIn } from '../text/measure.js';
import { Asked } from './asked.js';
import { byBound, passesOf, passOf, views } from './by_bound.js';
import {
  button,
  faults,
  figureGroups,
  figureName,
  fillSelect,
  inputGroups,
  labelled,
  select,
  tellStale,
  textBox,
} from './controls.js';
import { thinned } from './ranking.js';
import { cellOf, chunkAfter, isBad, mappingWords, nameOfValue, objectiveFor, valuesAbout } from './sweep_values.js';
import { t } from './texts.js';

const MOST_CELLS = 900;
const MOST_POINTS = 500;
const MOST_BARS = 40;
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
    redraw(
      this.chart,
      isStacked ? this.#stack(controls) : axes.length === 2 ? this.#heat(controls) : this.#line(controls),
    );
  }

  // The time of each point by bound; they follow the figure and the reason for infeasibility.
  #stack(controls) {
    const { axes, figure, rows, pass } = this.#result;
    const cells = rows.map(cellOf);
    const every = Math.ceil(rows.length / MOST_BARS);
    const bad = cells.filter(isBad).length;
    const names = rows.map(({ inputs }) => inputs.map(this.#say).join(', '));
    const mapped = rows.some(({ mapping }) => mapping);
    const misfits = names.filter((_, i) => isBad(cells[i]) && rows[i].figures[3]);
    return byBound({
      id: 'sweep-chart',
      title: t('explore.sweep.result', {
        figure: nameOf(pass.bounds),
        input: axes.map(([path]) => labelOf(path)).join(', '),
      }),
      subtitle: every > 1 ? t('explore.every.bar', { every }) : undefined,
      width: this.#width,
      every,
      names: [
        axes.map(([path]) => labelOf(path)).join(', '),
        figureName(figure),
        ...(mapped ? [t('explore.sweep.mapping')] : []),
        t('heat.reason'),
      ],
      rows: rows.map(({ figures, mapping }, i) => ({
        label: names[i],
        times: figures[3],
        levels: figures[4],
        words: figures[3] ? undefined : cells[i].reason,
        about: [mapping && mappingWords(mapping), cells[i].reason].filter(Boolean).join(', '),
        cells: [
          typeof cells[i].value === 'number' ? { value: cells[i].value, unit: unitOf(figure) } : '',
          ...(mapped ? [mappingWords(mapping)] : []),
          cells[i].reason ?? '',
        ],
      })),
      note: [
        bad > 0 && t('explore.lines.bad', { bad, all: rows.length }),
        misfits.length > 0 && every === 1 && t('explore.bars.infeasible', { list: misfits.join('; ') }),
      ]
        .filter(Boolean)
        .join(' '),
      controls,
    });
  }

  // A value of an axis in readable form.
  #say = (value, axis) => nameOfValue(value, this.#result.kinds[axis], this.#catalogue);

  #extremes(cells, names) {
    const good = cells.filter((cell) => !isBad(cell)).sort((a, b) => a.value - b.value);
    const unit = unitOf(this.#result.figure);
    const bad = cells.length - good.length;
    const ends = good.length > 0 && {
      least: text(good[0].value, unit),
      leastAt: names(good[0]),
      most: text(good.at(-1).value, unit),
      mostAt: names(good.at(-1)),
    };
    const said = [
      ends && t('explore.lines.summary', ends),
      bad > 0 && t('explore.lines.bad', { bad, all: cells.length }),
    ];
    return { bad, words: said.filter(Boolean).join(' ') };
  }

  #line(controls) {
    const { axes, kinds, figure, rows } = this.#result;
    const unit = unitOf(figure);
    const cells = rows.map(cellOf);
    const numeric = rows.every(({ inputs }) => typeof inputs[0] === 'number');
    const names = rows.map(({ inputs }) => this.#say(inputs[0], 0));
    const drawable = cells.map((cell, i) => ({ ...cell, i })).filter(({ value }) => typeof value === 'number');
    const { bad, words } = this.#extremes(cells, (cell) => names[cells.indexOf(cell)]);
    const mapped = rows.some(({ mapping }) => mapping);
    const columns = [
      labelOf(axes[0][0]),
      figureName(figure),
      mapped && t('explore.sweep.mapping'),
      t('heat.reason'),
    ].filter(Boolean);
    const table = () =>
      rows.map(({ mapping }, i) => [
        names[i],
        typeof cells[i].value === 'number' ? { value: cells[i].value, unit } : '',
        ...(mapped ? [mappingWords(mapping)] : []),
        cells[i].reason ?? '',
      ]);
    const title = t('explore.sweep.result', { figure: figureName(figure), input: labelOf(axes[0][0]) });
    const with_ = ({ mapping }) => (mapping ? `, ${mappingWords(mapping)}` : '');
    const label = ({ i, value, reason }) =>
      `${names[i]}: ${text(value, unit)}${with_(rows[i])}${reason ? `, ${reason}` : ''}`;
    if (!numeric || drawable.length === 0) {
      return heat({
        id: 'sweep-chart',
        title,
        controls,
        width: this.#width,
        x: { label: figureName(figure), names: [''] },
        y: { label: labelOf(axes[0][0]), names },
        cells: cells.map((cell, i) => ({ ...cell, x: 0, y: i })),
        unit,
        summary: words,
      });
    }
    const xs = drawable.map(({ i }) => rows[i].inputs[0]);
    const across = {
      label: labelOf(axes[0][0]),
      unit: kinds[0]?.kind === 'quantity' ? '' : 'count',
      log: Math.min(...xs) > 0 && Math.max(...xs) / Math.min(...xs) > 15,
    };
    if (xs.some((x) => !Number.isInteger(x))) across.unit = '';
    const ys = drawable.map(({ value }) => value);
    return lines({
      id: 'sweep-chart',
      title,
      controls,
      subtitle: bad ? t('explore.hollow') : undefined,
      width: this.#width,
      x: across,
      y: { label: figureName(figure), unit, log: Math.min(...ys) > 0 && Math.max(...ys) / Math.min(...ys) > 20 },
      series: [
        {
          name: figureName(figure),
          color: 'var(--c-forward)',
          points: thinned(drawable, MOST_POINTS).points.map((cell) => ({
            x: rows[cell.i].inputs[0],
            y: cell.value,
            label: label(cell),
            hollow: Boolean(cell.reason),
          })),
        },
      ],
      summary: words,
      columns,
      rows: table,
    });
  }

  #heat(controls) {
    const { axes, figure, rows } = this.#result;
    const keys = [0, 1].map((at) => [...new Set(rows.map(({ inputs }) => JSON.stringify(inputs[at])))]);
    const names = keys.map((list, at) => list.map((one) => this.#say(JSON.parse(one), at)));
    const places = keys.map((list) => new Map(list.map((key, i) => [key, i])));
    const [y, x] = [0, 1].map((at) => (row) => places[at].get(JSON.stringify(row.inputs[at])));
    const cells = rows.map((row) => ({ ...cellOf(row), y: y(row), x: x(row) }));
    // A large map draws only every n-th row and column; the table has all.
    const every = Math.ceil(Math.sqrt(cells.length / MOST_CELLS));
    const drawn = names.map((list) => list.filter((_, i) => i % every === 0));
    const { words } = this.#extremes(cells, ({ x, y }) => `${names[0][y]}, ${names[1][x]}`);
    return heat({
      id: 'sweep-chart',
      title: t('explore.heat.result', { figure: figureName(figure), a: labelOf(axes[0][0]), b: labelOf(axes[1][0]) }),
      subtitle: every > 1 ? t('explore.every', { every }) : undefined,
      controls,
      width: this.#width,
      y: { label: labelOf(axes[0][0]), names: drawn[0] },
      x: { label: labelOf(axes[1][0]), names: drawn[1] },
      cells: cells
        .filter((one) => one.x % every === 0 && one.y % every === 0)
        .map((one) => ({ ...one, x: one.x / every, y: one.y / every })),
      rows: () =>
        cells.map((one) => [
          names[0][one.y],
          names[1][one.x],
          typeof one.value === 'number' ? { value: one.value, unit: unitOf(figure) } : '',
          one.reason ?? '',
        ]),
      unit: unitOf(figure),
      summary: words,
    });
  }
}
