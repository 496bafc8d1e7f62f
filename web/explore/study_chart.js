// A study's chart in the form of the paper's figure: dots, stacked bars, a figure over another or over its measured
// value; and its tables.
import { stackedBars } from '../charts/bars.js';
import { categories } from '../charts/categories.js';
import { memoryParts, timeParts } from '../charts/parts.js';
import { scatter } from '../charts/scatter.js';
import { tableByRows } from '../charts/lib/by_rows.js';
import { columnHeads, h, scrolled } from '../dom.js';
import { nameOf } from '../report/names.js';
import { number, text } from '../text/format.js';
import { boundSummary, withBoundParts } from './by_bound.js';
import { nameOfFigure, shown, unit } from './study_checks.js';
import { t } from './texts.js';

const BOUNDS = 'training.time_by_bound';
const MOST_COLUMNS = 4; // of figures in a table; with more each point is a card
const SERIES = ['var(--c-forward)', 'var(--c-tp)', 'var(--c-dp)'];

// An infeasible point still has figures, and `reason` says why it is infeasible ("Out of memory: 108 of 79.2 GiB").
const misfits = (point) =>
  Object.entries(point?.figures ?? {}).some(([path, value]) => path.endsWith('.feasible') && value === false);
const misfit = ({ reason }) => reason || t('explore.study.misfit');
const reasonOf = (point) => point?.issues[0]?.message ?? (misfits(point) ? misfit(point) : undefined);

// The infeasible points by reason: "Out of memory: A; B. Overloaded: C."
function outsideWords(points) {
  const labels = new Map();
  for (const point of points.filter(misfits)) {
    const [reason] = misfit(point).split(': ');
    labels.set(reason, [...(labels.get(reason) ?? []), point.label]);
  }
  return [...labels].map(([reason, list]) => t('explore.study.outside', { reason, list: list.join('; ') })).join(' ');
}

// The first part of a label is the position, the rest the series.
const placeOf = (chart, label) => (chart.series ? label.split(', ')[0] : label);
const seriesOf = (chart, label) => (chart.series ? label.split(', ').slice(1).join(', ') : '');

// A study with another chart can also be drawn by bound if it reports a time so.
export const hasBounds = ({ chart, report }) =>
  chart && !chart.stack?.includes('time_by_bound') && report.includes(`${BOUNDS}.compute`);
export const boundChart = ({ chart: { figure } }, points, width, controls) =>
  stack({ figure, stack: BOUNDS }, { id: 'study-chart', title: nameOf(BOUNDS), width, unit: 's', controls }, points);

// The chart of the answered points; `whole`: the study with its checks, once all are answered.
export function studyChart(study, points, whole, width, controls) {
  const { chart } = study;
  const common = {
    id: 'study-chart',
    title: chart.title ?? nameOfFigure(chart.figure),
    width,
    unit: unit(chart.figure),
    controls,
  };
  if (chart.stack) return stack(chart, common, points);
  if (chart.against === 'measured') return measuredScatter(chart, common, points, whole);
  if (chart.against) return tradeOff(chart, common, points);
  return dots(chart, common, points);
}

function dots(chart, common, points) {
  const value = (point) => point?.figures[chart.figure];
  const over = chart.over ? value(points.find(({ label }) => label === chart.over)) : 1;
  const scaled = (point) => (typeof value(point) === 'number' && over ? value(point) / over : undefined);
  const of = chart.over ? '' : common.unit;
  const spoken = points.filter((point) => scaled(point) !== undefined).sort((a, b) => scaled(a) - scaled(b));
  const summary = spoken.length
    ? t('explore.lines.summary', {
        least: text(scaled(spoken[0]), of),
        leastAt: spoken[0].label,
        most: text(scaled(spoken.at(-1)), of),
        mostAt: spoken.at(-1).label,
      })
    : '';
  const names = [...new Set(points.map(({ label }) => placeOf(chart, label)))];
  const series = [...new Set(points.map(({ label }) => seriesOf(chart, label)))].map((name) => {
    const found = names.map((place) =>
      points.find(({ label }) => placeOf(chart, label) === place && seriesOf(chart, label) === name),
    );
    return {
      name,
      values: found.map((point) => point && scaled(point)),
      reasons: found.map((point) => point && reasonOf(point)),
    };
  });
  const measured = points
    .filter((point) => point.measured?.[chart.figure] !== undefined)
    .map((point) => ({
      at: names.indexOf(placeOf(chart, point.label)),
      name: point.label,
      value: point.measured[chart.figure],
    }));
  const note = points.some(misfits) ? `${t('explore.hollow')}.` : undefined;
  const level = chart.level ? { y: chart.level, text: chart.level_text } : undefined;
  const subtitle = chart.over ? t('explore.study.over', { label: chart.over }) : undefined;
  return categories({
    ...common,
    subtitle,
    unit: of,
    log: chart.log,
    names: names.map((name) => name.replaceAll('_', ' ')),
    across: chart.across,
    series,
    measured,
    level,
    summary,
    note,
  });
}

// Parts of a time joined under fewer names.
const GROUP_COLORS = ['forward', 'tp', 'workspace'];
const grouped = (groups) => (parts) =>
  Object.entries(groups).map(([id, members], i) => ({
    id,
    name: t(`explore.study.group.${id}`),
    value: members.reduce((sum, member) => sum + (parts[member] ?? 0), 0),
    color: `var(--c-${GROUP_COLORS[i]})`,
  }));

const isByBound = ({ stack: path, groups }) => !groups && path.includes('time_by_bound');

function partsOf(chart) {
  if (chart.groups) return grouped(chart.groups);
  if (chart.stack.endsWith('time_s')) return timeParts;
  return (memory) => memoryParts(memory).filter(({ id }) => id !== 'free');
}

// The communication of a time by bound on each network level, as far as the study reports it.
function levelsOf(chart, figures) {
  const path = (i, member) => `${chart.stack.replace('time_by_bound', 'network_by_level')}.${i}.${member}`;
  const levels = [];
  while (typeof figures[path(levels.length, 'time_s')] === 'number') {
    levels.push({ level: figures[path(levels.length, 'level')], time_s: figures[path(levels.length, 'time_s')] });
  }
  return levels;
}

// Each point's memory, or its time by component or bound: absolute, per another figure, relative to a point, or as
// shares.
function stack(chart, common, points) {
  const prefix = `${chart.stack}.`;
  const known = points.filter(({ figures }) =>
    Object.keys(figures).some((path) => path.startsWith(prefix) && typeof figures[path] === 'number'),
  );
  const held = ({ figures }) =>
    Object.fromEntries(
      Object.entries(figures)
        .filter(([path]) => path.startsWith(prefix))
        .map(([path, one]) => [path.slice(prefix.length), one]),
    );
  const whole = isByBound(chart)
    ? withBoundParts(
        known.map((point) => ({ label: point.label, times: held(point), levels: levelsOf(chart, point.figures) })),
      )
    : known.map((point) => ({ label: point.label, parts: partsOf(chart)(held(point)) }));
  // A gap between bars if both position and series change.
  const places = known.map(({ label }) => label.split(/, | \/ /));
  const hasSeries = places.every(({ length }) => length > 1);
  const apart = (i) =>
    hasSeries &&
    i > 0 &&
    places[i][0] !== places[i - 1][0] &&
    places[i].slice(1).join() !== places[i - 1].slice(1).join();
  const rows = whole.map(({ label, parts }, i) => ({
    label,
    apart: apart(i),
    parts: parts.map((one) => ({ ...one, value: one.value / (chart.per ? known[i].figures[chart.per] : 1) })),
  }));
  const total = (row) => row?.parts.reduce((sum, { value }) => sum + value, 0);
  const base = total(rows.find(({ label }) => label === chart.over));
  if (chart.over && !base) return null;
  const scaled = rows.map((row) => {
    const by = chart.share ? total(row) || 1 : (base ?? 1);
    return { ...row, parts: row.parts.map((one) => ({ ...one, value: one.value / by })) };
  });
  const words =
    (chart.over && t(chart.per ? 'explore.study.perWork' : 'explore.study.over', { label: chart.over })) ||
    (chart.share && t('explore.study.share'));
  return stackedBars({
    ...common,
    subtitle: words || undefined,
    unit: chart.over ? '' : chart.share ? '%' : common.unit,
    names: [t('column.point')],
    rows: scaled,
    summary: isByBound(chart) ? boundSummary(rows, common.unit) : chart.share ? '' : undefined,
    axis: true,
    limit: chart.level ? { value: chart.level, text: chart.level_text } : undefined,
    note: outsideWords(points) || undefined,
  });
}

// Predicted over measured: on the diagonal both are equal.
function measuredScatter(chart, common, points, whole) {
  const known = points.filter(
    ({ figures, measured }) => typeof figures[chart.figure] === 'number' && measured?.[chart.figure],
  );
  if (known.length < 2) return null;
  const at = whole?.expect.findIndex(({ matches }) => matches === chart.figure) ?? -1;
  const found = at < 0 ? null : whole.expectations[at].found;
  const agreement =
    found &&
    t('explore.study.agreement', {
      error: text(found.mean_error, '%'),
      correlation: found.correlation.toFixed(4),
      count: known.length,
    });
  const one = ({ figures, measured }) => ({ x: measured[chart.figure], y: figures[chart.figure] });
  const measuredWords = ({ x, y }) =>
    `${t('categories.measured')} ${text(x, common.unit)}, ${t('explore.study.predicted')} ${text(y, common.unit)}`;
  return scatter({
    ...common,
    summary: agreement ?? '',
    diagonal: t('explore.study.equal'),
    x: { label: t('categories.measured'), unit: common.unit },
    y: { label: t('explore.study.predicted'), unit: common.unit },
    points: known.map((point) => ({ ...one(point), label: `${point.label}: ${measuredWords(one(point))}` })),
    columns: [t('column.point'), t('categories.measured'), t('explore.study.predicted')],
    rows: known.map((point) => [
      point.label,
      { value: one(point).x, unit: common.unit },
      { value: one(point).y, unit: common.unit },
    ]),
  });
}

// One figure over another, each series a line through its points.
function tradeOff(chart, common, points) {
  const known = points.filter(
    ({ figures }) => typeof figures[chart.figure] === 'number' && typeof figures[chart.against] === 'number',
  );
  if (known.length < 2) return null;
  const names = [...new Set(known.map(({ label }) => seriesOf(chart, label)))];
  const across = unit(chart.against);
  const one = ({ figures }) => ({ x: figures[chart.against], y: figures[chart.figure] });
  const least = known.reduce((best, point) => (one(point).y < one(best).y ? point : best));
  return scatter({
    ...common,
    summary: t('explore.study.least', { label: least.label, value: text(one(least).y, common.unit) }),
    x: { label: nameOfFigure(chart.against), unit: across },
    y: { label: nameOfFigure(chart.figure), unit: common.unit },
    points: known.map((point) => ({
      ...one(point),
      name: placeOf(chart, point.label),
      label: `${point.label}: ${text(one(point).x, across)}, ${text(one(point).y, common.unit)}`,
      series: names.indexOf(seriesOf(chart, point.label)),
    })),
    series: names.map((name, i) => ({ name, color: SERIES[i % SERIES.length] })),
    columns: [t('column.point'), nameOfFigure(chart.against), nameOfFigure(chart.figure)],
    rows: known.map((point) => [
      point.label,
      { value: one(point).x, unit: across },
      { value: one(point).y, unit: common.unit },
    ]),
  });
}

// The figure at some points over that at others, as a table of assumptions.
export function ratiosTable({ ratios }, points) {
  if (!ratios) return '';
  const value = (label) => points.find((point) => point?.label === label)?.figures[ratios.figure];
  const ratio = (of, over) => (value(of) && value(over) ? number(value(of) / value(over)) : '–');
  return tableByRows(
    t('explore.study.ratios', { figure: nameOfFigure(ratios.figure) }),
    [t('explore.study.ratios.corner'), ...ratios.of],
    ratios.over.map((over) => [over, ...ratios.of.map((of) => ratio(of, over))]),
    'ratios',
  );
}

// Every operator's FLOP per byte of memory, and at each point its time and what bounds it; the ridge of a point heads its column.
export function operatorsTable({ operators: asked }, points) {
  const known = asked ? points.filter((point) => Array.isArray(point?.figures[asked.at])) : [];
  if (!known.length) return '';
  const list = ({ figures }) => figures[asked.at].filter(({ flops, bytes }) => flops > 0 && bytes > 0);
  const ridge = ({ figures }) => figures[asked.peak] / figures[asked.bandwidth];
  const cell = (point, name) => {
    const one = list(point).find((other) => other.name === name);
    return one ? [t(`bound.short.${one.bound}`), h('br'), text(one.time_s, 's')] : '–';
  };
  return tableByRows(
    t('explore.study.operators'),
    [
      t('operators.operator'),
      t('explore.study.intensity'),
      ...known.map((point) => t('explore.study.ridge', { label: point.label, ridge: number(ridge(point)) })),
    ],
    list(known[0]).map(({ name, flops, bytes }) => [
      name,
      number(flops / bytes),
      ...known.map((point) => cell(point, name)),
    ]),
    'ratios',
  );
}

// The figures of all points.
export function pointsTable(study, answered) {
  const points = answered.filter(Boolean);
  if (!points.length) return '';
  const paths = study.report.filter((path) =>
    points.some(({ figures }) => !Array.isArray(figures[path]) && figures[path] !== null),
  );
  return h(
    'details',
    { 'class': 'ex-box', 'data-key': 'study-points' },
    h('summary', {}, t('explore.study.points')),
    scrolled(
      t('explore.study.points'),
      h(
        'table',
        { class: paths.length > MOST_COLUMNS ? 'ex-points' : 'plain by-rows' },
        columnHeads([t('column.point'), ...paths.map(nameOfFigure), t('heat.reason')]),
        h(
          'tbody',
          {},
          points.map(({ label, figures, issues, reason }) =>
            h(
              'tr',
              {},
              h('th', { scope: 'row' }, label),
              paths.map((path) => h('td', { 'data-name': nameOfFigure(path) }, shown(figures[path], path))),
              h(
                'td',
                { 'class': issues.length || reason ? undefined : 'none', 'data-name': t('heat.reason') },
                issues.length ? issues.map(({ message }) => message).join('; ') : reason,
              ),
            ),
          ),
        ),
      ),
    ),
  );
}
