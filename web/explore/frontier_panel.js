// Which accelerator serves a model best: throughput per GPU against interactivity, the best mapping of each cluster at
// each size, under a limit on TPOT. One search per cluster and size, one frontier per cluster.
/** @import {Context} from '../types.js' */
import { h } from '../dom.js';
import { withPick } from '../state/scenario.js';
import { inUnit, parse, unitIn } from '../text/measure.js';
import { text, whole } from '../text/format.js';
import { Asked } from './asked.js';
import { button, faults, labelled, select, textBox } from './controls.js';
import { Found } from './found.js';
import { CLUSTERS, DEVICES, FORMAT, MODELS, SLO } from './questions.js';
import { frontOf } from './ranking.js';
import { t } from './texts.js';

const FIGURES = ['tokens_per_s_per_device', 'tokens_per_s_per_user'];
const COLORS = ['forward', 'tp', 'dp', 'pp', 'recompute', 'ep', 'optimizer'].map((part) => `var(--c-${part})`);
const FORMATS = ['', 'bf16', 'fp8', 'nvfp4'];

const isTime = (words) => /^([nuµm]?s|min)?$/.test(unitIn(words));

export class FrontierPanel {
  #pool;
  /** @type {Context} */
  #context = null;
  #run = 0;
  #job = null;
  #catalogue = [];

  constructor(pool) {
    this.#pool = pool;
    this.model = select([], '');
    this.clusters = h('fieldset', { class: 'ex-checks' });
    this.devices = textBox(DEVICES);
    this.tpot = textBox(SLO);
    this.format = select(
      FORMATS.map((value) => ({ value, name: value || t('explore.format.own') })),
      FORMAT,
    );
    const { model, devices, tpot, format } = this;
    this.asked = new Asked('frontier', { model, devices, tpot, format, clusters: this.#chosenClusters() });
    this.start = button(t('explore.frontier.start'), () => this.#ask(), {
      'class': 'primary',
      'id': 'frontier-start',
      'data-key': 'ex-frontier',
    });
    this.stop = button(t('explore.stop'), () => this.#end(), {
      'class': 'ex-plain',
      'hidden': true,
      'data-key': 'ex-frontier-stop',
    });
    this.bar = h('progress', { 'max': 1, 'value': 0, 'hidden': true, 'aria-label': t('explore.progress') });
    this.status = h('p', { class: 'ex-status', role: 'status', id: 'frontier-progress' });
    this.faults = h('div', {});
    this.found = new Found((path, id) => (['model', 'cluster'].includes(path) ? this.#nameOf(path, id) : undefined));
    const onenter = (event) => event.key === 'Enter' && this.#ask();
    for (const box of [this.devices, this.tpot]) box.addEventListener('keydown', onenter);
    this.element = h(
      'section',
      { class: 'ex-frontier' },
      h(
        'div',
        { class: 'ex-form' },
        labelled(t('group.model'), this.model),
        labelled(t('explore.frontier.devices'), this.devices),
        labelled(t('explore.frontier.tpot'), this.tpot),
        labelled(t('explore.frontier.format'), this.format),
      ),
      this.clusters,
      h('div', { class: 'ex-run' }, this.start, this.stop, this.bar),
      this.status,
      this.faults,
      this.found.element,
    );
    this.ready = pool.call('presets', '').then((list) => (this.#catalogue = list));
  }

  /** @param {Context} context */
  async show(context) {
    const first = !this.#context;
    this.#context = context;
    this.found.show(context);
    await this.ready;
    if (first) this.#offer(context);
    const isAsked = this.asked.take(context.store);
    if (first || isAsked) this.#begin(true);
  }

  #ask() {
    this.asked.keep(this.#context.store);
    return this.#begin();
  }

  // The boxes of clusters as one control.
  #chosenClusters() {
    const boxes = () => [...this.clusters.querySelectorAll('input')];
    return {
      get value() {
        return boxes()
          .filter(({ checked }) => checked)
          .map(({ value }) => value)
          .join(',');
      },
      set value(list) {
        for (const box of boxes()) box.checked = list.split(',').includes(box.value);
      },
    };
  }

  // The panel starts with the scenario's model, and with its cluster beside the usual ones.
  /** @param {Context} context */
  #offer({ scenario }) {
    const of = (kind) => this.#catalogue.filter((one) => one.kind === kind).map(({ id }) => id);
    const others = of('model').filter((id) => !MODELS.includes(id));
    const [model, cluster] = [scenario.model.preset, scenario.cluster.preset];
    const chosen = of('model').includes(model) ? model : MODELS[0];
    this.model.replaceChildren(
      ...[...MODELS, ...others].map((id) =>
        h('option', { value: id, selected: id === chosen }, this.#nameOf('model', id)),
      ),
    );
    const own = [cluster].filter((id) => id && !id.startsWith('single-'));
    this.clusters.replaceChildren(
      h('legend', {}, t('explore.frontier.clusters')),
      ...[...new Set([...CLUSTERS, 'gb200-nvl72', 'hgx-mi300x', 'hgx-mi355x', ...own])]
        .filter((id) => of('cluster').includes(id))
        .map((id) =>
          h(
            'label',
            {},
            h('input', { type: 'checkbox', value: id, checked: CLUSTERS.includes(id) || own.includes(id) }),
            ` ${this.#nameOf('cluster', id)}`,
          ),
        ),
    );
  }

  #nameOf = (kind, id) => this.#catalogue.find((one) => one.kind === kind && one.id === id)?.name ?? id;

  #inputsOf(cluster, devices) {
    let inputs = withPick(withPick(this.#context.inputs, 'model', this.model.value), 'cluster', cluster);
    inputs = { ...inputs, 'cluster.devices': String(devices), 'serving.devices': String(devices), 'training': 'null' };
    delete inputs['serving.disaggregated'];
    if (this.format.value)
      for (const part of ['weights', 'activations', 'kv_cache'])
        inputs[`serving.precision.${part}`] = this.#formatOf(part);
    return inputs;
  }

  // Engines have no 4-bit format for the KV cache: it stays at 8 bits.
  #formatOf = (part) => (part === 'kv_cache' && this.format.value === 'nvfp4' ? 'fp8' : this.format.value);

  #end() {
    this.#run++;
    this.#job?.stop();
    this.stop.hidden = true;
    this.bar.hidden = true;
    this.start.hidden = false;
  }

  #searched(spec) {
    return new Promise((resolve, reject) => {
      this.#pool
        .search(spec, (report, state) => state !== 'running' && resolve({ report, state }), reject)
        .then((job) => (this.#job = job), reject);
    });
  }

  // `isOwn`: the search that starts with the panel; it ends when the panel is left.
  async #begin(isOwn = false) {
    this.#end();
    const run = this.#run;
    const clusters = this.asked.controls.clusters.value.split(',').filter(Boolean);
    const sizes = this.devices.value
      .split(/[\s,]+/)
      .filter(Boolean)
      .map(Number);
    const wrong = [
      clusters.length === 0 && { path: t('explore.frontier.clusters'), message: t('explore.frontier.choose') },
      !(sizes.length > 0 && sizes.every((size) => Number.isInteger(size) && size > 0)) && {
        path: t('explore.frontier.devices'),
        message: t('explore.frontier.devices.wrong', { example: DEVICES }),
      },
      !(isTime(this.tpot.value) && parse(this.tpot.value) > 0) && {
        path: t('explore.frontier.tpot'),
        message: t('explore.frontier.tpot.wrong', { example: SLO }),
      },
    ].filter(Boolean);
    this.faults.replaceChildren(...(wrong.length ? [faults(wrong)] : []));
    if (wrong.length) return;
    const questions = clusters.flatMap((cluster) => sizes.map((devices) => ({ cluster, devices })));
    this.start.hidden = true;
    this.stop.hidden = false;
    this.bar.hidden = false;
    this.bar.value = 0;
    this.status.textContent = ''; // of the run before
    const began = performance.now();
    const spec = {
      for: 'serving',
      objective: FIGURES[0],
      pareto: [FIGURES[1]],
      limits: [`serving.tpot_s<=${inUnit(this.tpot.value.trim(), unitIn(SLO))}`],
      top: 1,
    };
    this.found.begin({
      of: 'serving',
      spec,
      inputs: this.#context.inputs,
      series: { key: 'cluster', names: clusters, colors: COLORS },
    });
    const rows = [];
    let tried = 0;
    let feasible = 0;
    try {
      for (const [at, { cluster, devices }] of questions.entries()) {
        const inputs = this.#inputsOf(cluster, devices);
        const { report } = await this.#searched({ ...spec, request: this.#context.core.requestFor(inputs) });
        if (run !== this.#run) return;
        if (isOwn && !this.element.isConnected) return this.#end();
        if (report.issues) {
          this.faults.append(
            faults(
              report.issues.map(({ path, message }) => ({
                path: `${this.#nameOf('cluster', cluster)}, ${devices}: ${path}`,
                message,
              })),
            ),
          );
          continue;
        }
        tried += report.space;
        feasible += report.feasible;
        const place = { 'model': this.model.value, cluster, 'cluster.devices': devices, 'serving.devices': devices };
        rows.push(
          ...report.pareto.map((row) => ({
            ...row,
            index: `${cluster}/${devices}/${row.index}`,
            overrides: { ...place, ...row.overrides },
          })),
        );
        this.bar.value = (at + 1) / questions.length;
        this.#show(rows, clusters, at + 1 < questions.length);
        this.status.textContent = t('explore.frontier.progress', { done: at + 1, all: questions.length });
      }
      this.status.textContent = t('explore.frontier.done', {
        count: whole(tried),
        feasible: whole(feasible),
        searches: questions.length,
        time: text((performance.now() - began) / 1000, 's'),
      });
    } catch (error) {
      this.status.textContent = t('app.stopped', { message: error.message });
    }
    if (run === this.#run) this.#end();
  }

  // One frontier per cluster, over all its sizes.
  #show(rows, clusters, running) {
    const fronts = clusters.map((cluster) =>
      frontOf(
        rows.filter(({ overrides }) => overrides.cluster === cluster),
        FIGURES,
      ),
    );
    const all = fronts.flat().sort((a, b) => b[FIGURES[0]] - a[FIGURES[0]]);
    this.found.hear(
      { best: all, pareto: all, space: all.length, feasible: all.length, rejected: {} },
      running ? 'running' : 'done',
    );
  }
}
