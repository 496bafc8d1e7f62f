// The Chip scene: the cost of making the device, what else the same silicon could be, and the uncertainty. One question
// at a time, each a view with its own address.
/** @import {Context} from '../types.js' */
import { partBar } from '../charts/part_bar.js';
import { billParts } from '../charts/parts.js';
import { h } from '../dom.js';
import { addStyle } from '../host.js';
import { figures } from '../report/figures.js';
import { footnote } from '../scenes/footnote.js';
import { absence } from '../scenes/absence.js';
import { beside, ghostOf, heading, infeasible, unknownPlace } from '../scenes/parts.js';
import { whole } from '../text/format.js';
import { design } from './design.js';
import { areaCurve, dividedInto, waferMap, yieldFan } from './dies.js';
import { partition } from './partition.js';
import { technology } from './technology.js';
import { dieFigures, dieTable } from './tables.js';
import { uncertainty } from './uncertainty.js';
import { t } from './texts.js';

await addStyle('style/chip.css');

// A cost bar whose lines are named below it.
/** @param {Context} context */
const labelledBill = (context, { id, title, subtitle, lines, whole }) =>
  partBar({
    id,
    title,
    subtitle,
    width: context.width,
    unit: '$',
    parts: billParts(lines),
    ghost: ghostOf(context, whole),
  });

const VIEWS = {
  bill: (context, { cost, training, serving }) => [
    labelledBill(context, {
      id: 'device-bill',
      title: t('chip.bill'),
      subtitle: t('chip.bill.sub'),
      lines: cost.device_usd_parts,
      whole: 'cost.device_usd',
    }),
    figures(
      context,
      [
        'cost.device_usd',
        'cost.device_hour_usd',
        'cost.system_usd',
        training && 'training.cost_usd',
        serving && 'serving.cost_usd_per_million_tokens',
        { path: 'cost.carbon.embodied_g', unit: 'g' },
      ].filter(Boolean),
    ),
    dieTable(context, cost.dies),
  ],
  dies: (context, { cost }) => [beside(context, (part) => [waferMap(part), dieFigures(part, cost.dies)], yieldFan)],
  chiplets: (context) => [beside(context, areaCurve, partition)],
  design: (context) => [design(context)],
  technology: (context) => [technology(context)],
  hour: (context, { cost, training, serving }) => [
    labelledBill(context, {
      id: 'hour-bill',
      title: t('chip.hour'),
      subtitle: t('chip.hour.sub'),
      lines: cost.device_hour_usd_parts,
      whole: 'cost.device_hour_usd',
    }),
    figures(
      context,
      [
        training && 'training.tokens_per_usd',
        serving && 'serving.tokens_per_usd',
        serving && 'serving.tokens_per_j',
        'cost.flops_per_usd',
        'cost.flops_per_j',
      ].filter(Boolean),
    ),
    labelledBill(context, {
      id: 'system-bill',
      title: t('chip.system'),
      subtitle: t('chip.system.sub', { count: whole(cost.devices ?? context.scenario.cluster.devices) }),
      lines: cost.system_usd_parts,
      whole: 'cost.system_usd',
    }),
  ],
  certainty: (context) => uncertainty(context),
};

const OF_WHOLE = ['dies', 'certainty']; // views that study a device before it is cut into dies

/** @param {Context} context */
const views = (context, chosen) =>
  h(
    'nav',
    { 'class': 'views scene-views', 'aria-label': t('chip.views') },
    Object.keys(VIEWS).map((one) =>
      h(
        'button',
        {
          'type': 'button',
          'data-key': `chip-view-${one}`,
          'aria-pressed': String(one === chosen),
          'onclick': () => context.open('chip', one === 'bill' ? '' : one),
        },
        t(`chip.view.${one}`),
      ),
    ),
  );

// `context.sub`: the view that a lesson shows.
/** @param {Context} context */
export function draw(context) {
  /** @param {Context} context */
  const [asked, further] = (context.sub ?? context.store.sub).split('/');
  const view = Object.hasOwn(VIEWS, asked) ? asked : 'bill';
  const title = [
    heading(t(`chip.${view}.title`), t(`chip.${view}.lead`)),
    asked && asked !== view && unknownPlace(asked),
    further && unknownPlace(further),
  ];
  const { cost } = context.report;
  if (!cost) return [title, absence(context, 'cost')];
  return [
    title,
    context.sub === undefined && views(context, view),
    infeasible(cost),
    dividedInto(context) > 1 &&
      OF_WHOLE.includes(view) &&
      h('p', { class: 'note' }, t(`chip.whole.${view}`, { count: dividedInto(context) })),
    ...VIEWS[view](context, context.report),
    footnote(context, 'chip', [t('assume.chip'), ' ', t('assume.dies')]),
  ];
}
