import { lines } from '../charts/lines.js';
import { figures } from '../report/figures.js';
import { text, whole } from '../text/format.js';
import { t } from '../text/strings.js';
import { absence, heading, infeasible, servingMemory, trainingMemory } from './parts.js';

const CONTEXTS = [256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144];

function cacheCurve(context) {
  const answer = context.ask(
    'sweep',
    {
      request: context.request,
      axes: [`serving.prompt=${CONTEXTS.join(',')}`],
      report: ['serving.kv_cache_bytes', 'serving.memory_bytes.weights', 'serving.memory_bytes.capacity'],
    },
    0,
    CONTEXTS.length,
  );
  const rows = (answer?.rows ?? []).filter(({ figures: [cache] }) => cache > 0);
  if (rows.length < 2) return null;
  const [, weights, capacity] = rows[0].figures;
  return lines({
    id: 'kv-context',
    title: t('memory.kv'),
    subtitle: t('memory.kv.sub'),
    width: context.width,
    x: { label: t('memory.context'), unit: 'count', log: true },
    y: { label: t('column.kv'), unit: 'B', log: true },
    series: [
      {
        name: t('part.kv_cache'),
        color: 'var(--c-kv)',
        points: rows.map(({ inputs: [prompt], figures: [cache] }) => ({ x: prompt, y: cache, hollow: cache + weights > capacity })),
      },
    ],
    levels: [
      { y: weights, text: `${t('part.weights')} ${text(weights, 'B')}` },
      { y: capacity, text: `${t('column.capacity')} ${text(capacity, 'B')}`, hair: true },
    ],
    here: { x: context.scenario.serving.prompt },
    columns: [t('column.context'), t('column.kv')],
    rows: rows.map(({ inputs: [prompt], figures: [cache] }) => [whole(prompt), text(cache, 'B')]),
  });
}

export const memory = {
  id: 'memory',
  draw(context) {
    const { training, serving } = context.report;
    return [
      heading(t('memory.title'), t('memory.lead')),
      serving ? [infeasible(serving), servingMemory(context)] : absence(context, 'serving'),
      serving &&
        figures(
          context,
          [
            { path: 'serving.memory_bytes.total' },
            'serving.kv_cache_bytes_per_token',
            'serving.kv_cache_bytes',
            'serving.max_batch',
            'serving.max_context',
            training && { path: 'training.memory_bytes.total', name: `${t('name.total')}, ${t('group.training').toLowerCase()}` },
          ].filter(Boolean),
        ),
      training ? [infeasible(training), trainingMemory(context)] : absence(context, 'training'),
      serving && cacheCurve(context),
    ];
  },
};
