import { operatingCurve } from '../charts/operating_curve.js';
import { operatorTable } from '../charts/operator_table.js';
import { partBar } from '../charts/part_bar.js';
import { latencyParts } from '../charts/parts.js';
import { roofline } from '../charts/roofline.js';
import { topology } from '../charts/topology.js';
import { h } from '../dom.js';
import { measuredPoints } from '../evidence/curve_runs.js';
import { addStyle } from '../host.js';
import { figures } from '../report/figures.js';
import { ridgeOf, scrub } from '../report/scrub.js';
import { readQuestion, valueIn } from '../size/question.js';
import { withChanges } from '../state/scenario.js';
import '../text/later.js';
import { text, whole } from '../text/format.js';
import { pieces, t } from '../text/strings.js';
import { absence } from './absence.js';
import { footnote } from './footnote.js';
import { beside, boundBars, ghostOf, heading, infeasible, placeholder } from './parts.js';
import { saveTrace, traceOf } from './step_trace.js';

await addStyle('style/serving.css');

const HEIGHT = 450;
const BATCHES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
const FIGURES = ['serving.tpot_s', 'serving.tokens_per_s_per_device', 'serving.feasible'];
const perUser = (tpot) => 1 / tpot;

// The largest part of a latency in a sentence, and what holds the decode step.
function whereItGoes({ report: { serving }, scenario }) {
  const [name, largest] = Object.entries(serving.tpot_parts_s).reduce((best, one) => (one[1] > best[1] ? one : best));
  const bounds = Object.entries(serving.time_by_bound?.decode ?? {}).sort((a, b) => b[1] - a[1]);
  const step = serving.decode_step_s;
  const said = bounds.slice(0, 2).filter(([, time]) => time > 0.05 * step).map(([bound, time]) => `${text(time / step, '%')} ${t(`serve.bound.${bound}`)}`);
  return h(
    'p',
    { class: 'lead serve-answer' },
    h('b', {}, t(`serve.largest.${name}`, { share: text(largest / serving.tpot_s, '%') })),
    ' ',
    t(`serve.largest.${name}.why`, { others: whole(Math.max(1, Math.round(serving.batch - 1))), output: whole(scenario.serving.output) }),
    ' ',
    pieces('serve.step', { step: text(step, 's'), bounds: said.join(t('serve.and')) }),
  );
}

function latencyBars(context) {
  const { serving } = context.report;
  const { tpot_parts_s: tpot, ttft_parts_s: ttft } = serving;
  const own = ['gemm', 'attention', 'communication', 'small_kernels', 'scheduler'].reduce((sum, id) => sum + ttft[id], 0);
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
    bar('tpot-bar', 'tpot', tpot, t('serve.tpot.sub', { step: text(serving.tpot_s - tpot.prefill, 's'), waiting: text(tpot.prefill, 's') })),
    bar('ttft-bar', 'ttft', ttft, t('serve.ttft.sub', { queue: text(ttft.handling + ttft.queue + ttft.others, 's'), prefill: text(own, 's') })),
  );
}

// The batches of a closed loop, whatever the load of the scenario.
const closedLoop = (request) => withChanges(request, { 'serving.requests_per_s': null, 'serving.concurrency': null, 'serving.waves': null });

// Throughput of a device against the rate of a user's tokens, as the batch grows; batches that do not fit are hollow.
function batchCurve(context) {
  const { serving } = context.report;
  const { scenario, store } = context;
  const target = valueIn('tpot', readQuestion(store.view.size).tpot);
  const request = closedLoop(context.request);
  const held = target && context.ask('solve', request, 'serving.batch=1:4096', `serving.tpot_s<=${target} s`);
  const most = held && !held.issues && held.which === 'largest' ? held.value : null;
  const batches = [...new Set([...BATCHES, most, serving.max_batch > 512 ? serving.max_batch : null].filter(Boolean))].sort((a, b) => a - b);
  const answer = context.lately('batch', 'sweep', { request, axes: [`serving.batch=${batches.join(',')}`], report: FIGURES }, 0, batches.length);
  if (!answer) return placeholder(t('serve.batch'), HEIGHT);
  const rows = (answer.rows ?? []).filter(({ figures: [tpot, device] }) => tpot > 0 && device > 0);
  if (rows.length < 2) return null;
  const points = rows.map(({ inputs: [batch], figures: [tpot, device, fits] }) => ({ x: perUser(tpot), y: device, batch, tpot, hollow: fits === false || fits === 0 }));
  const last = points.find(({ batch }) => batch === most);
  const line = points.filter(({ batch }) => batch !== most || BATCHES.includes(batch));
  const measured = measuredPoints(context);
  const own = { x: perUser(serving.tpot_s), y: serving.tokens_per_s_per_device, batch: serving.batch };
  return operatingCurve({
    id: 'batch-curve',
    title: t('serve.batch'),
    subtitle: t('serve.batch.sub', { prompt: whole(scenario.serving.prompt), output: whole(scenario.serving.output), devices: whole(scenario.serving.devices ?? scenario.cluster.devices) }),
    width: context.width,
    points: line,
    measured: measured.map(({ x, y, name, prompt, output }) => ({
      x,
      y,
      text: t('serve.measured.label', { prompt: whole(prompt), output: whole(output) }),
      label: t('serve.measured.mark', { name, user: text(x, ''), device: text(y, '') }),
    })),
    here: { ...own, text: t('serve.you', { batch: whole(own.batch), tpot: text(serving.tpot_s, 's') }) },
    before: ['serving.tpot_s', 'serving.tokens_per_s_per_device'].some((path) => ghostOf(context, path)) && {
      x: perUser(context.ghost.serving.tpot_s),
      y: context.ghost.serving.tokens_per_s_per_device,
      text: t('serve.before'),
    },
    level: target && { x: perUser(target), text: t('serve.level', { target: text(target, 's') }) },
    last: last && !last.hollow && { ...last, text: t('serve.last', { batch: whole(most), target: text(target, 's') }) },
    onbatch: scrub(context, 'serving.batch', ''),
    summary: t('serve.batch.summary', { device0: text(line[0].y, ''), user0: text(line[0].x, ''), device1: text(line.at(-1).y, ''), user1: text(line.at(-1).x, '') }),
    note: [
      last && t('serve.last.note', { batch: whole(most), target: text(target, 's'), device: text(last.y, '') }),
      measured.length > 0 && t('serve.measured.note', { count: measured.length }),
    ]
      .filter(Boolean)
      .join(' '),
    columns: [t('column.batch'), { name: t('column.tpot'), unit: 's' }, { name: t('serve.perUser.axis'), unit: 'token/s' }, { name: t('serve.perDevice.axis'), unit: 'token/s' }, ...(measured.length ? [t('serve.measured.column')] : [])],
    rows: [...points, ...measured].map(({ batch, tpot, x, y, name }) => [batch, { value: tpot, unit: 's' }, { value: x, unit: 'token/s' }, { value: y, unit: 'token/s' }, ...(measured.length ? [name ?? ''] : [])]),
  });
}

function operators(context) {
  const { serving } = context.report;
  const { device } = context.scenario.cluster;
  const { peak, onridge } = ridgeOf(context, [context.scenario.serving.precision.activations, 'bf16', 'fp16']);
  const groups = ['decode', 'prefill'].map((phase) => ({ phase, operators: serving.operators?.[phase] ?? [] })).filter(({ operators: list }) => list.length);
  if (!peak || !groups.length) return null;
  const main = context.page.chosen('serve-phase') ?? 'decode';
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
        { class: 'views', role: 'group', 'aria-label': t('serve.phase') },
        groups.map(({ phase }) =>
          h('button', { type: 'button', 'data-key': `serve-${phase}`, 'aria-pressed': String(phase === shown.phase), onclick: () => context.page.choose('serve-phase', phase) }, t(`roofline.${phase}`)),
        ),
      ),
    ),
    h('p', { class: 'lead' }, t('serve.bounds', { list: [...counts].map(([bound, count]) => `${count} ${t(`bound.${bound}`)}`).join(', '), quiet: quiet.join(', ') })),
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
      operatorTable({ title: t('operators.title'), subtitle: t(`operators.sub.${shown.phase}`, { time: text(time, 's') }), operators: shown.operators }),
    ),
    h('p', { class: 'note' }, t('trace.note'), ' ', h('button', { type: 'button', class: 'link', 'data-key': 'serve-trace', id: 'serve-trace', onclick: () => saveTrace(traceOf(shown.operators, context.scenario.model.layers, t(`roofline.${shown.phase}`)), shown.phase) }, t('trace.save'))),
  ];
}

export const serve = {
  id: 'serve',
  draw(context) {
    const { serving } = context.report;
    if (!serving) return [heading(t('serve.title'), t('serve.lead')), absence(context, 'serving')];
    return [
      context.hidden
        ? heading(t('serve.title'), t('serve.lead'))
        : [h('h1', { class: 'question', tabindex: -1 }, t('serve.question', { time: text(serving.tpot_s, 's') })), whereItGoes(context)],
      infeasible(serving),
      latencyBars(context),
      figures(context, [
        'serving.ttft_s',
        'serving.tpot_s',
        'serving.request_latency_s',
        'serving.tokens_per_s_per_device',
        'serving.max_batch',
        'serving.cost_usd_per_million_tokens',
      ]),
      h('div', { class: 'headrow' }, h('h2', {}, t('serve.share')), h('span', { class: 'quiet' }, t('serve.choose'))),
      batchCurve(context),
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
      footnote(context, 'serve'),
    ];
  },
};
