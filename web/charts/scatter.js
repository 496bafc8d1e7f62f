// Points of two figures, each one a mark that can be chosen; a line joins them where they are a front.
import { svg } from '../dom.js';
import { text as format } from '../text/format.js';
import { canvas, chart } from './lib/frame.js';
import { mark, marks } from './lib/marks.js';
import { linear, unitTicks } from './lib/scale.js';

const spread = (values) => {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const margin = (most - least || Math.abs(most) || 1) * 0.06;
  return [least >= 0 ? Math.max(0, least - margin) : least - margin, most + margin];
};

// {x: {label, unit}, y: {label, unit}, points: [{x, y, label, chosen}], onpoint(at)}
export function scatter({ id, title, subtitle, width, x: across, y: up, points, summary, onpoint, columns, rows }) {
  const height = Math.max(290, Math.min(360, width * 0.46));
  const box = { left: width > 500 ? 80 : 64, right: width - 14, top: 24, bottom: height - 44 };
  const xs = spread(points.map((p) => p.x));
  const ys = spread(points.map((p) => p.y));
  const x = linear(xs, [box.left, box.right]);
  const y = linear(ys, [box.bottom, box.top]);
  const frame = [
    unitTicks(xs, width > 500 ? 7 : 3, across.unit).map((value) => [
      svg('line', { class: 'grid', x1: x(value), x2: x(value), y1: box.top, y2: box.bottom }),
      svg('text', { x: x(value), y: box.bottom + 17, 'text-anchor': 'middle' }, format(value, across.unit)),
    ]),
    unitTicks(ys, 6, up.unit).map((value) => [
      svg('line', { class: 'grid', x1: box.left, x2: box.right, y1: y(value), y2: y(value) }),
      svg('text', { x: box.left - 8, y: y(value) + 4, 'text-anchor': 'end' }, format(value, up.unit)),
    ]),
    svg('text', { x: box.right, y: height - 8, 'text-anchor': 'end' }, across.label),
    svg('text', { x: 0, y: 10 }, up.label),
  ];
  const sorted = points.map((point, at) => ({ ...point, at })).sort((a, b) => a.x - b.x);
  const line = svg('polyline', {
    class: 'level',
    fill: 'none',
    points: sorted.map((p) => `${x(p.x).toFixed(1)},${y(p.y).toFixed(1)}`).join(' '),
  });
  const drawn = sorted.map((p) =>
    mark(
      p.label,
      { class: 'point', stroke: p.chosen ? 'var(--hair)' : 'var(--c-forward)', fill: p.chosen ? 'var(--hair)' : 'var(--c-forward)', onclick: () => onpoint(p.at) },
      svg('circle', { cx: x(p.x), cy: y(p.y), r: p.chosen ? 7 : 5 }),
      svg('circle', { cx: x(p.x), cy: y(p.y), r: 12, fill: 'transparent', stroke: 'none' }),
    ),
  );
  return chart({
    id,
    title,
    subtitle,
    kind: 'scatter chart',
    summary,
    drawing: canvas(width, height, frame, line, marks(title, drawn)),
    columns,
    rows,
  });
}
