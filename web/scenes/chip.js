import { lines } from '../charts/lines.js';
import { h } from '../dom.js';
import { figures, why } from '../report/figures.js';
import { set } from '../state/paths.js';
import { text } from '../text/format.js';
import { t } from '../text/strings.js';
import { absence, bill, heading, infeasible } from './parts.js';

function dies(context, list) {
  const columns = [t('chip.die'), t('chip.area'), t('chip.node'), t('name.dies_per_wafer'), t('name.yield'), t('name.die_usd')];
  const cell = (path, value, unit) => h('td', {}, text(value, unit), why(context, path, path));
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': t('chip.dies') },
    h(
      'table',
      { class: 'plain' },
      h('caption', {}, t('chip.dies')),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          columns.map((one) => h('th', { scope: 'col' }, one)),
        ),
      ),
      h(
        'tbody',
        {},
        list.map((die, i) =>
          h(
            'tr',
            {},
            h('th', { scope: 'row' }, die.name),
            h('td', {}, text(die.area_mm2, 'mm^2')),
            h('td', {}, die.node),
            cell(`cost.dies.${i}.dies_per_wafer`, die.dies_per_wafer, 'count'),
            cell(`cost.dies.${i}.yield`, die.yield, '%'),
            cell(`cost.dies.${i}.cost_usd`, die.cost_usd, '$'),
          ),
        ),
      ),
    ),
  );
}

const AREAS = [100, 150, 200, 300, 400, 500, 600, 700, 800, 1000, 1200, 1600];
const SPLITS = [
  [1, 'var(--c-forward)'],
  [2, 'var(--c-tp)'],
  [4, 'var(--c-dp)'],
  [8, 'var(--c-ep)'],
];

// What a device costs against the area of its compute silicon, in one die or split into several; dies that cannot be made are hollow.
function splitCurve(context) {
  const series = SPLITS.map(([count, color]) => {
    const request = structuredClone(context.request);
    set(request, 'cluster.device.die.count', count);
    const answer = context.ask(
      'sweep',
      {
        request,
        axes: [`cluster.device.die.area=${AREAS.map((area) => area / count).join(',')}`],
        report: ['cost.device_usd', 'cost.feasible'],
      },
      0,
      AREAS.length,
    );
    const points = (answer?.rows ?? []).flatMap(({ figures: [cost, feasible] }, i) =>
      cost > 0 && feasible !== false && feasible !== 0 ? [{ x: AREAS[i], y: cost }] : [],
    );
    return { name: t(count === 1 ? 'chip.one' : 'chip.split', { count }), color, points };
  }).filter(({ points }) => points.length > 1);
  if (!series.length || new Set(series.map(({ points }) => points.map(({ y }) => y).join())).size < series.length) return null;
  const here = context.scenario.cluster.device.die;
  const rows = AREAS.map((area) => [text(area, 'mm^2'), ...series.map(({ points }) => text(points.find(({ x }) => x === area)?.y, '$'))]);
  return lines({
    id: 'die-split',
    title: t('chip.curve'),
    subtitle: t('chip.curve.sub'),
    width: context.width,
    x: { label: t('chip.total'), unit: 'mm^2' },
    y: { label: t('name.device_usd'), unit: '$', from: 0.95 * Math.min(...series.flatMap(({ points }) => points.map(({ y }) => y))) },
    series,
    here: here && { x: here.area * here.count },
    rows,
    columns: [t('chip.total'), ...series.map(({ name }) => name)],
  });
}

export const chip = {
  id: 'chip',
  draw(context) {
    const { cost } = context.report;
    if (!cost) return [heading(t('chip.title'), t('chip.lead')), absence(context, 'cost')];
    return [
      heading(t('chip.title'), t('chip.lead')),
      infeasible(cost),
      cost.device_usd_parts?.length ? bill(context, { id: 'device-bill', title: t('chip.bill'), lines: cost.device_usd_parts }) : null,
      figures(
        context,
        [
          'cost.device_usd',
          'cost.system_usd',
          'cost.device_hour_usd',
          context.report.serving && 'serving.cost_usd_per_million_tokens',
          context.report.training && 'training.cost_usd',
        ].filter(Boolean),
      ),
      splitCurve(context),
      cost.dies?.length ? dies(context, cost.dies) : null,
      cost.device_hour_usd_parts?.length
        ? bill(context, { id: 'hour-bill', title: t('chip.hour'), lines: cost.device_hour_usd_parts })
        : null,
      cost.system_usd_parts?.length ? bill(context, { id: 'system-bill', title: t('chip.system'), lines: cost.system_usd_parts }) : null,
    ];
  },
};
