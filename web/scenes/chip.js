import { h } from '../dom.js';
import { figures, why } from '../report/figures.js';
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
      cost.dies?.length ? dies(context, cost.dies) : null,
      cost.device_hour_usd_parts?.length
        ? bill(context, { id: 'hour-bill', title: t('chip.hour'), lines: cost.device_hour_usd_parts })
        : null,
      cost.system_usd_parts?.length ? bill(context, { id: 'system-bill', title: t('chip.system'), lines: cost.system_usd_parts }) : null,
    ];
  },
};
