import { lines } from '../charts/lines.js';
import { roofline } from '../charts/roofline.js';
import { topology } from '../charts/topology.js';
import { figures } from '../report/figures.js';
import '../text/later.js';
import { text, whole } from '../text/format.js';
import { t } from '../text/strings.js';
import { footnote } from './footnote.js';
import { absence, boundBars, heading, infeasible, placeholder } from './parts.js';

const HEIGHT = 450;
const BATCHES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

// Rate of a device against rate of a user, as the batch grows; batches that do not fit are hollow.
function batchCurve(context) {
  const answer = context.lately(
    'batch',
    'sweep',
    {
      request: context.request,
      axes: [`serving.batch=${BATCHES.join(',')}`],
      report: ['serving.tokens_per_s_per_user', 'serving.tokens_per_s_per_device', 'serving.feasible'],
    },
    0,
    BATCHES.length,
  );
  if (!answer) return placeholder(t('serve.batch'), HEIGHT);
  const rows = (answer.rows ?? []).filter(({ figures: [user, device] }) => user > 0 && device > 0);
  if (rows.length < 2) return null;
  const points = rows.map(({ inputs: [batch], figures: [user, device, fits] }) => ({
    x: user,
    y: device,
    hollow: fits === false || fits === 0,
    label: t('serve.mark', { batch: whole(batch), user: text(user, ''), device: text(device, '') }),
  }));
  return lines({
    id: 'batch-curve',
    title: t('serve.batch'),
    subtitle: t('serve.batch.sub'),
    width: context.width,
    x: { label: t('serve.perUser'), unit: '', log: true },
    y: { label: t('serve.perDevice'), unit: '', log: true },
    summary: t('serve.batch.summary', { device0: text(points[0].y, ''), user0: text(points[0].x, ''), device1: text(points.at(-1).y, ''), user1: text(points.at(-1).x, '') }),
    series: [{ name: t('column.batch'), color: 'var(--c-forward)', points }],
    columns: [t('column.batch'), t('serve.perUser'), t('serve.perDevice')],
    rows: rows.map(({ inputs: [batch], figures: [user, device] }) => [whole(batch), text(user, ''), text(device, '')]),
  });
}

export const serve = {
  id: 'serve',
  draw(context) {
    const { serving } = context.report;
    if (!serving) return [heading(t('serve.title'), t('serve.lead')), absence(context, 'serving')];
    const { device } = context.scenario.cluster;
    const peak = device.peak[context.scenario.serving.precision.activations] ?? device.peak.bf16 ?? device.peak.fp16;
    const groups = ['prefill', 'decode']
      .map((phase) => ({ phase, operators: serving.operators?.[phase] ?? [] }))
      .filter(({ operators }) => operators.length);
    return [
      heading(t('serve.title'), t('serve.lead')),
      infeasible(serving),
      peak && groups.length
        ? roofline({
            id: 'roofline',
            title: t('serve.roofline'),
            subtitle: t('serve.roofline.sub'),
            width: context.width,
            peak,
            bandwidth: device.memory.bandwidth,
            caches: device.caches,
            groups,
          })
        : null,
      serving.time_by_bound
        ? boundBars(context, 'pass-bounds', t('bounds.passes'), [
            [t('roofline.prefill'), serving.time_by_bound.prefill],
            [t('roofline.decode'), serving.time_by_bound.decode],
          ])
        : null,
      figures(context, [
        'serving.ttft_s',
        'serving.tpot_s',
        'serving.request_latency_s',
        'serving.tokens_per_s_per_device',
        'serving.max_batch',
        'serving.cost_usd_per_million_tokens',
      ]),
      batchCurve(context),
      serving.collectives?.length
        ? topology({
            id: 'serving-topology',
            width: context.width,
            cluster: context.scenario.cluster,
            mapping: context.scenario.serving.mapping,
            devices: context.scenario.serving.devices ?? context.scenario.cluster.devices,
            uses: serving.collectives,
            serving: true,
          })
        : null,
      footnote(context, 'serve'),
    ];
  },
};
