// Which chip, package and network to build: cost against time over nodes, memories, chiplets and topologies, each with all its mappings.
// One search of the core; the axes multiply its space.
/** @import {Context} from '../types.js' */
import { h } from '../dom.js';
import { text, whole } from '../text/format.js';
import { Asked } from './asked.js';
import { OPENING_MS, button, faults, labelled, reasonName, select, textBox } from './controls.js';
import { Found } from './found.js';
import { DESIGN } from './questions.js';
import { t } from './texts.js';

const TOP = 20;
const NAMED = ['chip_design', 'node', 'dram_type'];
const FIGURES = { training: ['cost_usd', 'time_to_train_s'], serving: ['cost_usd_per_million_tokens', 'tpot_s'] };

export class DesignPanel {
  #pool;
  #names = new Map(); // of designs, nodes and memories, by id
  /** @type {Context} */
  #context = null;
  #job = null;
  #spec = null; // of the search that is heard
  #began = 0;
  #of = 'training';
  #own = null; // the inputs of the search that the panel opened with, while it runs

  constructor(pool) {
    this.#pool = pool;
    this.of = select(
      ['training', 'serving'].map((value) => ({ value, name: t(`explore.for.${value}`) })),
      this.#of,
      (of) => (this.#of = of),
    );
    this.axes = DESIGN.axes.map((axis) => ({ ...axis, box: textBox(axis.values) }));
    this.asked = new Asked('design', {
      for: this.of,
      ...Object.fromEntries(this.axes.map(({ id, box }) => [id, box])),
    });
    this.start = button(t('explore.design.start'), () => this.#ask(), {
      'class': 'primary',
      'id': 'design-start',
      'data-key': 'ex-design',
    });
    this.stop = button(t('explore.stop'), () => this.#job?.stop(), {
      'class': 'ex-plain',
      'hidden': true,
      'id': 'design-stop',
      'data-key': 'ex-design-stop',
    });
    this.bar = h('progress', { 'max': 1, 'value': 0, 'hidden': true, 'aria-label': t('explore.progress') });
    this.status = h('p', { class: 'ex-status', role: 'status', id: 'design-progress' });
    this.faults = h('div', {});
    this.found = new Found((path, id) => this.#names.get(id));
    pool.call('presets', '').then(
      (list) =>
        (this.#names = new Map(list.filter(({ kind }) => NAMED.includes(kind)).map(({ id, name }) => [id, name]))),
      () => {},
    );
    this.example = button(t('explore.design.example'), () => this.#context.store.setInputs({ ...DESIGN.inputs }), {
      'class': 'link',
      'data-key': 'ex-design-example',
    });
    this.element = h(
      'section',
      { class: 'ex-design' },
      h('p', { class: 'ex-questions' }, t('explore.questions'), ': ', this.example),
      h(
        'div',
        { class: 'ex-form' },
        labelled(t('explore.for'), this.of),
        this.axes.map(({ id, box }) => labelled(t(`explore.design.${id}`), box)),
      ),
      h('div', { class: 'ex-run' }, this.start, this.stop, this.bar),
      this.status,
      this.faults,
      this.found.element,
    );
  }

  /** @param {Context} context */
  show(context) {
    const first = !this.#context;
    this.#context = context;
    if (this.#own && this.#own !== context.inputs) this.#job?.stop();
    if (!context.request[this.#of]) this.of.value = this.#of = context.request.training ? 'training' : 'serving';
    this.found.show(context);
    const isAsked = this.asked.take(context.store);
    if (isAsked) this.#of = this.of.value;
    if (first || isAsked) this.#open();
  }

  #ask() {
    this.asked.keep(this.#context.store);
    return this.#begin();
  }

  // The panel opens with an answer: the search stops by itself if it is long, if the panel is left, or if the scenario
  // changes.
  async #open() {
    this.#own = this.#context.inputs;
    await this.#begin();
    setTimeout(() => this.#own && this.#job?.stop(), OPENING_MS);
  }

  #running(is) {
    this.start.hidden = is;
    this.stop.hidden = !is;
    this.bar.hidden = !is;
  }

  async #begin() {
    const of = this.#of;
    const { inputs, core } = this.#context;
    // Members of a design that the scenario lacks are axes of one value, so a design found includes them.
    const has = (part) => Object.keys(inputs).some((path) => path.startsWith(part));
    const given = DESIGN.given.filter(({ part }) => !has(part)).map(({ path, value }) => `${path}=${value}`);
    const varied = this.axes
      .filter(({ box }) => box.value.trim())
      .map(({ path, box }) => `${path}=${box.value.replace(/\s+/g, '')}`);
    const unknown = this.#unknown();
    if (unknown.length > 0) return this.#refuse(unknown);
    const [objective, against] = FIGURES[of];
    const spec = {
      for: of,
      objective,
      pareto: [against],
      limits: DESIGN.limits[of],
      axes: [...given, ...varied],
      top: TOP,
    };
    this.#job?.stop();
    this.#spec = spec;
    this.faults.replaceChildren();
    this.#running(true);
    this.bar.value = 0;
    this.#began = performance.now();
    this.found.begin({ of, spec, inputs });
    try {
      const hear = (report, state) => spec === this.#spec && this.#hear(report, state);
      this.#job = await this.#pool.search({ ...spec, request: core.requestFor(inputs) }, hear, (error) =>
        this.#end(error),
      );
    } catch (error) {
      this.#end(error);
    }
  }

  // Nodes and memories that the catalogue has not.
  #unknown() {
    return this.axes
      .filter(({ id }) => this.#names.size > 0 && ['nodes', 'memories'].includes(id))
      .flatMap(({ id, box }) =>
        box.value
          .replace(/\s+/g, '')
          .split(',')
          .filter((one) => one && !this.#names.has(one))
          .map((one) => ({ path: t(`explore.design.${id}`), message: t('explore.design.unknown', { name: one }) })),
      );
  }

  // Under the names of the fields.
  #refuse(issues) {
    const nameOf = (path) => {
      const axis = this.axes.find((one) => one.path === path);
      return axis ? t(`explore.design.${axis.id}`) : path;
    };
    this.#job?.stop();
    this.#spec = null;
    this.status.textContent = '';
    this.faults.replaceChildren(faults(issues.map(({ path, message }) => ({ path: nameOf(path), message }))));
    this.#end();
  }

  #end(error) {
    this.#own = null;
    this.#running(false);
    if (error) this.status.textContent = t('app.stopped', { message: error.message });
  }

  #hear(report, state) {
    if (report.issues) {
      this.#refuse(report.issues);
      return;
    }
    if (this.#own && !this.element.isConnected) this.#job?.stop();
    this.bar.value = report.done / report.space;
    const rejected = Object.entries(report.rejected).map(
      ([reason, count]) => `${reasonName(this.#of, reason)} ${whole(count)}`,
    );
    this.status.textContent = t(state === 'running' ? 'explore.design.progress' : 'explore.design.done', {
      done: whole(report.done),
      space: whole(report.space),
      time: text((performance.now() - this.#began) / 1000, 's'),
      rejected: rejected.join(', '),
    });
    this.found.hear(report, state);
    if (state !== 'running') this.#end();
  }
}
