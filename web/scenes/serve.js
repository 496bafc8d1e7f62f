/** @import {Context} from '../types.js' */
import { operatorTable } from '../charts/operator_table.js';
import { partBar } from '../charts/part_bar.js';
import { latencyParts } from '../charts/parts.js';
import { roofline } from '../charts/roofline.js';
import { topology } from '../charts/topology.js';
import { h } from '../dom.js';
import { addStyle } from '../host.js';
import { figures } from '../report/figures.js';
import { nameOf } from '../report/names.js';
import { ridgeOf } from '../report/scrub.js';
import { troubleOf } from '../report/words.js';
import { get } from '../state/paths.js';
import { text, whole } from '../text/format.js';
import { pieces } from '../text/strings.js';
import { absence } from './absence.js';
import { footnote } from './footnote.js';
import { made } from './made.js';
import { beside, boundBars, ghostOf, heading, infeasible } from './parts.js';
import { saveTrace, traceOf } from './step_trace.js';
import { usersCurve } from './users_curve.js';
import { t } from './texts.js';

await addStyle('style/serving.css');

// The largest part of a latency in a sentence, and the bottleneck of the decode step.
function whereItGoes({ report: { serving }, scenario }) {
  const [name, largest] = Object.entries(serving.tpot_parts_s).reduce((best, one) => (one[1] > best[1] ? one : best));
  const bounds = Object.entries(serving.time_by_bound?.decode ?? {}).sort((a, b) => b[1] - a[1]);
  const step = serving.decode_step_s;
  const said = bounds
    .slice(0, 2)
    .filter(([, time]) => time > 0.05 * step)
    .map(([bound, time]) => `${text(time / step, '%')} ${t(`serve.bound.${bound}`)}`);
  return h(
    'p',
    { class: 'lead serve-answer' },
    h('b', {}, t(`serve.largest.${name}`, { share: text(largest / serving.tpot_s, '%') })),
    ' ',
    t(`serve.largest.${name}.why`, {
      others: whole(Math.max(1, Math.round(serving.batch - 1))),
      output: whole(scenario.serving.output),
    }),
    ' ',
    pieces('serve.step', { step: text(step, 's'), bounds: said.join(t('serve.and')) }),
  );
}

/** @param {Context} context */
function latencyBars(context) {
  const { serving } = context.report;
  const { tpot_parts_s: tpot, ttft_parts_s: ttft } = serving;
  const own = ['gemm', 'attention', 'communication', 'small_kernels', 'scheduler'].reduce(
    (sum, id) => sum + ttft[id],
    0,
  );
  const bar = (id, latency, parts, subtitle) => (part) =>
    partBar({
      id,
      title: t(`serve.${latency}`),
      subtitle,
      width: part.width,
      unit: 's',
      parts: latencyParts(parts, latency),
      ghost: ghostOf(part, `serving.${latency}_s`),
      onpart: (one) => context.why(`serving.${latency}_parts_s.${one}`),
    });
  return beside(
    context,
    bar(
      'tpot-bar',
      'tpot',
      tpot,
      t('serve.tpot.sub', { step: text(serving.tpot_s - tpot.prefill, 's'), waiting: text(tpot.prefill, 's') }),
    ),
    bar(
      'ttft-bar',
      'ttft',
      ttft,
      t('serve.ttft.sub', { queue: text(ttft.handling + ttft.queue + ttft.others, 's'), prefill: text(own, 's') }),
    ),
  );
}

/** @param {Context} context */
function operators(context) {
  const { serving } = context.report;
  const { device } = context.scenario.cluster;
  const { peak, onridge } = ridgeOf(context, [context.scenario.serving.precision.activations, 'bf16', 'fp16']);
  const groups = ['decode', 'prefill']
    .map((phase) => ({ phase, operators: serving.operators?.[phase] ?? [] }))
    .filter(({ operators: list }) => list.length);
  if (!peak || !groups.length) return null;
  const main = context.stage.chosen('serve-phase') ?? 'decode';
  const shown = groups.find(({ phase }) => phase === main) ?? groups[0];
  const counts = new Map();
  for (const { bound } of shown.operators) counts.set(bound, (counts.get(bound) ?? 0) + 1);
  const quiet = shown.operators.filter(({ flops }) => !(flops > 0)).map(({ name }) => name);
  const time = shown.operators.reduce((sum, one) => sum + one.time_s * one.count, 0);
  const two = context.width >= 1000;
  return [
    h(
      'div',
      { class: 'headrow' },
      h('h2', {}, t(`serve.operators.${shown.phase}`)),
      h(
        'div',
        { 'class': 'views', 'role': 'group', 'aria-label': t('serve.phase') },
        groups.map(({ phase }) =>
          h(
            'button',
            {
              'type': 'button',
              'data-key': `serve-${phase}`,
              'aria-pressed': String(phase === shown.phase),
              'onclick': () => context.stage.choose('serve-phase', phase),
            },
            t(`roofline.${phase}`),
          ),
        ),
      ),
    ),
    h(
      'p',
      { class: 'lead' },
      t('serve.bounds', {
        list: [...counts].map(([bound, count]) => `${count} ${t(`bound.${bound}`)}`).join(', '),
        quiet: quiet.join(', '),
      }),
    ),
    h(
      'div',
      { class: two ? 'two' : undefined },
      roofline({
        id: 'roofline',
        title: t('serve.roofline'),
        subtitle: t('serve.roofline.sub'),
        width: two ? Math.floor((context.width - 32) / 2) : context.width,
        peak,
        bandwidth: device.memory.bandwidth,
        caches: device.caches,
        groups: [shown, ...groups.filter((one) => one !== shown)],
        main: shown.phase,
        onridge,
      }),
      operatorTable({
        title: t('operators.title'),
        subtitle: t(`operators.sub.${shown.phase}`, { time: text(time, 's') }),
        operators: shown.operators,
      }),
    ),
    h(
      'p',
      { class: 'note' },
      t('trace.note'),
      ' ',
      h(
        'button',
        {
          'type': 'button',
          'class': 'link',
          'data-key': 'serve-trace',
          'id': 'serve-trace',
          'onclick': () =>
            saveTrace(
              traceOf(shown.operators, context.scenario.model.layers, t(`roofline.${shown.phase}`)),
              shown.phase,
            ),
        },
        t('trace.save'),
      ),
    ),
  ];
}

// Cost, power and emissions of each of two pools.
/** @param {Context} context */
function pools(context) {
  if (!context.report.serving.pools) return null;
  const ofPool = (pool) =>
    ['cost_usd_per_million_tokens', 'energy_j_per_token', 'carbon_g_per_million_tokens']
      .map((figure) => `serving.pools.${pool}.${figure}`)
      .filter((path) => get(context.report, path) != null)
      .map((path) => ({ path, name: `${t(`serve.pools.${pool}`)}: ${nameOf(path.replace(`pools.${pool}.`, ''))}` }));
  return [h('h2', {}, t('serve.pools')), figures(context, [...ofPool('prefill'), ...ofPool('decode')])];
}

export const serve = {
  id: 'serve',
  /** @param {Context} context */
  draw(context) {
    const { serving } = context.report;
    if (!serving && context.report.diffusion) return made(context);
    if (!serving) return [heading(t('serve.title'), t('serve.lead')), absence(context, 'serving')];
    const users = usersCurve(context);
    return [
      context.hidden
        ? heading(t('serve.title'), t('serve.lead'))
        : [
            h(
              'h1',
              { class: 'question', tabindex: -1 },
              serving.feasible ? t('serve.question', { time: text(serving.tpot_s, 's') }) : t('serve.question.void'),
            ),
            serving.feasible && whereItGoes(context),
          ],
      infeasible(serving, t(troubleOf(serving) === 'rate' ? 'infeasible.asIf.rate' : 'infeasible.asIf')),
      latencyBars(context),
      figures(context, [
        'serving.ttft_s',
        'serving.tpot_s',
        'serving.request_latency_s',
        'serving.tokens_per_s_per_device',
        'serving.max_batch',
        'serving.cost_usd_per_million_tokens',
        ...(serving.sessions
          ? ['serving.sessions.hit_rate', 'serving.sessions.reentry_ttft_s', 'serving.session_usd']
          : []),
      ]),
      pools(context),
      users && [h('div', { class: 'headrow' }, h('h2', {}, t('serve.share'))), users],
      operators(context),
      serving.time_by_bound
        ? boundBars(context, 'pass-bounds', t('bounds.passes'), [
            [t('roofline.prefill'), serving.time_by_bound.prefill, serving.network_by_level.prefill],
            [t('roofline.decode'), serving.time_by_bound.decode, serving.network_by_level.decode],
          ])
        : null,
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
      footnote(context, 'serve', t('assume.serve')),
    ];
  },
};
