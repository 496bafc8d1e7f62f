// The device cut into chiplets: its bill, and what the links between the dies do to the answers.
/** @import {Context} from '../types.js' */
import { stackedBars } from '../charts/bars.js';
import { billsParts } from '../charts/parts.js';
import { tableByRows } from '../charts/lib/by_rows.js';
import { h } from '../dom.js';
import { figureName } from '../explore/controls.js';
import { get } from '../state/paths.js';
import { number, text, unitOf } from '../text/format.js';
import { choose, pick, row, typedMeasure } from './choices.js';
import { dividedInto, kindOf, linksOf, packageOf, packages, study } from './dies.js';
import { t } from './texts.js';

const COUNTS = [2, 4, 8];
const NOTICED = 0.005; // difference of two bills that is said
const AREA = 'cost.device.dies.0.area';
const LINKS = ['1 TB/s', '2 TB/s', '4 TB/s', '8 TB/s', '16 TB/s'];
const ANSWERS = [
  'memory_bandwidth_bytes_per_s',
  'training.step_time_s',
  'training.cost_usd',
  'serving.ttft_s',
  'serving.tpot_s',
  'serving.cost_usd_per_million_tokens',
  'cost.device_hour_usd',
];
const INTERFACES = ['ucie-advanced', 'ucie-standard', 'aib-2.0', 'bow-organic', 'organic-serial'];

// A kind of line has the same name for any number of dies.
const named = (lines) =>
  lines.map(({ name, cost_usd }) => ({ name: name.replace(/ dies? ?(\(\d+\))?$/, ' dies'), cost_usd }));

/** @param {Context} context */
export function partition(context) {
  const packaging = packageOf(context);
  const links = linksOf(context);
  const answers = COUNTS.map((chiplets) =>
    study(context, 'partition', { partition: { chiplets, ...links } }, packaging),
  );
  if (answers.some((one) => !one)) return null;
  // The device as it is may have another package than the rows below, or be cut already.
  const { device_usd: made, device_usd_parts: own } = context.report.cost;
  const isApart = dividedInto(context) > 1 || Math.abs(answers[0].whole.device_usd / made - 1) > NOTICED;
  const bills = [
    ...(isApart ? [[t(`chip.as.${kindOf(context)}`, { count: dividedInto(context) }), own]] : []),
    [t('chip.one'), answers[0].whole.device_usd_parts],
    ...answers.map((one, i) => [t('chip.split', { count: COUNTS[i] }), one.split.device_usd_parts]),
  ];
  const parts = billsParts(bills.map(([, lines]) => named(lines)));
  const rows = bills.map(([label], i) => ({ label, parts: parts[i] }));
  const columns = [t('chip.figure'), t('chip.one'), ...COUNTS.map((count) => t('chip.split', { count }))];
  const { whole } = answers[0].performance;
  const facts = [
    [t('chip.linkArea'), 'link_area_mm2', 'mm^2'],
    [t('chip.linkEdge'), 'link_edge_mm', 'mm'],
    [t('chip.linkPower'), 'link_power_w', 'W'],
  ].map(([name, member, unit]) => [
    name,
    '–',
    ...answers.map(
      (one) =>
        text(one[member], unit) + (member === 'link_edge_mm' && !one.edge_fits ? ` (${t('chip.edgeShort')})` : ''),
    ),
  ]);
  const change = (now, before) =>
    now === before ? '' : ` (${now > before ? '+' : '−'}${number(100 * Math.abs(now / before - 1), 2)}\u00a0%)`;
  const moved = ANSWERS.filter((path) => typeof get(whole, path) === 'number').map((path) => {
    const bandwidth = path.startsWith('memory_bandwidth');
    const unit = bandwidth ? 'B/s' : unitOf(path);
    const name = bandwidth ? t('chip.memoryBandwidth') : figureName(path);
    const before = get(whole, path);
    return [
      name,
      text(before, unit),
      ...answers.map(({ performance: { split } }) => text(get(split, path), unit) + change(get(split, path), before)),
    ];
  });
  return h(
    'section',
    {},
    stackedBars({
      id: 'partition',
      title: t('chip.partition'),
      subtitle: t('chip.partition.sub'),
      width: context.width,
      unit: '$',
      rows,
      axis: true,
      controls: row(
        typedMeasure('chip-partition-area', t('chip.area'), get(context.scenario, AREA), 'mm^2', (value) =>
          context.store.set(AREA, value),
        ),
        pick('chip-partition-package', t('chip.package'), packages(context), packaging, choose(context, 'package')),
        pick(
          'chip-partition-interface',
          t('chip.interface'),
          INTERFACES.map((value) => ({ value, name: t(`chip.interface.${value}`) })),
          links.interface.preset,
          choose(context, 'interface'),
        ),
        pick(
          'chip-partition-links',
          t('chip.links'),
          LINKS.map((value) => ({ value, name: value })),
          links.bandwidth,
          choose(context, 'links'),
        ),
      ),
    }),
    tableByRows(t('chip.partition.effect'), columns, [...facts, ...moved]),
    h(
      'p',
      { class: 'note' },
      isApart &&
        `${t(`chip.partition.${kindOf(context)}`, {
          made: text(made, '$'),
          computed: text(answers[0].whole.device_usd, '$'),
          count: dividedInto(context),
        })} `,
      t('chip.partition.note'),
    ),
  );
}
