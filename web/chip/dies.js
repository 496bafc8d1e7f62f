// Charts of dies: where they lie on a wafer and which are good, yield by model, cost against area whole and in chiplets.
/** @import {Context} from '../types.js' */
import { lines } from '../charts/lines.js';
import { wafer } from '../charts/wafer.js';
import { nameOf } from '../report/names.js';
import { scrub } from '../report/scrub.js';
import { withChanges } from '../state/scenario.js';
import { text } from '../text/format.js';
import { choose, chosen, pick, press, row } from './choices.js';
import { t } from './texts.js';

// Studies cut the device themselves, in the kind of package asked about, "" for its own. The price of the own package is a quote, so another kind is
// given to the whole die too: else a cheaper price would pass for a gain of the chiplets.
const studied = (ask, { request }, kind, members, packaging) => {
  const scenario = packaging ? withChanges(request, { 'cost.device.package': { preset: packaging } }) : request;
  const answer = ask('costStudy', { kind, scenario, ...members });
  return answer && !answer.issues ? answer : undefined;
};
/** @param {Context} context */
export const study = (context, kind, members = {}, packaging = '') =>
  studied(context.ask, context, kind, members, packaging);
// The same, but while an answer is on its way the previous one: a chart stays while its handle is dragged, and nothing
// below jumps.
/** @param {Context} context */
const standing = (context, kind, members, packaging = '') =>
  studied((verb, spec) => context.lately(`study-${kind}`, verb, spec), context, kind, members, packaging);

/** @type {[string, boolean][]} */
const PACKAGES = [
  ['organic-mcm', false], // whether it carries HBM
  ['fan-out', true],
  ['bridge', true],
  ['interposer', true],
];

// The kinds of package to choose among: the device's own, and those that carry its memory.
/** @param {Context} context */
export function packages({ scenario }) {
  const { package: own, memory } = scenario.cost.device;
  const isHbm = own.holds_hbm && memory.stacks > 0;
  const others = PACKAGES.filter(([id, carries]) => id !== own.preset && (carries || !isHbm));
  return [
    { value: '', name: t('chip.package.own', { name: own.name }) },
    ...others.map(([value]) => ({ value, name: t(`chip.package.${value}`) })),
  ];
}

// The kind that was chosen, where this device can have it.
/** @param {Context} context */
export function packageOf(context) {
  const asked = chosen(context, 'package', '');
  return packages(context).some(({ value }) => value === asked) ? asked : '';
}

// The links between chiplets, the same in the curve and in the bills.
/** @param {Context} context */
export const linksOf = (context) => ({
  bandwidth: chosen(context, 'links', '4 TB/s'),
  interface: { preset: chosen(context, 'interface', 'ucie-advanced') },
});

// The number of dies into which the scenario cuts the device.
/** @param {Context} context */
export const dividedInto = ({ scenario }) => scenario.partition?.chiplets ?? 1;

// What the device's own cost is of: as published, of a package computed from its parts, or of the dies that the scenario cuts it into.
/** @param {Context} context */
export function kindOf(context) {
  const { scenario, store } = context;
  if (dividedInto(context) > 1) return 'divided';
  const isOwn =
    scenario.cluster.device.design || Object.keys(store.inputs).some((path) => path.startsWith('cost.device.'));
  return isOwn ? 'package' : 'published';
}

/** @param {Context} context */
export function waferMap(context) {
  const { dies } = context.report.cost;
  const die = Math.min(chosen(context, 'wafer-die', 0), dies.length - 1);
  const seed = chosen(context, 'wafer-seed', 1);
  const answer = study(context, 'wafer', { die, seed });
  if (!answer) return null;
  return wafer({
    id: 'wafer',
    title: t('chip.wafer', { die: answer.name }),
    subtitle: t('wafer.sub', {
      width: text(answer.width_mm, ''),
      height: text(answer.height_mm, ''),
      diameter: text(answer.diameter_mm, ''),
    }),
    width: context.width,
    answer,
    controls: row(
      dies.length > 1 &&
        pick(
          'chip-wafer-die',
          t('chip.die'),
          dies.map(({ name }, i) => ({ value: String(i), name })),
          String(die),
          (value) => choose(context, 'wafer-die')(Number(value)),
        ),
      press('chip-wafer-seed', t('wafer.again'), () => choose(context, 'wafer-seed')(seed + 1)),
    ),
  });
}

const dragNote = ({ report: { cost } }) =>
  t('chip.drag', { cost: text(cost.device_usd, '$'), price: text(cost.device_price_usd, '$') });

// Dragging the line of the own area sets the area of each of `count` dies.
/** @param {Context} context */
function areaHandle(context, count = 1) {
  const moved = scrub(context, 'cost.device.dies.0.area', 'mm^2');
  return {
    name: t('chip.area.handle'),
    onx: moved && { set: (area) => moved.set(Number((area / count).toPrecision(3))), end: moved.end },
  };
}

// The last area of an axis, which holds the own area.
const reachOf = (usual, own) => Math.max(usual, Math.ceil((own * 1.05) / 100) * 100);

// Dashes tell the models apart without color.
const MODELS = [
  ['poisson', 'var(--c-forward)'],
  ['murphy', 'var(--c-dp)'],
  ['murphy_rectangular', 'var(--c-tp)'],
  ['negative_binomial', 'var(--c-kv)'],
  ['seeds', 'var(--c-ep)'],
  ['bose_einstein', 'var(--c-recompute)'],
  ['seeds_sqrt', 'var(--c-optimizer)'],
];

/** @param {Context} context */
export function yieldFan(context) {
  const own = context.scenario.cost.device.dies[0].area;
  const answer = standing(context, 'yields', { low: 25, high: reachOf(900, own), points: 15 });
  if (!answer) return null;
  const of = (name) => answer.models.find(({ model }) => model === name);
  const owns = MODELS.map(([model]) => of(model).own_yield);
  const series = MODELS.map(([model, color]) => ({
    name: t(`chip.yield.${model}`) + (of(model).chosen ? ` (${t('chip.yield.chosen')})` : ''),
    color,
    points: of(model).yield.map((y, i) => ({ x: answer.areas_mm2[i], y })),
  }));
  return lines({
    id: 'yield-fan',
    title: t('chip.yields'),
    subtitle: t('chip.yields.sub'),
    width: context.width,
    x: { label: t('chip.mm2'), unit: 'mm^2' },
    y: { label: nameOf('cost.dies.0.yield'), unit: '%', from: 0 },
    series,
    here: {
      x: answer.own_area_mm2,
      text: t('chip.own', { area: text(answer.own_area_mm2, 'mm^2') }),
      ...areaHandle(context),
    },
    hint: dragNote(context),
    summary: t('chip.yields.summary', {
      low: text(Math.min(...owns), '%'),
      high: text(Math.max(...owns), '%'),
      model: t(`chip.yield.${answer.models.find(({ chosen: one }) => one)?.model ?? 'negative_binomial'}`),
      used: text(answer.models.find(({ chosen: one }) => one)?.own_yield, '%'),
    }),
    columns: [t('chip.area'), ...series.map(({ name }) => name)],
    rows: answer.areas_mm2.map((area, i) => [
      { value: area, unit: 'mm^2' },
      ...series.map(({ points }) => ({ value: points[i].y, unit: '%' })),
    ]),
  });
}

/** @type {[number, string][]} */
const SPLITS = [
  [1, 'var(--c-forward)'],
  [2, 'var(--c-tp)'],
  [4, 'var(--c-kv)'],
  [8, 'var(--c-weights)'],
];

const PLAUSIBLE_VOLUME = 1e7; // more of one device than is ever made
const AREAS = { low: 100, high: 1600, points: 16 }; // mm²

// Counts of dies by the area at which they break even, [{counts, at}]. `at` is null if they cost less at no area, and the smallest area if they
// cost less at every area.
const breakEvens = (crossovers, member) =>
  [...Map.groupBy(crossovers, (one) => one[member] && text(one[member], 'mm^2')).values()].map((group) => ({
    counts: group.map(({ chiplets }) => chiplets),
    at: group[0][member],
  }));

const counted = (counts) => new Intl.ListFormat('en').format(counts.map(String));

// Sentences on the areas and the numbers of devices from which dies break even.
const spokenOf = (groups, crossovers) =>
  [
    ...groups.map(({ counts, at }) =>
      t(at === null ? 'chip.crosses.never' : at > AREAS.low ? 'chip.crosses' : 'chip.crosses.always', {
        chiplets: counted(counts),
        area: text(at, 'mm^2'),
      }),
    ),
    ...crossovers
      .filter(({ volume }) => volume && volume < PLAUSIBLE_VOLUME)
      .map(({ chiplets, volume, cheaper }) =>
        t(`chip.crosses.${cheaper}`, { chiplets, volume: text(volume, ' ').trim() }),
      ),
  ].join(' ');

// Dies larger than the exposure field are hollow.
/** @param {Context} context */
export function areaCurve(context) {
  const packaging = packageOf(context);
  const design = chosen(context, 'design', 'with');
  const [die] = context.scenario.cost.device.dies ?? [];
  const ownArea = die && die.area * (die.count ?? 1);
  const areas = { ...AREAS, high: reachOf(AREAS.high, ownArea ?? 0) };
  const answer = standing(context, 'area', { ...areas, partition: linksOf(context) }, packaging);
  if (!answer) return null;
  const member = design === 'with' ? 'cost_usd' : 'recurring_usd';
  const series = SPLITS.map(([count, color]) => {
    const curve = answer.curves.find(({ chiplets }) => chiplets === count);
    return {
      name: t(count === 1 ? 'chip.one' : 'chip.split', { count }),
      color,
      points: curve[member].map((y, i) => ({
        x: answer.areas_mm2[i],
        y,
        hollow: !curve.fits_reticle[i],
        label: curve.fits_reticle[i]
          ? undefined
          : `${text(answer.areas_mm2[i], 'mm^2')}, ${text(y, '$')}, ${t('chip.tooLarge')}`,
      })),
    };
  });
  const groups = breakEvens(answer.crossovers, design === 'with' ? 'area_mm2' : 'recurring_area_mm2');
  const published = design === 'with' ? context.report.cost.device_usd : undefined;
  const lowest = Math.min(...series.flatMap(({ points }) => points.map(({ y }) => y)));
  return lines({
    id: 'die-split',
    title: t('chip.curve'),
    subtitle: t('chip.curve.sub'),
    width: context.width,
    x: { label: t('chip.total'), unit: 'mm^2' },
    y: { label: nameOf('cost.device_usd'), unit: '$', from: 0.95 * lowest },
    series,
    uprights: [
      { x: answer.reticle_mm2, text: t('chip.reticle') },
      ...groups
        .filter(({ at }) => at > AREAS.low)
        .map(({ counts, at }) => ({
          x: at,
          text: t('chip.crossing', { chiplets: counted(counts) }),
          color: counts.length === 1 ? SPLITS.find(([count]) => count === counts[0])?.[1] : undefined,
        })),
    ],
    here: ownArea && {
      x: ownArea,
      y: published,
      text: t('chip.own', { area: text(ownArea, 'mm^2') }),
      point: published && t(`chip.own.${kindOf(context)}`, { cost: text(published, '$'), count: dividedInto(context) }),
      ...areaHandle(context, die.count ?? 1),
    },
    hint: ownArea && dragNote(context),
    summary: spokenOf(groups, answer.crossovers),
    controls: row(
      pick('chip-package', t('chip.package'), packages(context), packaging, choose(context, 'package')),
      pick(
        'chip-design',
        t('chip.counts'),
        ['with', 'without'].map((value) => ({ value, name: t(`chip.counts.${value}`) })),
        design,
        choose(context, 'design'),
      ),
    ),
    columns: [
      t('chip.total'),
      ...series.map(({ name }) => name),
      ...series.map(({ name }) => `${name}: ${t('chip.tooLarge')}`),
    ],
    rows: answer.areas_mm2.map((area, i) => [
      { value: area, unit: 'mm^2' },
      ...series.map(({ points }) => ({ value: points[i].y, unit: '$' })),
      ...series.map(({ points }) => t(points[i].hollow ? 'chip.yes' : 'chip.no')),
    ]),
  });
}
