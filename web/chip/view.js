// The Chip scene: what the device costs to make, what else the same silicon could be, and how sure that is.
import { addStyle } from '../host.js';
import { bill, absence, heading, infeasible } from '../scenes/parts.js';
import { figures } from '../report/figures.js';
import { extend, t } from '../text/strings.js';
import { areaCurve, waferMap, yieldFan } from './dies.js';
import { partition } from './partition.js';
import { technology } from './technology.js';
import { dieTable } from './tables.js';
import { texts } from './texts.js';
import { uncertainty } from './uncertainty.js';

extend(texts);
await addStyle('style/chip.css');

export function draw(context) {
  const { cost, training, serving } = context.report;
  if (!cost) return [heading(t('chip.title'), t('chip.lead')), absence(context, 'cost')];
  return [
    heading(t('chip.title'), t('chip.lead')),
    infeasible(cost),
    bill(context, { id: 'device-bill', title: t('chip.bill'), subtitle: t('chip.bill.sub'), lines: cost.device_usd_parts }),
    figures(
      context,
      [
        'cost.device_usd',
        'cost.device_hour_usd',
        'cost.system_usd',
        training && 'training.cost_usd',
        serving && 'serving.cost_usd_per_million_tokens',
        training && 'training.tokens_per_usd',
        serving && 'serving.tokens_per_usd',
        serving && 'serving.tokens_per_j',
        'cost.flops_per_usd',
        'cost.flops_per_j',
        { path: 'cost.carbon.embodied_g', unit: 'g' },
      ].filter(Boolean),
    ),
    technology(context),
    dieTable(context, cost.dies),
    waferMap(context),
    yieldFan(context),
    areaCurve(context),
    partition(context),
    uncertainty(context),
    bill(context, { id: 'hour-bill', title: t('chip.hour'), lines: cost.device_hour_usd_parts }),
    bill(context, { id: 'system-bill', title: t('chip.system'), lines: cost.system_usd_parts }),
  ];
}
