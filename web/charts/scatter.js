// Points of two figures, each one a mark that can be chosen; a line joins them where they are a front.
/** @import {Axis, Scatter} from '../types.js' */
import { svg } from '../dom.js';
import { text as format } from '../text/format.js';
import { canvas, chart } from './lib/frame.js';
import { placer } from './lib/labels.js';
import { mark, marks } from './lib/marks.js';
import { linear, log, positiveDomain, unitLogTicks, unitTicks } from './lib/scale.js';

const spread = (values) => {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const margin = (most - least || Math.abs(most) || 1) * 0.06;
  return [least >= 0 ? Math.max(0, least - margin) : least - margin, most + margin];
};

// Logarithmic where the largest value is many times the smallest: domain, scale, ticks.
const MANY = 8;
/** @returns {[number[], (value: number) => number, number[]]} */
function axis(values, range, count, unit) {
  const isLog = Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > MANY;
  const domain = isLog ? positiveDomain(values, 0.06) : spread(values);
  return [domain, (isLog ? log : linear)(domain, range), (isLog ? unitLogTicks : unitTicks)(domain, count, unit)];
}

// The mark of each series has its own shape, so that color is not the only difference.
const SHAPES = [
  (x, y, r) => svg('circle', { cx: x, cy: y, r }),
  (x, y, r) => svg('rect', { x: x - r * 0.9, y: y - r * 0.9, width: r * 1.8, height: r * 1.8 }),
  (x, y, r) =>
    svg('path', { d: `M${x} ${y - r * 1.25}L${x + r * 1.25} ${y}L${x} ${y + r * 1.25}L${x - r * 1.25} ${y}Z` }),
  (x, y, r) =>
    svg('path', { d: `M${x} ${y - r * 1.2}L${x + r * 1.15} ${y + r * 0.8}L${x - r * 1.15} ${y + r * 0.8}Z` }),
];

// A tick leaves out a unit that its axis names.
/** @type {(value: number, axis: Axis) => string} */
const tick = (value, { label, unit }) => format(value, unit === 'token/s' && label.includes('tokens/s') ? '' : unit);

// {x: {label, unit}, y: {label, unit}, points: [{x, y, label, chosen, series}], series: [{name, color}], onpoint(at)}; a front of
// one kind needs no series. `here`: where the scenario stands. A point's `name` stands beside it. `diagonal`: the name of a line where both are
// equal, in place of the front.
/** @param {Scatter} options */
export function scatter({
  id,
  title,
  subtitle,
  width,
  x: across,
  y: up,
  points,
  series,
  here,
  summary,
  onpoint,
  columns,
  rows,
  diagonal = false,
}) {
  const kinds = series ?? [{ color: 'var(--c-forward)' }];
  const height = Math.max(300, Math.min(380, width * 0.48));
  const box = { left: width > 500 ? 80 : 64, right: width - 14, top: 24, bottom: height - 44 };
  const all = here ? [...points, here] : points;
  const [xDomain, x, xTicks] = axis(
    all.map((p) => p.x),
    [box.left, box.right],
    width > 500 ? 7 : 4,
    across.unit,
  );
  const [yDomain, y, yTicks] = axis(
    all.map((p) => p.y),
    [box.bottom, box.top],
    6,
    up.unit,
  );
  const frame = [
    xTicks.map((value) => [
      svg('line', { class: 'grid', x1: x(value), x2: x(value), y1: box.top, y2: box.bottom }),
      svg('text', { 'x': x(value), 'y': box.bottom + 17, 'text-anchor': 'middle' }, tick(value, across)),
    ]),
    yTicks.map((value) => [
      svg('line', { class: 'grid', x1: box.left, x2: box.right, y1: y(value), y2: y(value) }),
      svg('text', { 'x': box.left - 8, 'y': y(value) + 4, 'text-anchor': 'end' }, tick(value, up)),
    ]),
    svg('text', { 'x': box.right, 'y': height - 8, 'text-anchor': 'end' }, across.label),
    svg('text', { x: 0, y: 10 }, up.label),
  ];
  const sorted = points
    .map((point, at) => ({ ...point, at }))
    .sort((a, b) => (a.series ?? 0) - (b.series ?? 0) || a.x - b.x);
  const ends = diagonal && [Math.max(xDomain[0], yDomain[0]), Math.min(xDomain[1], yDomain[1])];
  const equal =
    diagonal && svg('line', { class: 'hair', x1: x(ends[0]), x2: x(ends[1]), y1: y(ends[0]), y2: y(ends[1]) });
  const joined = kinds.map((_, kind) => sorted.filter((p) => (p.series ?? 0) === kind).map((p) => [x(p.x), y(p.y)]));
  const front =
    !diagonal &&
    joined.map((line, kind) =>
      svg('polyline', {
        class: 'front',
        fill: 'none',
        stroke: kinds[kind].color,
        points: line.map((at) => at.map((c) => c.toFixed(1)).join(',')).join(' '),
      }),
    );
  const labels = placer({
    box,
    lines: [
      ...joined,
      ...(ends ? [ends.map((end) => [x(end), y(end)])] : []),
      ...(here
        ? [
            [
              [x(here.x), box.top],
              [x(here.x), box.bottom],
            ],
          ]
        : []),
    ],
  });
  // The diagonal's name stands beside it, near its upper end.
  const along = (share) => [
    x(ends[1]) + share * (x(ends[0]) - x(ends[1])),
    y(ends[1]) + share * (y(ends[0]) - y(ends[1])),
  ];
  const besideLine = () =>
    [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5].map(along).flatMap(([at, base]) => [
      { 'x': at - 16, 'y': base, 'text-anchor': 'end' },
      { x: at + 16, y: base + 12 },
    ]);
  const said = diagonal && svg('text', { class: 'lab halo', ...labels.place(diagonal, besideLine()) }, diagonal);
  const beside = (p) => {
    const [at, base] = [x(p.x), y(p.y)];
    const corner = (right, down) => ({
      'x': at + right,
      'y': base + down,
      'text-anchor': right < 0 ? 'end' : right > 0 ? 'start' : 'middle',
    });
    return labels.place(p.name, [
      corner(9, -8),
      corner(9, 18),
      corner(-9, -8),
      corner(-9, 18),
      corner(0, -12),
      corner(0, 22),
      corner(12, 4),
      corner(-12, 4),
    ]);
  };
  const drawn = sorted.map((p) => {
    const kind = p.series ?? 0;
    const color = p.chosen ? 'var(--hair)' : kinds[kind].color;
    return mark(
      p.label,
      { class: 'point', stroke: color, fill: color, onclick: () => onpoint?.(p.at) },
      SHAPES[kind % SHAPES.length](x(p.x), y(p.y), p.chosen ? 7 : 4.5),
      p.name && svg('text', { class: 'lab halo', ...beside(p) }, p.name),
      svg('circle', { cx: x(p.x), cy: y(p.y), r: 12, fill: 'transparent', stroke: 'none' }),
    );
  });
  const spot = here && [
    svg('line', { class: 'hair', x1: x(here.x), x2: x(here.x), y1: box.top, y2: box.bottom }),
    svg(
      'text',
      {
        class: 'lab halo',
        ...labels.place(
          here.label,
          [12, 27, 42, 57, 72].flatMap((down) => [
            { x: x(here.x) + 7, y: box.top + down },
            { 'x': x(here.x) - 7, 'y': box.top + down, 'text-anchor': 'end' },
          ]),
        ),
      },
      here.label,
    ),
  ];
  return chart({
    id,
    title,
    subtitle,
    kind: 'scatter chart',
    summary,
    drawing: canvas(width, height, frame, equal, said, front, spot, marks(title, drawn)),
    key: series ? series.map(({ name, color }) => ({ color, text: name })) : [],
    columns,
    rows,
  });
}
