// The tools: purpose, arguments, and their calls of the core. An answer begins with its figures and ends with its
// assumptions and a link.
import { set } from '../page/state/paths.js';
import { withOverrides } from '../page/state/scenario.js';
import { mixtureText, STANDARD, writeQuestion } from '../page/size/question.js';
import { text } from '../page/text/format.js';
import { parse } from '../page/text/measure.js';
import { outputOf } from '../page/text/outputs.js';
import { SCENARIO, scenarioArguments, sizeArguments, withUnit, wrongArguments } from './arguments.js';
import { issue, Refused } from './scenario.js';

const string = (description) => ({ type: 'string', description });
const list = (description) => ({ type: 'array', items: { type: 'string' }, description });
const top = (count) => ({
  type: 'integer',
  minimum: 1,
  maximum: 50,
  description: `How many are listed; ${count} where this is left out`,
});
const FULL = { type: 'boolean', description: "The core's whole answer too, which is long" };
const PART = { enum: ['training', 'serving'], description: 'The part of the scenario in question' };
const BEST = { ...PART, description: 'Searches the best mapping of this part at each value' };
const FIGURE = string('Path of a figure, such as serving.tpot_s');
const LIMITS = list('Bounds of figures, or values of inputs to keep to: "serving.tpot_s<=20 ms", "tp<=8"');
const ROWS = 40;
const FRONTIER = 8;
const IDS = 200;

const matching = (entries, words = '') => {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const said = ({ path, id, name, label, title, short, help }) =>
    [path, id, name, label, title, short, help].join(' ').toLowerCase();
  return entries.filter((one) => wanted.every((word) => said(one).includes(word)));
};
const atMost = (entries, count, name) => ({
  [name]: entries.slice(0, count),
  ...(entries.length > count && { left_out: entries.length - count }),
});
// A figure without measurements that bound it.
const plain = (value, unit) => ({ value, unit, interval: null, text: text(value, unit).replaceAll('\u00a0', ' ') });
const figureOf = (part, name) => (name.startsWith(`${part}.`) ? name : `${part}.${name}`);

function answered(answer) {
  if (answer?.issues) throw new Refused(answer.issues);
  return answer;
}

// `schema`: schema.json. Each tool has {name, description, inputSchema, answer(args, ask)}; `ask(verb, ...args)` is the core.
export function toolsOf({ described, objectives, schema, scenarios, figures }) {
  async function evaluatedWith(ask, before, overrides) {
    const inputs = withOverrides(before, overrides);
    return { inputs, report: answered(await ask('evaluate', scenarios.requestOf(inputs))) };
  }

  // A proposal of an answer as its own scenario: figures with their intervals, and a link.
  async function proposed({ ask, inputs }, overrides, paths) {
    const { report, inputs: changed } = await evaluatedWith(ask, inputs, overrides);
    return { figures: figures.some(report, paths), link: scenarios.linkOf(changed) };
  }
  async function allProposed(scenario, rows, paths, shown) {
    const all = [];
    for (const row of rows) all.push({ ...shown(row), ...(await proposed(scenario, row.overrides, paths)) });
    return all;
  }

  const names = Object.fromEntries(
    ['training', 'serving'].map((part) => [part, objectives[part].map(({ name }) => name)]),
  );
  const OBJECTIVE = {
    enum: [...new Set([...names.training, ...names.serving])],
    description: 'The figure to optimize',
  };
  const KIND = {
    enum: [...new Set(described.inputs.map(({ presets }) => presets).filter(Boolean))].sort(),
    description: 'Kind of entries',
  };

  // A tool whose arguments have SCENARIO runs on {ask, inputs, request, report}. If its answer is not about that
  // scenario and the answer's `figures`, it returns `about`, {inputs, report, paths}; `where` is the place that the
  // link opens.
  const tools = {
    evaluate: {
      description:
        'Time, memory, throughput and cost of training and serving a model on a cluster, each with its 90 % interval',
      properties: {
        ...scenarioArguments(schema, described),
        paths: list('Further figures or parts of the report, such as serving.memory_bytes'),
        full: FULL,
      },
      run: ({ paths, full }, { report }) => ({ ...figures.headlines(report, paths), ...(full && { report }) }),
    },
    compare: {
      description: 'Two to four scenarios side by side, each with its figures and intervals',
      properties: {
        ...SCENARIO,
        scenarios: {
          type: 'array',
          items: { type: 'object' },
          description: 'What each scenario changes of the inputs: [{}, {"cluster": "dgx-b200"}]',
        },
        paths: list('The figures, where they are not the headlines'),
      },
      required: ['scenarios'],
      async run({ scenarios: changes, paths }, { ask, inputs: base }) {
        const all = [];
        const issues =
          changes.length < 2 || changes.length > 4 ? [issue('scenarios', 'Give two to four scenarios')] : [];
        for (const [at, change] of changes.entries()) {
          const { inputs: own, issues: faults } = await scenarios.inputsOf({ inputs: change });
          const inputs = { ...base, ...own };
          const report = await ask('evaluate', scenarios.requestOf(inputs));
          issues.push(
            ...[...faults, ...(report.issues ?? [])].map((one) => ({ ...one, path: `scenarios.${at}.${one.path}` })),
          );
          all.push({ change, inputs, report });
        }
        if (issues.length) throw new Refused(issues);
        const sides = all.map(({ change, inputs, report }) => {
          const found = paths ? { figures: figures.some(report, paths) } : figures.headlines(report);
          return {
            change,
            ...found,
            ...figures.basis(report, inputs, Object.keys(found.figures)),
            link: scenarios.linkOf(inputs),
          };
        });
        const [inputs, ...others] = all.map((one) => one.inputs);
        return { scenarios: sides, about: { inputs }, where: { scene: 'compare', others } };
      },
    },
    advise: {
      description:
        'Which changes, and which pairs of them, help most: devices, formats, batch, mapping, engine options, with what each takes',
      properties: { ...SCENARIO, for: PART, objective: OBJECTIVE, limits: LIMITS, top: top(5), full: FULL },
      async run({ full, ...question }, scenario) {
        const answer = answered(await scenario.ask('advise', { top: 5, ...question, request: scenario.request }));
        const others = names[answer.for]
          .filter((name) => /^(tpot_s|ttft_s|cost_usd.*)$/.test(name))
          .map((name) => figureOf(answer.for, name));
        const paths = [...new Set([answer.figure, ...others])];
        const shown = ({ title, effort, needs, overrides }) => ({ title, effort, needs, overrides });
        const changes = await allProposed(scenario, answer.changes, paths, shown);
        return {
          figures: figures.some(scenario.report, paths),
          changes,
          pairs: await allProposed(scenario, answer.pairs.slice(0, 2), paths, shown),
          ...(full && { answer }),
        };
      },
    },
    size: {
      description:
        'What to buy: the cheapest deployment on each candidate cluster that serves a rate of requests within latency targets',
      properties: { ...SCENARIO, ...sizeArguments(schema), full: FULL },
      async run({ full, ...question }, scenario) {
        const { inputs, report } = scenario;
        const answer = answered(await scenario.ask('size', { ...question, request: scenario.request }));
        const paths = ['serving.ttft_s', 'serving.tpot_s', 'serving.tokens_per_s', 'serving.memory_bytes.total'];
        const clusters = [];
        for (const {
          cluster,
          holds,
          message,
          deployment,
          at_peak: peak,
          simulated,
          cost,
          headroom,
          spare,
          classes,
          day,
          overrides,
        } of answer.clusters) {
          if (!holds) {
            clusters.push({ cluster, holds, message });
            continue;
          }
          const { figures: atPeak, link } = await proposed(scenario, overrides, paths);
          const price = {
            usd_per_hour: plain(cost.usd_per_hour, '$'),
            system_usd: plain(cost.system_usd, '$'),
            usd_per_million_output_tokens: plain(cost.usd_per_million_output_tokens, '$'),
          };
          clusters.push({
            cluster,
            holds,
            deployment,
            figures_at_peak: { requests_per_s: peak.requests_per_s, ...(classes ? mixedFigures(peak) : atPeak) },
            cost: price,
            headroom,
            spare,
            ...(simulated && { simulated }),
            ...(classes && { classes }),
            ...(day && { day }),
            link,
          });
        }
        const best = answer.best === null ? null : answer.clusters[answer.best].cluster;
        const size = sizeWords(
          { requests_per_s: report.scenario.serving.requests_per_s, ...question },
          answer.clusters,
        );
        return {
          best,
          clusters,
          ...(full && { answer }),
          about: { inputs, report, paths },
          where: { scene: 'size', view: { size } },
        };
      },
    },
    search: {
      description:
        'The best mapping (degrees of parallelism, recomputation, batch) of all valid ones, or a Pareto frontier of several figures',
      properties: {
        ...SCENARIO,
        for: PART,
        objective: OBJECTIVE,
        pareto: list('Further figures of a frontier, by names as those of objective'),
        limits: LIMITS,
        axes: list('Other inputs to vary with the mappings: "cluster.devices=64,128"'),
        top: top(3),
        full: FULL,
      },
      required: ['for'],
      async run({ full, ...question }, scenario) {
        const answer = answered(await scenario.ask('search', { top: 3, ...question, request: scenario.request }));
        const { space, evaluated: timed, feasible, rejected, objective, best, pareto } = answer;
        const paths = [objective, ...(question.pareto ?? [])].map((name) => figureOf(question.for, name));
        const rows = async (some) =>
          apart(await allProposed(scenario, some, paths, ({ overrides }) => ({ overrides })));
        return {
          figures: figures.some(scenario.report, paths),
          best: await rows(best),
          ...(question.pareto && { frontier: await rows(spread(pareto, FRONTIER)), frontier_points: pareto.length }),
          space,
          evaluated: timed,
          feasible,
          rejected,
          ...(full && { answer }),
        };
      },
    },
    sweep: {
      description: 'Figures along the values of one or more inputs, a row per combination',
      properties: {
        ...SCENARIO,
        axes: list('PATH=a,b,c or PATH=lo:hi:n or PATH=lo:hi:n:log: "serving.batch=1,8,64"'),
        report: list('Paths of the figures, such as serving.tpot_s'),
        best: BEST,
        full: { ...FULL, description: `All rows, not the first ${ROWS}` },
      },
      required: ['axes', 'report'],
      async run({ axes, report: paths, best, full }, { ask, request, report: now }) {
        const needed = [...new Set(paths.flatMap((path) => figures.needed(path)))];
        const answer = answered(
          await ask('sweep', { request, axes, report: needed, ...(best && { search: { for: best } }) }),
        );
        if (answer.rows.every(({ issues }) => issues.length)) throw new Refused(answer.rows[0].issues);
        const rows = answer.rows.map(({ inputs, figures: found, issues, mapping }) => {
          const report = {};
          needed.forEach((path, at) => set(report, path, found[at] ?? null));
          return {
            inputs,
            ...(issues.length ? { issues } : { figures: figures.some(report, paths) }),
            ...(mapping && { mapping }),
          };
        });
        return {
          figures: figures.some(now, paths),
          axes: axes.map((axis) => axis.split('=')[0]),
          ...atMost(rows, full ? rows.length : ROWS, 'rows'),
        };
      },
    },
    solve: {
      description:
        'The largest or smallest value of one input at which conditions hold: the longest prompt that fits, the fewest GPUs for a deadline',
      properties: {
        ...SCENARIO,
        range: string('PATH=lo:hi or, of a count, PATH=lo:hi:step: "serving.prompt=1k:1M"'),
        until: list('Conditions that must hold: "serving.feasible>=1", "training.time_to_train_s<=30 day"'),
        best: BEST,
      },
      required: ['range', 'until'],
      async run({ range, until, best }, { ask, inputs, request, report }) {
        const answer = answered(await ask('solve', { request, range, until, ...(best && { search: { for: best } }) }));
        const paths = [...new Set(until.map((one) => one.split(/[<>]=/)[0].trim()))];
        if ((answer.value ?? null) === null) return { ...answer, figures: figures.some(report, paths) };
        const overrides = { ...answer.held, ...answer.mapping, [answer.path]: answer.value };
        const about = await evaluatedWith(ask, inputs, overrides);
        return { ...answer, figures: figures.some(about.report, paths), about };
      },
    },
    sensitivity: {
      description: 'Which inputs move a figure most, when each changes by the same share',
      properties: {
        ...SCENARIO,
        figure: FIGURE,
        share: { type: 'number', description: 'The share; 0.2 where this is left out' },
        top: top(10),
      },
      required: ['figure'],
      async run({ figure, share = 0.2, top: count = 10 }, { ask, request, report }) {
        const answer = answered(await ask('sensitivity', request, figure, share));
        return { figures: figures.some(report, [figure]), share, ...atMost(answer.inputs, count, 'inputs') };
      },
    },
    calibrate: {
      description:
        'Which part would have to be off by how much to explain figures measured on your own system, and which fitted parameters explain them',
      properties: {
        ...SCENARIO,
        measured: {
          type: 'array',
          items: {
            type: 'object',
            properties: { figure: FIGURE, value: withUnit('What was measured', '24 ms') },
            required: ['figure', 'value'],
            additionalProperties: false,
          },
          description: 'Figures and what was measured of each',
        },
      },
      required: ['measured'],
      async run({ measured }, scenario) {
        const wrong = measured.flatMap(({ value }, at) =>
          parse(value) === undefined ? [issue(`measured.${at}.value`, `Unknown unit in ${JSON.stringify(value)}`)] : [],
        );
        if (wrong.length) throw new Refused(wrong);
        const answer = answered(
          await scenario.ask('calibrate', {
            request: scenario.request,
            measured: measured.map(({ figure, value }) => ({ figure, value: parse(value) })),
          }),
        );
        const paths = measured.map(({ figure }) => figure);
        const fitted = answer.calibrated?.inputs ?? [];
        const rows = answer.measured.map((one) => ({
          ...one,
          measured: plain(one.measured, outputOf(one.figure)?.unit),
        }));
        const after =
          fitted.length > 0 &&
          (await proposed(scenario, Object.fromEntries(fitted.map(({ path, to }) => [path, to])), paths));
        return {
          figures: figures.some(scenario.report, paths),
          measured: rows,
          calibrated: after ? { inputs: fitted, ...after } : null,
        };
      },
    },
    explain: {
      description: 'How a figure comes about: its formula with values, terms and sources, down to inputs',
      properties: {
        ...SCENARIO,
        figure: FIGURE,
        depth: {
          type: 'integer',
          minimum: 1,
          maximum: 12,
          description: 'How many formulas deep; 3 where this is left out',
        },
      },
      required: ['figure'],
      async run({ figure, depth = 3 }, { ask, request, report }) {
        const { explanations, sources } = answered(await ask('evaluate', request, { explain: figure }));
        return {
          figures: figures.some(report, [figure]),
          derivation: derivationOf(figure, new Map(explanations.map((one) => [one.path, one])), sources, depth),
        };
      },
    },
    evidence: {
      description:
        'The published measured runs behind the interval of a figure, the nearest first, and how they differ from the scenario',
      properties: { ...SCENARIO, figure: FIGURE, top: top(5) },
      required: ['figure'],
      async run({ figure, top: count = 5 }, { ask, request, report }) {
        const { runs, is_far, counted, differences } = answered(await ask('evidence', request, figure));
        return {
          figures: figures.some(report, [figure]),
          is_far,
          counted,
          differences,
          ...atMost(runs, count, 'runs'),
        };
      },
    },
    describe: {
      description: 'Finds inputs and figures by words: path, meaning, unit, default, range, choices',
      properties: {
        words: string('Words of the path or meaning, such as "kv cache"'),
        kind: { enum: ['inputs', 'figures'], description: 'What to find' },
      },
      required: ['words'],
      run({ words, kind }) {
        const inputs = matching(described.inputs, words).map(
          ({ path, help, unit, default: value, low, high, choices, presets }) => ({
            path,
            help,
            unit,
            default: value,
            low,
            high,
            choices,
            presets,
          }),
        );
        const outputs = matching(described.outputs, words).map(({ path, title, unit, better }) => ({
          path,
          title,
          unit,
          better,
        }));
        return {
          ...(kind !== 'figures' && { inputs: atMost(inputs, ROWS, 'list') }),
          ...(kind !== 'inputs' && { figures: atMost(outputs, ROWS, 'list') }),
        };
      },
    },
    presets: {
      description:
        'The catalogue: ids of models, clusters, devices, engines, frameworks and more; with an id the whole entry and its sources',
      properties: { kind: KIND, words: string('Words of the id or name'), id: string('One entry, in full') },
      required: ['kind'],
      async run({ kind, words, id }, { ask }) {
        const entries = await ask('presets', kind);
        if (id === undefined)
          return atMost(
            matching(entries, words).map((one) => ({ id: one.id, name: one.name })),
            IDS,
            'presets',
          );
        const entry = entries.find((one) => one.id === id);
        const near = matching(entries, id.split(/[^a-z0-9]+/i)[0]).slice(0, 8);
        if (!entry)
          throw new Refused([
            issue(
              'id',
              `Unknown ${kind} ${JSON.stringify(id)}`,
              near.map((one) => ({ path: 'id', value: one.id, label: one.name ?? one.id })),
            ),
          ]);
        return entry;
      },
    },
    import_model: {
      description: "A model from a checkpoint's Hugging Face config.json, to be given as the input model",
      properties: { config: { type: ['object', 'string'], description: 'The config.json' } },
      required: ['config'],
      async run({ config }, { ask }) {
        const answer = answered(await ask('importModel', config));
        return {
          ...answer,
          link: scenarios.linkOf((await scenarios.inputsOf({ inputs: { model: answer.model } })).inputs),
        };
      },
    },
  };

  return Object.entries(tools).map(([name, { description, properties, required = [], run }]) => {
    const inputSchema = { type: 'object', properties, required, additionalProperties: false };
    async function answer(args, ask) {
      const issues = wrongArguments(inputSchema, args);
      issues.push(
        ...figures.issuesOf(
          [args.figure, args.paths, args.report, args.measured].flat().map((one) => one?.figure ?? one),
        ),
      );
      if (!properties.inputs) {
        if (issues.length) throw new Refused(issues);
        return run(args, { ask });
      }
      // Reports all errors at once: those of the arguments and those of the scenario.
      const { inputs: written, link, ...question } = args;
      const isForm = issues.some(({ path }) => path === 'inputs' || path === 'link');
      const { inputs, issues: faults } = await scenarios.inputsOf(isForm ? {} : { link, inputs: written });
      const request = scenarios.requestOf(inputs);
      const report = await ask('evaluate', request);
      issues.push(...faults, ...(report.issues ?? []));
      if (issues.length) throw new Refused(issues);
      const { about = { inputs, report }, where, ...found } = await run(question, { ask, inputs, report, request });
      const basis =
        about.report && figures.basis(about.report, about.inputs, about.paths ?? Object.keys(found.figures));
      return { ...found, ...basis, link: scenarios.linkOf(about.inputs, where) };
    }
    return { name, description, inputSchema, answer };
  });
}

// Rows with the members that differ; members that are the same in all rows are in `common`.
function apart(rows) {
  const isCommon = ([path, value]) => rows.length > 1 && rows.every(({ overrides }) => overrides[path] === value);
  const some = (overrides, keep) => Object.fromEntries(Object.entries(overrides).filter(keep));
  return {
    common: some(rows[0]?.overrides ?? {}, isCommon),
    rows: rows.map((row) => ({ ...row, overrides: some(row.overrides, (one) => !isCommon(one)) })),
  };
}

// Some of the rows, evenly spread, including the first and the last.
const spread = (rows, count) =>
  rows.length <= count
    ? rows
    : Array.from({ length: count }, (_, i) => rows[Math.round((i * (rows.length - 1)) / (count - 1))]);

// A mixture: a scenario has no classes, so the link opens it with the mean request.
const mixedFigures = ({ ttft_s: ttft, tpot_s: tpot, tokens_per_s: rate, memory_bytes: memory }) => ({
  'serving.ttft_s': plain(ttft, 's'),
  'serving.tpot_s': plain(tpot, 's'),
  'serving.tokens_per_s': plain(rate, 'token/s'),
  'serving.memory_bytes.total': plain(memory.total, 'B'),
});

// The sizing question in the form of the page's link, without parts that the page lacks.
function sizeWords(
  { requests_per_s: rate, ttft = '', tpot = '', spare_replicas: spare, peak_over_mean: ratio, day, mixture },
  clusters,
) {
  const peak = day?.length > 1 ? day.join(', ') : ratio; // a day of one part is flat
  const mix = mixture && mixtureText(mixture);
  const on =
    clusters
      .map(({ cluster }) => cluster)
      .filter((id) => id !== 'custom')
      .join(',') || undefined;
  const words = Object.entries({ rate, ttft, tpot, spare, peak, mix, on }).filter(
    ([, value]) => (value ?? null) !== null,
  );
  return writeQuestion({ ...STANDARD, ...Object.fromEntries(words.map(([name, value]) => [name, String(value)])) });
}

// A figure's formula with its terms and their formulas, largest share first.
function derivationOf(path, explanations, sources, depth) {
  const { path: _, symbol: __, terms, ...about } = explanations.get(path) ?? {};
  if (!terms) return undefined;
  const term = ({ leads: ___, ...one }) => ({
    ...one,
    source: sources?.[one.origin],
    because: depth > 1 ? derivationOf(one.origin, explanations, sources, depth - 1) : undefined,
  });
  return { ...about, terms: terms.map(term).sort((a, b) => Math.abs(b.share ?? 0) - Math.abs(a.share ?? 0)) };
}
