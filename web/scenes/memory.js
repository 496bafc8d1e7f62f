/** @import {Context} from '../types.js' */
import { lines } from '../charts/lines.js';
import { h } from '../dom.js';
import { figures } from '../report/figures.js';
import { nameOf } from '../report/names.js';
import { withChanges, withChoicesHeld } from '../state/scenario.js';
import { text, whole } from '../text/format.js';
import { absence } from './absence.js';
import { footnote } from './footnote.js';
import { beside, heading, infeasible, placeholder, servingMemory, trainingMemory } from './parts.js';
import { t } from './texts.js';

const HEIGHT = 470;
const CONTEXTS = [256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144];

const LATENT = { q_lora_rank: 1536, kv_lora_rank: 512, nope_head_dim: 128, rope_head_dim: 64, value_head_dim: 128 };

// This model and the alternatives for its attention: [{id, name, color, change}].
function kinds({ model }) {
  const heads = (count) => ({ 'model.mla': null, 'model.kv_heads': count });
  const others = [
    { id: 'mha', color: 'var(--c-tp)', change: heads(model.heads), same: !model.mla && model.kv_heads === model.heads },
    {
      id: 'gqa',
      color: 'var(--c-dp)',
      change: heads(8),
      same: (!model.mla && model.kv_heads === 8) || model.heads % 8 !== 0,
    },
    { id: 'mqa', color: 'var(--c-ep)', change: heads(1), same: !model.mla && model.kv_heads === 1 },
    { id: 'mla', color: 'var(--c-backward)', change: { 'model.mla': LATENT }, same: Boolean(model.mla) },
  ];
  return [{ id: 'own', color: 'var(--c-kv)', change: {} }, ...others.filter(({ same }) => !same)].map((one) => ({
    ...one,
    name: one.id === 'own' ? t('memory.own', { kind: ownKind(model) }) : t(`memory.${one.id}`),
  }));
}

function ownKind({ mla, heads, kv_heads: kv }) {
  if (mla) return t('memory.kind.mla', { latent: mla.kv_lora_rank, rope: mla.rope_head_dim });
  return kv === heads ? t('memory.mha') : kv === 1 ? t('memory.mqa') : t('memory.kind.gqa', { heads: kv });
}

// How the KV cache is divided over a replica's GPUs: tensor parallelism splits KV heads as far as possible and copies
// the rest.
function sharing({ model, serving }) {
  const { tp } = serving.mapping;
  if (tp === 1) return t('memory.sharing.one');
  if (model.mla) return t('memory.sharing.latent', { tp });
  if (tp > model.kv_heads)
    return t('memory.sharing.copies', { tp, heads: model.kv_heads, copies: tp / model.kv_heads });
  return t('memory.sharing.split', { tp, heads: model.kv_heads, own: model.kv_heads / tp });
}

// What the publisher supports against what fits.
const limitOf = ({ model }, most) =>
  model.context > 0 && most > model.context
    ? t('memory.limit', { most: whole(most), context: whole(model.context) })
    : '';

const SINGLE = { 'serving.batch': 1, 'serving.requests_per_s': null, 'serving.concurrency': null };
/** @param {Context} context */
const scopeOf = (context) => context.stage.chosen('kv-scope') ?? 'batch';

/** @param {Context} context */
function sweepOf(context, { id, change }) {
  const scope = scopeOf(context);
  const { training, serving } = context.report;
  const held = withChoicesHeld(context.request, context.scenario, [...(training?.chosen ?? []), ...serving.chosen]);
  const request = withChanges(held, scope === 'request' ? { ...change, ...SINGLE } : change);
  const answer = context.lately(
    `kv ${scope} ${id}`,
    'sweep',
    {
      request,
      axes: [`serving.prompt=${CONTEXTS.join(',')}`],
      report: ['serving.kv_cache_bytes', 'serving.memory_bytes.weights', 'serving.memory_bytes.capacity'],
    },
    0,
    CONTEXTS.length,
  );
  return answer && (answer.rows ?? []).filter(({ figures: [cache] }) => cache > 0);
}

/** @param {Context} context */
function cacheCurve(context) {
  const swept = kinds(context.scenario).map((kind) => ({ ...kind, rows: sweepOf(context, kind) }));
  if (swept.some(({ rows }) => !rows)) return placeholder(t('memory.kv'), HEIGHT);
  const [own] = swept;
  if (own.rows.length < 2) return null;
  const [, weights, capacity] = own.rows[0].figures;
  // On several devices heads are replicated, so another attention type may need as much: they share a line.
  const caches = ({ rows }) => rows.map(({ figures: [cache] }) => cache).join();
  const alike = swept.slice(1).filter((one) => caches(one) === caches(own));
  if (alike.length)
    own.name = t('memory.alike', {
      own: own.name,
      others: alike.map(({ name }) => name).join(', '),
      tp: context.scenario.serving.mapping.tp,
    });
  const all = [...swept.slice(1).filter((one) => one.rows.length > 1 && !alike.includes(one)), own];
  const lengths = [...new Set(all.flatMap(({ rows }) => rows.map(({ inputs: [prompt] }) => prompt)))].sort(
    (a, b) => a - b,
  );
  const cacheAt = ({ rows }, length) => rows.find(({ inputs: [prompt] }) => prompt === length)?.figures[0];
  return lines({
    id: 'kv-context',
    title: t('memory.kv'),
    subtitle: t(`memory.kv.${scopeOf(context)}`),
    controls: h(
      'div',
      { 'class': 'views', 'role': 'group', 'aria-label': t('memory.scope') },
      ['batch', 'request'].map((scope) =>
        h(
          'button',
          {
            'type': 'button',
            'data-key': `kv-${scope}`,
            'aria-pressed': String(scope === scopeOf(context)),
            'onclick': () => context.stage.choose('kv-scope', scope),
          },
          t(`memory.scope.${scope}`),
        ),
      ),
    ),
    note: sharing(context.scenario),
    uprights:
      context.scenario.model.context > 0
        ? [
            {
              x: context.scenario.model.context,
              text: t('memory.published', { context: whole(context.scenario.model.context) }),
            },
          ]
        : [],
    width: context.width,
    x: { label: t('memory.context'), unit: 'count', log: true },
    y: { label: t('column.kv'), unit: 'B', log: true },
    series: all.map(({ name, color, rows }) => ({
      name,
      color,
      points: rows.map(({ inputs: [prompt], figures: [cache, held] }) => ({
        x: prompt,
        y: cache,
        hollow: cache + held > capacity,
      })),
    })),
    levels: [
      { y: weights, text: t('memory.equals', { weights: text(weights, 'B') }) },
      { y: capacity, text: `${t('column.capacity')} ${text(capacity, 'B')}`, hair: true },
    ],
    here: { x: context.scenario.serving.prompt },
    columns: [t('column.context'), ...all.map(({ name }) => name)],
    rows: lengths.map((length) => [
      { value: length, unit: 'count' },
      ...all.map((one) => ({ value: cacheAt(one, length), unit: 'B' })),
    ]),
  });
}

export const memory = {
  id: 'memory',
  /** @param {Context} context */
  draw(context) {
    const { training, serving } = context.report;
    return [
      heading(t('memory.title'), t('memory.lead')),
      beside(
        context,
        (part) => (serving ? [infeasible(serving), servingMemory(part)] : absence(context, 'serving')),
        (part) => (training ? [infeasible(training), trainingMemory(part)] : absence(context, 'training')),
      ),
      serving &&
        figures(
          context,
          [
            {
              path: 'serving.memory_bytes.total',
              name: `${nameOf('serving.memory_bytes.total')}, ${t('group.serving').toLowerCase()}`,
            },
            'serving.kv_cache_bytes_per_token',
            'serving.kv_cache_bytes',
            'serving.max_batch',
            'serving.max_context',
            training && {
              path: 'training.memory_bytes.total',
              name: `${nameOf('training.memory_bytes.total')}, ${t('group.training').toLowerCase()}`,
            },
          ].filter(Boolean),
        ),
      serving &&
        h(
          'p',
          { class: 'note', id: 'memory-sharing' },
          [sharing(context.scenario), limitOf(context.scenario, serving.max_context)].filter(Boolean).join(' '),
        ),
      serving && cacheCurve(context),
      footnote(context, 'memory', t('assume.memory')),
    ];
  },
};
