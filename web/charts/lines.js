// Lines over a logarithmic or linear axis, with marks at the points, level lines, and a spot where the scenario stands.
/** @import {Lines} from '../types.js' */
import { svg } from '../dom.js';
import { text as format } from '../text/format.js';
import { canvas, chart } from './lib/frame.js';
import { handle, keptOf, stepped, valueAt } from './lib/handle.js';
import { placer } from './lib/labels.js';
import { mark, marks } from './lib/marks.js';
import { linear, log, positiveDomain, unitLogTicks, unitTicks } from './lib/scale.js';
import { t } from './texts.js';

const DASHED = '1.5px dashed var(--ink-2)'; // how the key shows a level

// The line at the scenario's value, a handle on a linear axis.
const lineHandle = ({ id, here, across, xs, ys, box, at }) =>
  handle(
    {
      id,
      label: here.name,
      text: format(here.x, across.unit),
      value: [xs[0], here.x, xs[1]],
      kept: { xs, ys },
      ondrag: ([left], [from]) => here.onx.set(valueAt(xs, [box.left, box.right], at + left - from)),
      onkey: ([right, higher]) => here.onx.set(stepped(here.x, right + higher)),
      onend: here.onx.end,
    },
    svg('line', { class: 'hair', x1: at, x2: at, y1: box.top, y2: box.bottom }),
    svg('rect', { x: at - 12, y: box.top, width: 24, height: box.bottom - box.top, fill: 'transparent' }),
    svg('circle', { class: 'knob', cx: at, cy: box.bottom, r: 5 }),
  );

// {x: {label, unit, log}, y: {label, unit, log}, series: [{name, color, points: [{x, y, label, hollow}]}], levels: [{y, text}],
// uprights: [{x, text, color}], here: {x, y, text, point: the name of a mark at y, name, onx: {set(x), end()} where it can be dragged}}
/** @param {Lines} options */
export function lines({
  id,
  title,
  subtitle,
  width,
  x: across,
  y: up,
  series,
  levels = [],
  uprights = [],
  here,
  summary,
  columns,
  rows,
  height: wanted,
  controls,
  note,
  hint,
}) {
  const points = series.flatMap((one) => one.points);
  const kept = keptOf(id);
  const xs =
    kept?.xs ??
    (across.log
      ? positiveDomain(
          points.map((p) => p.x),
          0.03,
        )
      : [0, Math.max(...points.map((p) => p.x)) * 1.04]);
  const ys =
    kept?.ys ??
    (up.log
      ? positiveDomain([...points.map((p) => p.y), ...levels.map((one) => one.y)], 0.12)
      : [up.from ?? 0, Math.max(...points.map((p) => p.y), ...levels.map((one) => one.y), here?.y ?? 0) * 1.08]);
  const height = wanted ?? Math.max(290, Math.min(360, width * 0.46));
  const box = { left: width > 500 ? 76 : 60, right: width - 12, top: 14, bottom: height - 44 };
  const x = (across.log ? log : linear)(xs, [box.left, box.right]);
  const y = (up.log ? log : linear)(ys, [box.bottom, box.top]);
  const at = (domain, axis, count) =>
    axis.log ? unitLogTicks(domain, count, axis.unit) : unitTicks(domain, count, axis.unit);
  const frame = [
    at(xs, across, Math.max(3, Math.min(8, Math.floor(width / 90)))).map((value) => [
      svg('line', { class: 'grid', x1: x(value), x2: x(value), y1: box.top, y2: box.bottom }),
      svg('text', { 'x': x(value), 'y': box.bottom + 17, 'text-anchor': 'middle' }, format(value, across.unit)),
    ]),
    at(ys, up, 6).map((value) => [
      svg('line', { class: 'grid', x1: box.left, x2: box.right, y1: y(value), y2: y(value) }),
      svg('text', { 'x': box.left - 8, 'y': y(value) + 4, 'text-anchor': 'end' }, format(value, up.unit)),
    ]),
    svg('text', { 'x': box.right, 'y': height - 8, 'text-anchor': 'end' }, across.label),
  ];
  const shownUprights = uprights.filter((one) => one.x >= xs[0] && one.x <= xs[1]);
  const isHere = here && here.x >= xs[0] && here.x <= xs[1];
  const labels = placer({
    box,
    lines: [
      ...series.map((one) => one.points.map((p) => [x(p.x), y(p.y)])),
      ...levels.map((one) => [
        [box.left, y(one.y)],
        [box.right, y(one.y)],
      ]),
      ...[...shownUprights, ...(isHere ? [here] : [])].map((one) => [
        [x(one.x), box.top],
        [x(one.x), box.bottom],
      ]),
    ],
  });
  const words = (text, places) => svg('text', { class: 'lab halo', ...labels.place(text, places) }, text);
  // Names that would lie on a line everywhere are in the key; lines that look the same share an entry there.
  const keyed = [];
  const wordsOrKey = (text, places, entry) => {
    const at = labels.clear(text, places);
    const alike = keyed.find((one) => one.line === entry.line);
    if (!at && alike) alike.text += `, ${text}`;
    else if (!at) keyed.push({ ...entry, text });
    return at && svg('text', { class: 'lab halo', ...at }, text);
  };
  const sides = (at, base) => [
    { x: at + 8, y: base },
    { 'x': at - 8, 'y': base, 'text-anchor': 'end' },
  ];
  const edge = (_, base) => [{ 'x': box.right, 'y': base, 'text-anchor': 'end' }];
  // The name of the spot is placed first, because it has the fewest possible positions: beside it, above or below.
  const spotWords =
    isHere &&
    here.point &&
    words(
      here.point,
      [-8, 16, -24, 32].flatMap((down) => [
        ...sides(x(here.x), y(here.y) + down),
        ...edge(x(here.x), y(here.y) + down),
        { x: box.left + 4, y: y(here.y) + down },
      ]),
    );
  const steps = (from, to, by) =>
    Array.from(
      { length: Math.max(1, Math.floor(Math.abs(to - from) / by)) },
      (_, i) => from + Math.sign(to - from) * by * i,
    );
  const hereWords =
    isHere &&
    here.text &&
    words(
      here.text,
      [sides, edge].flatMap((places) => steps(box.bottom - 7, box.top, 15).flatMap((base) => places(x(here.x), base))),
    );
  const upright = shownUprights.map((one) =>
    svg('line', {
      class: 'level',
      x1: x(one.x),
      x2: x(one.x),
      y1: box.top,
      y2: box.bottom,
      style: one.color && { stroke: one.color },
    }),
  );
  const level = levels.map((one) =>
    svg('line', { class: one.hair ? 'hair' : 'level', x1: box.left, x2: box.right, y1: y(one.y), y2: y(one.y) }),
  );
  const names = [
    shownUprights.map(
      (one) =>
        one.text &&
        wordsOrKey(
          one.text,
          steps(box.top + 10, box.bottom, 15).flatMap((base) => sides(x(one.x), base)),
          { line: one.color ? `1.5px dashed ${one.color}` : DASHED },
        ),
    ),
    levels.map((one) =>
      wordsOrKey(
        one.text,
        steps(box.left + 6, box.right, 24).flatMap((at) => [
          { x: at, y: y(one.y) - 7 },
          { x: at, y: y(one.y) + 18 },
        ]),
        { line: one.hair ? '2px solid var(--hair)' : DASHED },
      ),
    ),
  ];
  const drawn = series.map((one, i) => [
    svg('polyline', {
      class: 'line',
      stroke: one.color,
      points: one.points.map((p) => `${x(p.x).toFixed(1)},${y(p.y).toFixed(1)}`).join(' '),
    }),
    one.points.map((p) =>
      mark(
        `${one.name}: ${p.label ?? `${format(p.x, across.unit)}, ${format(p.y, up.unit)}`}${p.hollow ? `, ${p.why ?? t('chart.hollow')}` : ''}`,
        {
          'data-series': i,
          'class': p.hollow ? 'point hollow' : 'point',
          'stroke': one.color,
          'fill': p.hollow ? 'var(--paper)' : one.color,
        },
        svg('circle', { cx: x(p.x), cy: y(p.y), r: 4 }),
      ),
    ),
  ]);
  const spot =
    isHere &&
    svg(
      'g',
      {},
      !here.onx && svg('line', { class: 'hair', x1: x(here.x), x2: x(here.x), y1: box.top, y2: box.bottom }),
      hereWords,
      here.point && [
        svg('circle', { class: 'you', cx: x(here.x), cy: y(here.y), r: 5, fill: 'var(--accent)' }),
        spotWords,
      ],
    );
  const held = spot && here.onx && lineHandle({ id, here, across, xs, ys, box, at: x(here.x) });
  // The ends of the series that is drawn on top.
  const top = series.at(-1);
  const first = top?.points[0];
  const last = top?.points.at(-1);
  return chart({
    id,
    title,
    subtitle,
    kind: 'line chart',
    controls,
    note,
    hint,
    summary:
      summary ??
      (first
        ? t(series.length > 1 ? 'summary.lines.named' : 'summary.lines', {
            name: top.name.slice(0, 1).toUpperCase() + top.name.slice(1),
            from: format(first.y, up.unit),
            x0: `${format(first.x, across.unit)} ${across.label}`,
            to: format(last.y, up.unit),
            x1: format(last.x, across.unit),
          })
        : ''),
    drawing: canvas(width, height, frame, upright, marks(title, drawn), held, spot, level, names),
    key: [...(series.length > 1 ? series : []).map(({ name, color }) => ({ color, text: name })), ...keyed],
    columns: columns ?? [across.label, ...series.map(({ name }) => name)],
    rows:
      rows ??
      series[0].points.map((p, i) => [
        { value: p.x, unit: across.unit },
        ...series.map((one) => (one.points[i] ? { value: one.points[i].y, unit: up.unit } : '')),
      ]),
  });
}
