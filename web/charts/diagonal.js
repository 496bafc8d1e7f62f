// Measured against computed: points on the diagonal are exact, the band about it is 10 % off.
/** @import {Diagonal} from '../types.js' */
import { svg } from '../dom.js';
import { text } from '../text/format.js';
import { canvas, chart } from './lib/frame.js';
import { mark, marks } from './lib/marks.js';
import { log, positiveDomain, unitLogTicks } from './lib/scale.js';

const BAND = 1.1;
const MOST = 520; // px

// points: [{label, computed, measured, color?, isNear, series?}]; `here`: {value, low, high, label}, the answer whose error is asked for.
/** @param {Diagonal} options */
export function diagonal({ id, title, subtitle, width, unit, points, here, names, summary, key = [], columns, rows }) {
  const size = Math.min(width, MOST);
  const box = { left: 62, right: size - 10, top: 26, bottom: size - 44 };
  const domain = positiveDomain(
    [
      ...points.flatMap(({ measured, computed }) => [measured, computed]),
      ...(here ? [here.value, here.low, here.high] : []),
    ],
    0.06,
  );
  const x = log(domain, [box.left, box.right]);
  const y = log(domain, [box.bottom, box.top]);
  const ticks = unitLogTicks(domain, 5, unit);
  const every = Math.max(1, Math.ceil(ticks.length / (size < 400 ? 4 : 6)));
  const shown = ticks.filter((_, i) => i % every === 0);
  const clip = (value) => Math.min(Math.max(value, domain[0]), domain[1]);
  const band = [
    [domain[0], domain[0] * BAND],
    [domain[1] / BAND, domain[1]],
    [domain[1], domain[1]],
    [domain[1], domain[1] / BAND],
    [domain[0] * BAND, domain[0]],
    [domain[0], domain[0]],
  ].map(([a, b]) => `${x(clip(a))} ${y(clip(b))}`);
  const axes = shown.map((value) => [
    svg('line', { class: 'grid', x1: box.left, x2: box.right, y1: y(value), y2: y(value) }),
    svg('text', { 'x': x(value), 'y': box.bottom + 17, 'text-anchor': 'middle' }, text(value, unit)),
    svg('text', { 'x': box.left - 8, 'y': y(value) + 4, 'text-anchor': 'end' }, text(value, unit)),
  ]);
  const left = here && x(here.value) > (box.left + box.right) / 2;
  const yours = here && [
    svg('line', { class: 'hair', x1: x(here.value), x2: x(here.value), y1: box.top, y2: box.bottom }),
    svg('path', {
      class: 'hair span',
      d: `M${x(here.value) - 6} ${y(here.low)}h12M${x(here.value)} ${y(here.low)}V${y(here.high)}M${x(here.value) - 6} ${y(here.high)}h12`,
    }),
    svg(
      'text',
      {
        'class': 'lab halo',
        'x': x(here.value) + (left ? -7 : 7),
        'y': box.top + 12,
        'text-anchor': left ? 'end' : 'start',
      },
      here.label,
    ),
  ];
  const sorted = [...points].sort((a, b) => Number(a.isNear) - Number(b.isNear) || a.computed - b.computed);
  const drawn = sorted.map(({ label, computed, measured, isNear, color, series }) =>
    mark(
      label,
      { 'class': `point run-point${isNear ? ' near' : ''}`, 'data-series': series, 'stroke': color },
      svg('circle', { cx: x(computed), cy: y(measured), r: isNear ? 5.5 : 3.6 }),
      svg('circle', { class: 'reach-area', cx: x(computed), cy: y(measured), r: 12 }),
    ),
  );
  return chart({
    id,
    title,
    subtitle,
    kind: 'scatter chart',
    summary,
    drawing: canvas(
      size,
      size,
      svg('path', { class: 'band', d: `M${band.join('L')}Z` }),
      axes,
      svg('line', { class: 'exact', x1: x(domain[0]), y1: y(domain[0]), x2: x(domain[1]), y2: y(domain[1]) }),
      svg('text', { x: 0, y: 12 }, `↑ ${names.up}`),
      svg('text', { 'x': box.right, 'y': size - 6, 'text-anchor': 'end' }, `${names.across} →`),
      yours,
      marks(title, drawn),
    ),
    key,
    columns,
    rows,
  });
}
