// Throughput against interactivity: counts of requests along a line, the scenario on it, a level of service that the region left of it misses.
import { svg } from '../dom.js';
import { text as format, whole } from '../text/format.js';
import { canvas, chart } from './lib/frame.js';
import { keptOf, onDrag } from './lib/handle.js';
import { logAxes } from './lib/labels.js';
import { mark, marks } from './lib/marks.js';
import { log, positiveDomain, textWidth } from './lib/scale.js';
import { t } from './texts.js';

const RADIUS = 4;
const BOLD = 1.15; // width of bold letters over plain ones
const overlaps = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

// Places texts near their points where no other text or point is: [{x, y, text, anchor}].
function placed(labels, taken, box) {
  const places = [];
  for (const { x, y, text, spots, ...rest } of labels) {
    const w = textWidth(text) * (rest.kind.includes('accent') ? BOLD : 1) + 4;
    const boxAt = ([dx, dy, anchor]) => ({
      x: x + dx - (anchor === 'end' ? w : anchor === 'middle' ? w / 2 : 0),
      y: y + dy - 12,
      w,
      h: 15,
    });
    const inside = (one) =>
      one.x >= box.left && one.x + one.w <= box.right + 2 && one.y >= box.top - 2 && one.y + one.h <= box.bottom;
    const spot = spots.find((one) => inside(boxAt(one)) && !taken.some((other) => overlaps(boxAt(one), other)));
    if (!spot) continue;
    taken.push(boxAt(spot));
    places.push({ ...rest, text, x: x + spot[0], y: y + spot[1], anchor: spot[2] });
  }
  return places;
}
/** @typedef {[number, number, 'start' | 'middle' | 'end']} Spot across, down, anchor */

/** @type {Spot[]} */
const AROUND = [
  [0, 18, 'middle'],
  [0, -9, 'middle'],
  [-8, 4, 'end'],
  [9, 4, 'start'],
  [-6, 18, 'end'],
  [8, -8, 'start'],
  [-8, -8, 'end'],
  [8, 20, 'start'],
  [12, 22, 'start'],
];
/** @type {(spot: Spot) => Spot} */
const further = ([across, down, anchor]) => [across, down > 0 ? down + 18 : down - 18, anchor];
/** @type {Spot[]} */
const BESIDE = [
  [10, -10, 'start'],
  [-10, 22, 'end'],
  [-10, -12, 'end'],
  [10, 22, 'start'],
  [-10, 40, 'end'],
  [10, -30, 'start'],
];

// points: [{x, y, batch, hollow}], measured: [{x, y, text, label}], here and before: {x, y, text}, level: {x, text}, last: {x, y, text},
// onbatch: {set(batch), end()} of a point that can be dragged
export function operatingCurve({
  id,
  title,
  subtitle,
  width,
  points,
  measured = [],
  here,
  before,
  level,
  last,
  onbatch,
  summary,
  columns,
  rows,
  note,
  hint,
}) {
  const all = [...points, ...measured, here, before, last].filter(Boolean);
  const kept = keptOf(id);
  const xs = kept?.xs ?? positiveDomain([...all.map((p) => p.x), level?.x].filter(Boolean), 0.06);
  const ys =
    kept?.ys ??
    positiveDomain(
      all.map((p) => p.y),
      0.12,
    );
  const height = Math.max(300, Math.min(380, width * 0.44));
  const box = { left: 52, right: width - 12, top: 30, bottom: height - 44 };
  const x = log(xs, [box.left, box.right]);
  const y = log(ys, [box.bottom, box.top]);
  const frame = logAxes(
    box,
    { domain: xs, at: x, label: t('serve.perUser.axis'), most: width > 500 ? 12 : 6, below: height - 4 - box.bottom },
    { domain: ys, at: y, label: t('serve.perDevice.axis') },
  );
  const missing = level &&
    x(level.x) > box.left && [
      svg('rect', {
        x: box.left,
        y: box.top,
        width: Math.min(box.right, x(level.x)) - box.left,
        height: box.bottom - box.top,
        fill: 'url(#hatch)',
        class: 'missed',
      }),
      svg('line', { class: 'level', x1: x(level.x), x2: x(level.x), y1: box.top, y2: box.bottom }),
    ];
  const taken = all.map((p) => ({ x: x(p.x) - 6, y: y(p.y) - 6, w: 12, h: 12 }));
  // Also off the line.
  const STEP = 5;
  points.slice(1).forEach((to, i) => {
    const from = points[i];
    const [width, height] = [x(to.x) - x(from.x), y(to.y) - y(from.y)];
    const count = Math.ceil(Math.hypot(width, height) / STEP);
    for (let n = 0; n < count; n++)
      taken.push({ x: x(from.x) + (n / count) * width - 1, y: y(from.y) + (n / count) * height - 1, w: 2, h: 2 });
  });
  if (level) taken.push({ x: x(level.x) - 2, y: box.top, w: 4, h: box.bottom - box.top });
  const labels = placed(
    [
      here && { x: x(here.x), y: y(here.y), text: here.text, spots: BESIDE, kind: 'lab accent' },
      before && { x: x(before.x), y: y(before.y), text: before.text, spots: BESIDE, kind: 'lab' },
      last && { x: x(last.x), y: y(last.y), text: last.text, spots: [...BESIDE, ...BESIDE.map(further)], kind: 'lab' },
      level && {
        x: x(level.x),
        y: box.top + 2,
        text: level.text,
        spots: [
          [6, 10, 'start'],
          [-6, 10, 'end'],
          [6, 26, 'start'],
          [-6, 26, 'end'],
        ],
        kind: 'lab',
      },
      ...points.map((p) => ({ x: x(p.x), y: y(p.y), text: whole(p.batch), spots: AROUND, kind: '' })),
      ...measured.map((p) => ({ x: x(p.x), y: y(p.y), text: p.text, spots: AROUND, kind: 'lab' })),
    ].filter(Boolean),
    taken,
    box,
  );
  const drawn = points.map((p) =>
    mark(
      `${t('serve.mark', { requests: whole(p.batch), user: format(p.x, ''), device: format(p.y, '') })}${p.hollow ? `, ${t('chart.hollow')}` : ''}`,
      {
        class: p.hollow ? 'point hollow' : 'point',
        stroke: 'var(--c-forward)',
        fill: p.hollow ? 'var(--paper)' : 'var(--c-forward)',
        onclick: () => onbatch && (onbatch.set(p.batch), onbatch.end()),
      },
      svg('circle', { cx: x(p.x), cy: y(p.y), r: RADIUS }),
    ),
  );
  const published = measured.map((p) =>
    mark(
      p.label,
      { class: 'point measured', stroke: 'var(--ink-2)', fill: 'var(--paper)' },
      svg('circle', { cx: x(p.x), cy: y(p.y), r: RADIUS }),
    ),
  );
  const diamond =
    last &&
    mark(
      last.text,
      { class: 'point', stroke: 'var(--ink)', fill: 'var(--paper)' },
      svg('path', { d: `M${x(last.x)} ${y(last.y) - 6}l6 6l-6 6l-6 -6z` }),
    );
  const you =
    here &&
    mark(
      here.text,
      {
        'class': onbatch ? 'point you drag' : 'point you',
        'data-key': onbatch && `${id}-you`,
        'stroke': 'var(--paper)',
        'fill': 'var(--accent)',
      },
      svg('circle', { cx: x(here.x), cy: y(here.y), r: 7 }),
    );
  const was = before && svg('circle', { class: 'ghost', cx: x(before.x), cy: y(before.y), r: 7 });
  if (you && onbatch) keys(you, points, here, onbatch);
  const line = svg('polyline', {
    class: 'line',
    stroke: 'var(--c-forward)',
    points: points.map((p) => `${x(p.x).toFixed(1)},${y(p.y).toFixed(1)}`).join(' '),
  });
  const drawing = canvas(
    width,
    height,
    missing,
    frame,
    line,
    was,
    marks(title, drawn, published, diamond, you),
    labels.map(({ x: left, y: base, text, anchor, kind }) =>
      svg('text', { 'class': `halo ${kind}`, 'x': left, 'y': base, 'text-anchor': anchor }, text),
    ),
  );
  if (you && onbatch)
    draggable(you, {
      id,
      kept: { xs, ys },
      places: points.map((p) => ({ batch: p.batch, at: x(p.x) })),
      here,
      onbatch,
    });
  return chart({
    id,
    title,
    subtitle,
    kind: 'line chart',
    note,
    hint,
    summary,
    drawing,
    columns,
    rows,
  });
}

// ← and → on the scenario's own point take the next smaller or larger batch of the line.
function keys(you, points, here, onbatch) {
  you.addEventListener('keydown', (event) => {
    const by = { ArrowRight: -1, ArrowLeft: 1 }[event.key];
    if (!by) return;
    const batches = points.map(({ batch }) => batch).sort((a, b) => a - b);
    const next = by > 0 ? batches.find((one) => one > here.batch) : batches.findLast((one) => one < here.batch);
    event.preventDefault();
    event.stopPropagation();
    if (!next) return;
    onbatch.set(next);
    onbatch.end();
  });
}

// The batch at a horizontal position of the line; between its points it is interpolated in equal ratios.
export function batchAt(places, at) {
  const [first, ...rest] = [...places].sort((a, b) => b.at - a.at);
  let before = first;
  for (const one of rest) {
    if (at > before.at) break;
    if (at > one.at)
      return Math.round(before.batch * (one.batch / before.batch) ** ((before.at - at) / (before.at - one.at)));
    before = one;
  }
  return before.batch;
}

// The own point follows the pointer along the line, and so do the answers.
function draggable(you, { id, kept, places, here, onbatch }) {
  let batch = here.batch;
  onDrag(you, {
    id,
    kept,
    ondrag([across]) {
      const next = batchAt(places, across);
      if (next !== batch) onbatch.set(next);
      batch = next;
    },
    onend: onbatch.end,
  });
}
