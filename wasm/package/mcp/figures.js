// Figures of a report for a short answer: value, unit, 90 % interval, and all three as readable text.
import { get } from '../page/state/paths.js';
import { text } from '../page/text/format.js';
import { inputText } from '../page/text/inputs.js';
import { outputOf, setOutputs } from '../page/text/outputs.js';
import { issue } from './scenario.js';

const HEADLINES = {
  training: [
    'time_to_train_s',
    'step_time_s',
    'tokens_per_s_per_device',
    'model_flops_utilization',
    'memory_bytes.total',
    'memory_bytes.capacity',
    'cost_usd',
  ],
  serving: [
    'tpot_s',
    'ttft_s',
    'tokens_per_s',
    'tokens_per_s_per_device',
    'tokens_per_s_per_user',
    'memory_bytes.total',
    'memory_bytes.capacity',
    'kv_cache_bytes_per_token',
    'max_batch',
    'max_context',
    'cost_usd_per_million_tokens',
  ],
  post_training: ['step_time_s', 'tokens_per_s'],
  diffusion: ['latency_s', 'items_per_hour', 'video_s_per_hour', 'memory_bytes.total', 'cost_usd'],
  cost: ['device_hour_usd', 'system_usd', 'device_usd'],
};
const PARTS = Object.keys(HEADLINES);

// Figures whose interval is derived from another one's: proportional to it (1) or inverse (-1), with everything else
// constant, such as prices.
const FOLLOWS = {
  'training.time_to_train_s': ['training.step_time_s', 1],
  'training.cost_usd': ['training.step_time_s', 1],
  'training.tokens_per_s': ['training.step_time_s', -1],
  'training.tokens_per_s_per_device': ['training.step_time_s', -1],
  'training.model_flops_utilization': ['training.step_time_s', -1],
  'serving.tokens_per_s_per_device': ['serving.tokens_per_s', 1],
  'serving.tokens_per_s_per_user': ['serving.tpot_s', -1],
  'serving.cost_usd_per_million_tokens': ['serving.tokens_per_s', -1],
  'diffusion.video_s_per_hour': ['diffusion.items_per_hour', 1],
};

// The main inputs of a scenario; for those not written the answer says which value was taken.
export const MAIN_INPUTS = [
  'model',
  'cluster',
  'cluster.devices',
  'training',
  'training.tokens',
  'training.sequence',
  'training.global_batch',
  'training.precision',
  'training.mapping',
  'serving',
  'serving.prompt',
  'serving.output',
  'serving.concurrency',
  'serving.requests_per_s',
  'serving.precision.weights',
  'serving.engine',
  'serving.tuning',
  'serving.mapping',
  'diffusion.model',
  'diffusion.steps',
  'diffusion.width',
  'diffusion.height',
  'diffusion.frames',
  'diffusion.precision',
  'diffusion.compiled',
  'cost.electricity',
  'cost.rental',
];

const INTERVAL = ', 90 % interval';
// Figures whose intervals are explained in words; the runs behind the others are nearly the same.
const REASONS = ['training.step_time_s', 'serving.tpot_s', 'diffusion.latency_s'];

export class Figures {
  #intervals = new Map(); // figure -> path of its interval, the one whose title names it

  constructor({ outputs }) {
    setOutputs(outputs);
    for (const { path, title } of outputs.filter((one) => one.title.endsWith(INTERVAL))) {
      const part = path.slice(0, path.indexOf('.') + 1);
      const of = outputs.find(
        (one) =>
          one.kind === 'number' &&
          one.path.startsWith(part) &&
          !one.path.includes('*') &&
          `${one.title}${INTERVAL}` === title,
      );
      if (of) this.#intervals.set(of.path, path);
    }
  }

  // The report paths that a figure and its interval need.
  needed(path) {
    const [base] = FOLLOWS[path] ?? [path];
    const interval = this.#intervals.get(base);
    return [path, base, ...(interval ? [`${interval}.low`, `${interval}.high`] : [])];
  }

  #interval(report, path, value) {
    const [base, power] = FOLLOWS[path] ?? [path, 1];
    const known = this.#intervals.has(base) && get(report, this.#intervals.get(base));
    if (!known || typeof known.low !== 'number') return null;
    const ends = [known.low, known.high].map((end) =>
      base === path ? end : value * (end / get(report, base)) ** power,
    );
    return ends.sort((a, b) => a - b);
  }

  // A number with its unit and interval (null if it has none); other values unchanged.
  at(report, path) {
    const value = get(report, path) ?? null;
    if (typeof value !== 'number') return value;
    const unit = outputOf(path)?.unit ?? '';
    const interval = this.#interval(report, path, value);
    const said = (one) => text(one, unit).replaceAll('\u00a0', ' ');
    return {
      value,
      unit: unit === '%' ? 'fraction' : unit,
      interval,
      text: interval ? `${said(value)}, 90 % interval ${said(interval[0])} to ${said(interval[1])}` : said(value),
    };
  }

  some(report, paths) {
    return Object.fromEntries(paths.map((path) => [path, this.at(report, path)]));
  }

  issuesOf(paths) {
    const isKnown = (path) => outputOf(path) || PARTS.includes(path) || /^scenario(\.|$)/.test(path);
    const unknown = paths.filter((path) => typeof path === 'string' && !isKnown(path));
    return unknown.map((path) =>
      issue(path, 'Unknown figure: the tool describe finds figures by words', [{ path, label: `leave out ${path}` }]),
    );
  }

  // The requested figures and the headline figures of the parts that are on. A part that does not run has only its
  // memory.
  headlines(report, paths = []) {
    const on = PARTS.filter((part) => report[part]);
    const runs = (part) => report[part].feasible !== false;
    const headlines = on.flatMap((part) =>
      HEADLINES[part].filter((path) => runs(part) || path.startsWith('memory_bytes')).map((path) => `${part}.${path}`),
    );
    const stopped = on
      .filter((part) => !runs(part))
      .map((part) => [part, report[part].infeasible.map(({ message }) => message)]);
    const shown = [
      ...paths,
      ...headlines.filter((path) => !paths.includes(path) && typeof get(report, path) === 'number'),
    ];
    return { ...(stopped.length && { infeasible: Object.fromEntries(stopped) }), figures: this.some(report, shown) };
  }

  // The assumptions behind figures: of the parts that they belong to, and of cost if they are dollars.
  basis(report, inputs, paths) {
    const isAbout = (part) =>
      paths.some((path) => path.startsWith(`${part}.`) || (part === 'cost' && path.includes('usd')));
    const on = PARTS.filter((part) => report[part] && isAbout(part));
    const reasons = REASONS.filter((figure) => paths.includes(figure)).map((figure) => [
      figure,
      get(report, this.#intervals.get(figure))?.why,
    ]);
    return {
      intervals: Object.fromEntries(reasons.filter(([, why]) => why)),
      chosen: Object.fromEntries(
        on.flatMap((part) => report[part].chosen ?? []).map(({ path, value }) => [path, value]),
      ),
      defaults: defaultsOf(report.scenario, inputs, (part) => on.includes(part) || !PARTS.includes(part)),
      assumed: [...new Set(on.flatMap((part) => report[part].assumed ?? []))],
      warnings: report.warnings ?? [],
      units_assumed: report.units_assumed ?? [],
      ...(report.scenario.measured?.length && { measured: report.scenario.measured }),
    };
  }
}

// The main inputs that were not written, with the core's values.
function defaultsOf(scenario, inputs, isAbout) {
  const isWritten = (path) => Object.keys(inputs).some((one) => one === path || path.startsWith(`${one}.`));
  const value = (path) => {
    const taken = get(scenario, path);
    return taken !== null && typeof taken === 'object' ? taken.preset : taken;
  };
  const open = MAIN_INPUTS.filter(
    (path) => isAbout(path.split('.')[0]) && !isWritten(path) && (value(path) ?? null) !== null,
  );
  return Object.fromEntries(open.map((path) => [path, inputText(path, value(path))]));
}
