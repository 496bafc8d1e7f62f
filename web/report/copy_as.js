// The answers as a table and the sources as BibTeX: pure texts from the report.
import { get } from '../state/paths.js';
import { text, unitOf } from '../text/format.js';
import { t } from '../text/strings.js';
import { nameOf } from './names.js';
import { referencesOf } from './references.js';

export const FIGURES = [
  'training.step_time_s',
  'training.time_to_train_s',
  'training.model_flops_utilization',
  'training.tokens_per_s_per_device',
  'training.memory_bytes.total',
  'training.energy_j',
  'training.cost_usd',
  'serving.ttft_s',
  'serving.tpot_s',
  'serving.request_latency_s',
  'serving.tokens_per_s_per_device',
  'serving.memory_bytes.total',
  'serving.kv_cache_bytes_per_token',
  'serving.max_batch',
  'serving.cost_usd_per_million_tokens',
  'cost.device_usd',
  'cost.device_hour_usd',
];

export function markdown(report, link) {
  const rows = FIGURES.map((path) => [path, get(report, path)]).filter(([, value]) => typeof value === 'number');
  return `| figure | value |\n|---|---|\n${rows.map(([path, value]) => `| ${t(`group.${path.split('.')[0]}`)}: ${nameOf(path)} | ${text(value, unitOf(path)).replaceAll('\u00a0', ' ')} |`).join('\n')}\n\n[Slipstick](${link})\n`;
}

// The works that the figures' formulas cite, each once, after the page itself.
export function bibtex(explanations, { link, release, year }) {
  const sources = [...explanations.values()].map(({ source }) => source).filter(Boolean);
  const own = ['misc', 'slipstick', { title: `{Slipstick} ${release}`, year, url: link }];
  const works = new Map([own, ...sources.flatMap(referencesOf)].map((one) => [one[1], one]));
  const fieldsOf = (fields) =>
    Object.entries(fields)
      .map(([name, value]) => `  ${name} = {${value}}`)
      .join(',\n');
  return [...works.values()].map(([kind, key, fields]) => `@${kind}{${key},\n${fieldsOf(fields)}\n}`).join('\n\n');
}

// One row per figure, for spreadsheets: path, value, unit; then the changed inputs and the link.
export function csvRows(report, inputs, link) {
  const shown = (value, unit) => (unit === '%' ? Number((value * 100).toPrecision(12)) : value);
  const figures = FIGURES.map((path) => [path, get(report, path), unitOf(path)]).filter(
    ([, value]) => typeof value === 'number',
  );
  const { version: _, ...given } = inputs;
  return [
    ...figures.map(([path, value, unit]) => [path, shown(value, unit), unit]),
    ...Object.entries(given).map(([path, value]) => [path, value, 'input']),
    ['version', report.scenario.version, ''],
    ['link', link, ''],
  ];
}
