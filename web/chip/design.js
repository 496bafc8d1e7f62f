// Silicon moves and tokens follow: a chip's package to scale, its budgets as handles, and what it reaches beside chips of today.
/** @import {Context} from '../types.js' */
import { packageDrawing } from '../charts/package.js';
import { tableByRows } from '../charts/lib/by_rows.js';
import { h } from '../dom.js';
import { pool } from '../engine/shared_pool.js';
import { figureName } from '../explore/controls.js';
import { get } from '../state/paths.js';
import { withChanges } from '../state/scenario.js';
import { number, text, unitOf } from '../text/format.js';
import { inputText } from '../text/inputs.js';
import { pick, press, row, typedMeasure } from './choices.js';
import { DESIGN, DIES, entries, startOf, withoutDesign } from './technology.js';
import { t } from './texts.js';

const COUNTS = [1, 2, 4, 8];
const RIVALS = [{ preset: 'dgx-b200' }, { preset: 'hgx-mi355x' }, { preset: 'tpu-v7-pod' }];
const ANSWERS = [
  'training.time_to_train_s',
  'training.tokens_per_usd',
  'serving.tpot_s',
  'serving.tokens_per_usd',
  'cost.device_usd',
  'cost.dies.0.yield',
  'scenario.cluster.device.tdp',
  'cost.carbon.embodied_g',
];
const UNITS = { 'scenario.cluster.device.tdp': 'W', 'cost.carbon.embodied_g': 'g' };
const OBJECTIVES = [
  'training.step_time_s',
  'training.cost_usd',
  'serving.tpot_s',
  'serving.cost_usd_per_million_tokens',
  'serving.tokens_per_s_per_device',
];

const LEAST = 0.005; // per cent of a figure: less is no change

const nameOf = (path) => (path === 'scenario.cluster.device.tdp' ? t('chip.design.watts') : figureName(path));
const shown = (report, path) => {
  const value = get(report, path);
  return typeof value === 'number' ? text(value, UNITS[path] ?? unitOf(path)) : '–';
};

// The optimization under way, or its last answer: {inputs it led to, answer, running: {stop()}}.
let best = { state: 'none' };

// Changes of the design in one edit; a device without a design becomes one.
function editor({ store, scenario }) {
  let goesOn = false;
  return {
    set(changes) {
      const next = { ...store.inputs };
      if (!next[DESIGN]) next[DESIGN] = startOf(scenario.cluster.device);
      for (const [path, value] of Object.entries(changes)) {
        for (const one of Object.keys(next)) if (one.startsWith(`${path}.`)) delete next[one];
        if (value === '') delete next[path];
        else next[path] = inputText(path, value);
      }
      store.setInputs(next, store.sub, goesOn);
      goesOn = true;
    },
    // A path below the design.
    setDesign(changes) {
      this.set(Object.fromEntries(Object.entries(changes).map(([path, value]) => [`${DESIGN}.${path}`, value])));
    },
  };
}

// The request with its design, or with the design nearest to its device.
function designed({ request, scenario }) {
  const { device } = scenario.cluster;
  return device.design ? request : withChanges(request, { [DESIGN]: { preset: startOf(device) } });
}

// The present chip.
/** @param {Context} context */
const reportOf = (context) =>
  context.scenario.cluster.device.design ? context.report : context.ask('evaluate', designed(context), '');

const lengthOfEdge = (area) => 4 * Math.sqrt(area);

function chipOf({ scenario, technology }) {
  const { design } = scenario.cluster.device;
  return {
    packageArea: design.package_area,
    area: design.area,
    dies: scenario.partition?.chiplets ?? 1,
    sites: technology.memory.sites,
    stacks: technology.memory.stacks,
    siteArea: design.dram.in_package ? design.dram.package_area : 0,
    memory: design.dram.name,
    power: design.power,
    edge: lengthOfEdge(design.area),
    split: { area: design.area_split, power: design.power_split, edge: design.edge_split },
  };
}

// The budget with the largest gain in the last optimization, while the scenario is the one that it led to.
const isOfThese = (inputs) => best.state === 'done' && JSON.stringify(inputs) === best.key;
function mostWanted(answer) {
  const gain = ({ change, more }) => (change / more) * Math.abs(more) * (answer.better === 'larger' ? 1 : -1);
  const [first] = [...answer.limits].sort((a, b) => gain(b) - gain(a));
  return first && gain(first) > 1e-4 * answer.objective ? first.budget : undefined;
}

/** @param {Context} context */
function optimise(context, figure) {
  const { stage, store } = context;
  const started = { state: 'running', done: 0 };
  best.stop?.();
  best = started;
  const hear = (answer, state) => {
    if (best !== started) return;
    if (state === 'running') {
      started.done = answer.done;
    } else if (state === 'stopped') {
      best = { state: 'none' };
    } else if (state === 'refused' || answer.objective === null) {
      best = { state: 'refused', message: answer.issues?.[0]?.message };
    } else {
      editor(context).set(answer.overrides);
      best = { state: 'done', answer, key: JSON.stringify(store.inputs) };
    }
    stage.draw();
  };
  const failed = (error) => hear({ issues: [{ message: error.message }] }, 'refused');
  pool
    .design({ request: designed(context), objective: figure }, hear, failed)
    .then((job) => (started.stop = job.stop), failed);
  stage.draw();
}

/** @param {Context} context */
function found(context) {
  if (best.state === 'running')
    return h(
      'p',
      { class: 'note', role: 'status' },
      t('chip.design.running', { share: number(100 * (best.done ?? 0), 2) }),
      ' ',
      press('chip-design-stop', t('chip.spread.stop'), () => best.stop?.(), { class: 'link' }),
    );
  if (best.state === 'refused') return h('p', { class: 'note', role: 'status' }, best.message ?? t('chip.design.none'));
  if (!isOfThese(context.inputs)) return null;
  const { answer } = best;
  const unit = unitOf(answer.figure);
  const change = ({ change: by }) => {
    const percent = (100 * by) / answer.objective;
    if (Math.abs(percent) < LEAST) return '0\u00a0%';
    return `${by > 0 ? '+' : '−'}${number(Math.abs(percent), 2)}\u00a0%`;
  };
  return h(
    'div',
    { id: 'design-best' },
    h(
      'p',
      { class: 'note', role: 'status' },
      t('chip.design.found', {
        figure: figureName(answer.figure),
        from: text(answer.start, unit),
        to: text(answer.objective, unit),
        agree: answer.starts.agree,
        refined: answer.starts.refined,
      }),
      answer.bound && ` ${t('chip.design.bound', { bound: text(answer.bound.objective, unit) })}`,
    ),
    tableByRows(
      t('chip.design.limits', { figure: figureName(answer.figure) }),
      [t('chip.design.budget'), t('chip.design.now'), t('chip.design.more'), t('chip.design.brings')],
      answer.limits.map((one) => [
        t(`chip.design.budget.${one.budget}`),
        text(one.at, one.unit),
        `${one.more > 0 ? '+' : '−'}${text(Math.abs(one.more), one.unit)}`,
        change(one),
      ]),
    ),
  );
}

/** @param {Context} context */
function rivals(context, own) {
  const { request } = context;
  const written = (request.written ?? []).filter((path) => !/^(cluster|partition|cost\.device)/.test(path));
  const answers = RIVALS.map((cluster) => {
    const { partition, ...rest } = structuredClone(request);
    if (rest.cost) delete rest.cost.device;
    const whole = {
      ...rest,
      cluster: { devices: own.scenario.cluster.devices, ...cluster },
      written: [...written, 'cluster'],
    };
    return context.ask('evaluate', whole, '');
  });
  const columns = [own, ...answers];
  return tableByRows(
    t('chip.design.beside'),
    [
      t('chip.figure'),
      t('chip.design.yours'),
      ...answers.map((one, i) => one?.scenario?.cluster.device.name ?? RIVALS[i].device?.preset ?? RIVALS[i].preset),
    ],
    ANSWERS.filter((path) => typeof get(own, path) === 'number').map((path) => [
      nameOf(path),
      ...columns.map((one) => (one?.scenario ? shown(one, path) : '…')),
    ]),
  );
}

/** @param {Context} context */
export function design(context) {
  const lists = {
    design: entries(context, 'chip_design'),
    node: entries(context, 'technology_node'),
    dram: entries(context, 'dram_type'),
  };
  const own = reportOf(context);
  if (!own || Object.values(lists).some((one) => !one)) return null;
  if (!own.technology)
    return h('p', { class: 'note', role: 'status' }, own.issues?.[0]?.message ?? t('chip.design.none'));
  const chip = chipOf(own);
  const { design: now } = own.scenario.cluster.device;
  const { store, inputs } = context;
  const isFixed = store.isLocked(DESIGN);
  const edit = editor(context);
  const options = (list) => list.map(({ id, name }) => ({ value: id, name: name ?? id }));
  const nanometres = ({ id }) => Number.parseFloat(id);
  // A design that cannot be: the drawing is of the last one that can.
  const isFaulty = context.issues.some(({ path }) => path.startsWith('cluster.device'));
  const measure = (key, path, unit) =>
    typedMeasure(
      `chip-design-${key}`,
      t(`chip.design.field.${key}`),
      now[path],
      unit,
      (value) => edit.setDesign({ [path]: value }),
      isFaulty ? inputs[`${DESIGN}.${path}`] : undefined,
    );
  const figure =
    context.stage.chosen('chip-design-for') ?? OBJECTIVES.find((path) => typeof get(own, path) === 'number');
  const wanted = isOfThese(inputs) ? mostWanted(best.answer) : undefined;
  return h(
    'section',
    { id: 'design' },
    h(
      'p',
      { class: 'note' },
      t(
        isFaulty
          ? 'chip.design.faulty'
          : inputs[DESIGN] || context.scenario.cluster.device.design
            ? 'chip.design.on'
            : 'chip.design.off',
        {
          design: now.name,
        },
      ),
    ),
    packageDrawing({
      id: 'package',
      title: t('chip.design.package.title', { design: now.name }),
      subtitle: t('chip.design.package.sub'),
      width: context.width,
      chip,
      limit: wanted,
      isFixed,
      set: (changes) => edit.setDesign(changes),
      end: () => context.stage.draw(),
      hint: isFixed ? undefined : t('chip.design.hint'),
      summary: t('package.summary', {
        dies: chip.dies,
        area: text(chip.area, 'mm^2'),
        stacks: chip.stacks,
        sites: chip.sites,
        memory: chip.memory,
        bandwidth: text(own.scenario.cluster.device.memory.bandwidth, 'B/s'),
        peak: text(own.scenario.cluster.device.peak.bf16, 'FLOP/s'),
        limit: t(wanted ? `chip.design.limit.${wanted}` : 'package.memory', {
          bound: own.technology.memory.sites_bound,
        }),
      }),
      controls: row(
        pick('chip-design-start', t('chip.same.start'), options(lists.design), now.preset, (id) =>
          edit.set({ [DESIGN]: id }),
        ),
        pick(
          'chip-design-node',
          t('chip.same.node'),
          options([...lists.node].sort((a, b) => nanometres(b) - nanometres(a))),
          now.node.preset,
          (id) => edit.setDesign({ node: id }),
        ),
        pick('chip-design-dram', t('chip.same.dram'), options(lists.dram), now.dram.preset, (id) =>
          edit.setDesign({ dram: id }),
        ),
        pick(
          'chip-design-dies',
          t('chip.design.dies'),
          [...new Set([...COUNTS, chip.dies])]
            .sort((a, b) => a - b)
            .map((count) => ({ value: String(count), name: String(count) })),
          String(chip.dies),
          (count) => edit.set({ [DIES]: count === '1' ? '' : count }),
        ),
        measure('area', 'area', 'mm^2'),
        measure('package', 'package_area', 'mm^2'),
        measure('power', 'power', 'W'),
      ),
    }),
    row(
      pick(
        'chip-design-for',
        t('chip.design.for'),
        OBJECTIVES.filter((path) => typeof get(own, path) === 'number').map((path) => ({
          value: path,
          name: figureName(path),
        })),
        figure,
        (path) => context.stage.choose('chip-design-for', path),
      ),
      press('chip-design-best', t('chip.design.best'), () => optimise(context, figure), {
        class: 'primary',
        disabled: best.state === 'running' || isFixed,
      }),
      inputs[DESIGN] && press('chip-design-off', t('chip.same.back'), () => store.setInputs(withoutDesign(inputs))),
    ),
    found(context),
    rivals(context, own),
  );
}
