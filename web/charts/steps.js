// Costs that rise in steps: one line per series on logarithmic axes, those chosen in colour and the others quiet, each named at its end,
// with its last cost where there is room; a red line at the rate asked for, which can be dragged.
/** @import {Steps} from '../types.js' */
import { svg } from '../dom.js';
import { text as format } from '../text/format.js';
import { t } from './texts.js';
import { canvas, chart } from './lib/frame.js';
import { apart, logAxes, placer } from './lib/labels.js';
import { mark, marks } from './lib/marks.js';
import { log, positiveDomain, textWidth } from './lib/scale.js';

// The steps of a series as corners of a line, up to the end of the domain.
const corners = (steps, end) =>
  steps.flatMap(({ from, to, usd }, at) => {
    const until = Math.min(end, steps[at + 1]?.from ?? Math.max(to, end));
    const breaks = Math.min(to, until);
    const next = steps[at + 1];
    return [[from, usd], [breaks, usd], ...(next ? [[breaks, next.usd]] : [])];
  });

// The cost at a rate, on the line: a deployment serves up to its `to`, then the next one.
export function costAt({ steps: list }, rate) {
  if (rate < list[0].from / 1.0001) return undefined;
  return (list.find(({ to }) => rate <= to * 1.0001) ?? list.at(-1)).usd;
}

// Whether the end of a line has room for its last cost.
export const hasEndCosts = (width) => width > 560;

// {series: [{name, steps: [{from, to, usd, devices}], kind: 'best' | 'chosen' | ''}], here: rate, onrate(rate)}
/** @param {Steps} options */
export function steps({
  id,
  title,
  subtitle,
  width,
  x: across,
  y: up,
  series,
  here,
  onrate,
  summary,
  columns,
  rows,
  note,
}) {
  const wide = hasEndCosts(width);
  const GAP = 15; // px between the names of two lines
  const xs = [
    Math.min(...series.map((one) => one.steps[0].from)),
    Math.max(here * 1.02, ...series.map((one) => one.steps.at(-1).from)),
  ];
  const ys = positiveDomain(
    series.flatMap((one) => one.steps.map(({ usd }) => usd)),
    0.12,
  );
  const endText = (one) => (wide ? `${one.name} ${format(one.steps.at(-1).usd, '$')}` : one.name);
  const SIZE = 14; // of a name of capitals and digits, perhaps bold, over the mean of texts of 12 px
  const margin = Math.max(...series.map((one) => textWidth(endText(one), SIZE))) + (wide ? 32 : 24);
  const height = Math.max(wide ? 360 : 300, series.length * GAP + 72);
  const box = { left: 52, right: width - margin, top: 30, bottom: height - 42 };
  const x = log(xs, [box.left, box.right]);
  const y = log(ys, [box.bottom, box.top]);
  const frame = logAxes(
    box,
    { domain: xs, at: x, label: across.label, below: height - 4 - box.bottom },
    { domain: ys, at: y, label: up.label },
  );
  const style = { best: ['var(--ink)', 2, '5 3'], chosen: ['var(--accent)', 2.4, undefined] };
  const drawn = [...series]
    .sort((a, b) => (a.kind ? 1 : 0) - (b.kind ? 1 : 0))
    .map((one) => {
      const [stroke, size, dash] = style[one.kind] ?? ['var(--c-quiet)', 1.2];
      const points = corners(one.steps, xs[1]);
      return svg('polyline', {
        'fill': 'none',
        stroke,
        'stroke-width': size,
        'stroke-dasharray': dash,
        'points': points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(' '),
      });
    });
  const spots = series.map((one, i) => {
    const cost = costAt(one, here);
    if (cost === undefined) return null;
    return mark(
      t('steps.mark', { name: one.name, cost: format(cost, '$'), rate: format(here, '') }),
      {
        'data-series': i,
        'class': 'point',
        'fill': one.kind ? style[one.kind][0] : 'var(--c-quiet)',
        'stroke': 'var(--paper)',
      },
      svg('circle', { cx: x(here), cy: y(cost), r: one.kind ? 5.5 : 3.5 }),
    );
  });
  const ends = apart(
    series.map((one) => ({ ...one, at: y(one.steps.at(-1).usd) })),
    GAP,
    [box.top, box.bottom + 12],
  ).map((one) => [
    svg('path', {
      class: 'leader',
      d: `M${box.right + 1} ${one.at.toFixed(1)}L${box.right + 12} ${(one.placed - 4).toFixed(1)}`,
    }),
    svg(
      'text',
      {
        x: box.right + 15,
        y: one.placed,
        class: one.kind === 'chosen' ? 'lab accent' : one.kind ? 'lab strong' : undefined,
      },
      endText(one),
    ),
  ]);
  const yours = t('steps.yours', { rate: format(here, '') });
  const places = [box.bottom - 8, box.top + 10, box.top + 26, box.bottom - 24].flatMap((base) => [
    { x: x(here) + 6, y: base },
    { 'x': x(here) - 6, 'y': base, 'text-anchor': 'end' },
  ]);
  const lines = series.map((one) => corners(one.steps, xs[1]).map(([a, b]) => [x(a), y(b)]));
  const drag = draggable(here, onrate);
  const line = svg(
    'g',
    {
      'class': 'mark drag',
      'role': 'listitem',
      'tabindex': -1,
      'data-key': `${id}-line`,
      'aria-label': t('steps.rate.mark', { rate: format(here, '') }),
    },
    svg('line', { class: 'hair', x1: x(here), x2: x(here), y1: box.top, y2: box.bottom }),
    svg('rect', { x: x(here) - 12, y: box.top, width: 24, height: box.bottom - box.top, fill: 'transparent' }),
    svg('text', { class: 'lab halo', ...placer({ box, lines }).place(yours, places) }, yours),
  );
  const drawing = canvas(width, height, frame, drawn, marks(title, line, spots), ends);
  drag(drawing, line, { x, xs, box, width });
  return chart({ id, title, subtitle, kind: 'step chart', summary, drawing, columns, rows, note });
}

// The line follows the pointer; ← and → on it go a step of the rule 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8.
const LEADS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];
export function nextRate(rate, by) {
  const decade = 10 ** Math.floor(Math.log10(rate * 1.0001));
  const lead = rate / decade;
  const all = [...LEADS.map((one) => one / 10), ...LEADS, ...LEADS.map((one) => one * 10)];
  const found = by > 0 ? all.find((one) => one > lead * 1.001) : all.findLast((one) => one < lead * 0.999);
  return Number((found * decade).toPrecision(3));
}

const draggable =
  (here, onrate) =>
  (drawing, line, { x, xs, box, width }) => {
    if (!onrate) return;
    const rateAt = (event) => {
      const { left, width: shown } = drawing.getBoundingClientRect();
      const place = ((event.clientX - left) * width) / shown;
      const share = Math.min(1, Math.max(0, (place - box.left) / (box.right - box.left)));
      return Number((xs[0] * (xs[1] / xs[0]) ** share).toPrecision(2));
    };
    line.addEventListener('pointerdown', (event) => {
      line.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    line.addEventListener('pointermove', (event) => {
      if (!line.hasPointerCapture(event.pointerId)) return;
      line.setAttribute('transform', `translate(${x(rateAt(event)) - x(here)} 0)`);
    });
    line.addEventListener('pointerup', (event) => onrate(rateAt(event)));
    line.addEventListener('keydown', (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      onrate(nextRate(here, by));
    });
  };
