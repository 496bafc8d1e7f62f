// Published runs in words, and as scenarios.
import { whole } from '../text/format.js';
import { t } from './texts.js';

export const UNITS = {
  training_step: 's',
  training_memory: 'B',
  output_token: 's',
  throughput: 'token/s',
  static_batch: 's',
  first_token: 's',
  serving_memory: 'B',
  whole_run: 's',
  image_or_clip: 's',
};

// The interval of each answer that has one.
export const INTERVALS = {
  'training.step_time_s': 'training.step_time_interval',
  'training.memory_bytes.total': 'training.memory_interval',
  'serving.tpot_s': 'serving.tpot_interval',
  'serving.ttft_s': 'serving.ttft_interval',
  'serving.tokens_per_s': 'serving.throughput_interval',
  'diffusion.latency_s': 'diffusion.latency_interval',
};

export function signedShare(error) {
  const percent = Math.abs(error) * 100;
  return `${error > 0 ? '+' : '−'}${percent < 9.95 ? percent.toFixed(1) : whole(percent)}\u00a0%`;
}

// The rows of a source's file by id, each with its source.
export const rowsById = (source) => new Map(source.rows.map((row) => [row.id, { row, source }]));

export const sourceName = ({ publisher, campaign }) => `${publisher}, ${campaign}`;

// The first address in a source's citation, if it has one.
export const addressOf = ({ source }) => /https:\/\/[^\s;,()]+/.exec(source)?.[0];

const mappingText = ({ tp, pp, cp, ep, attention_dp: dp, replicas }) =>
  [
    ['TP', tp],
    ['PP', pp],
    ['CP', cp],
    ['EP', ep],
    [t('run.attention'), dp],
    [t('run.replicas'), replicas],
  ]
    .filter(([, degree]) => degree > 1)
    .map(([name, degree]) => `${name} ${degree}`)
    .join(' ');

function loadText({ prompt, output, concurrency, requests_per_s: rate, batch }) {
  const load = concurrency
    ? t('run.concurrent', { count: whole(concurrency) })
    : rate
      ? t('run.rate', { rate })
      : batch === 'max'
        ? t('run.most')
        : t('run.batch', { count: whole(batch ?? 1) });
  return `${[prompt, output]
    .filter((one) => one !== undefined)
    .map(whole)
    .join(' → ')}, ${load}`;
}

const sizeText = ({ width, height }) => (width ? `${whole(width)} × ${whole(height)}` : null);

// An image or clip: unwritten members are the model's.
function madeWords({ diffusion, cluster }, { device, software }, nameOf) {
  const { model, steps, attention, ulysses = 1, ring = 1 } = diffusion;
  const count = cluster.devices ?? ulysses * ring;
  const devices = `${count > 1 ? `${whole(count)} × ` : ''}${nameOf('device', device) ?? device}`;
  const how = [
    steps && t('run.steps', { count: whole(steps) }),
    sizeText(diffusion),
    attention && t('run.attention_by', { how: attention }),
    ulysses > 1 && `Ulysses ${ulysses}`,
    ring > 1 && t('run.ring', { count: ring }),
  ];
  const what = t('run.on', { model: nameOf('diffusion_model', model) ?? model, devices });
  return { what: `${what}, ${software}`, how: how.filter(Boolean).join(', ') };
}

// {what, how}: model, devices and software; then load and mapping. `nameOf(kind, id)` gives a catalogue entry's name.
export function runWords({ row, source }, { device, software }, nameOf) {
  if (row.diffusion) return madeWords(row, { device, software }, nameOf);
  const part = row.serving ?? row.training;
  const own = typeof row.model === 'object' ? row.model : source.models?.[row.model];
  const model = nameOf('model', own?.name ?? row.model) ?? own?.name ?? row.id;
  const count = part.devices ?? row.cluster.devices ?? 1;
  const precision = row.serving ? row.serving.precision?.weights : row.training.precision;
  const what = [
    t('run.on', { model, devices: `${count > 1 ? `${whole(count)} × ` : ''}${nameOf('device', device) ?? device}` }),
    nameOf('software', software) ?? software,
    precision,
  ]
    .filter(Boolean)
    .join(', ');
  const load = row.serving
    ? loadText(row.serving)
    : t('run.tokens', { sequence: whole(row.training.sequence), batch: whole(row.training.global_batch) });
  const trained =
    row.training?.recompute && row.training.recompute !== 'none'
      ? t('run.recompute', { how: row.training.recompute })
      : '';
  return { what, how: [load, mappingText(part.mapping ?? {}), trained].filter(Boolean).join(', ') };
}

// The inputs that make a run the scenario. Each part is complete, so that nothing of the default scenario is under it,
// as in version 1.
export function inputsOf({ row, source }) {
  const model = typeof row.model === 'object' ? row.model : source.models?.[row.model];
  const { preset, ...cluster } = row.cluster;
  const below = Object.entries(cluster).map(([member, value]) => [`cluster.${member}`, JSON.stringify(value)]);
  return {
    version: '1',
    ...(row.model && { model: model ? JSON.stringify(model) : row.model }),
    cluster: preset,
    ...Object.fromEntries(below),
    training: JSON.stringify(row.training ?? null),
    serving: JSON.stringify(
      row.serving && source.tuning ? { tuning: source.tuning, ...row.serving } : (row.serving ?? null),
    ),
    ...(row.diffusion && { diffusion: JSON.stringify(row.diffusion) }),
  };
}
