// A figure at named points, with measured values as open diamonds: dots joined by a line where the names are numbers, bars where they are not.
import { svg } from '../dom.js';
import { text as format } from '../text/format.js';
import { canvas, chart } from './lib/frame.js';
import { clip } from './lib/labels.js';
import { mark, marks } from './lib/marks.js';
import { linear, log, logTicks, positiveDomain, textWidth, unitTicks } from './lib/scale.js';
import { t } from './texts.js';

const THIN = 17; // of a bar among several
const COLORS = ['forward', 'tp', 'dp', 'kv', 'ep', 'recompute', 'optimizer'];

// {names: [text], across: what they are, series: [{name, values: [number|undefined], reasons: [text]}], measured: [{at, name, value}], level: {y, text}, unit, log}
export function categories({
  id,
  title,
  subtitle,
  width,
  unit,
  log: logarithmic,
  names,
  across: label,
  series,
  measured = [],
  level,
  summary,
  note,
}) {
  const values = [...series.flatMap((one) => one.values), ...measured.map(({ value }) => value), level?.y].filter(
    (one) => Number.isFinite(one),
  );
  const domain = logarithmic ? positiveDomain(values, 0.1) : [0, Math.max(...values) * 1.1 || 1];
  const longest = Math.max(...names.map((name) => textWidth(name)));
  // Long names lie in rows of their own and the figure runs to the right.
  const across = longest + 10 < (width - 80) / names.length;
  // Between names without an order a line would be misleading.
  const isBar = !logarithmic && !names.every((name) => /^\d/.test(name));
  const row = isBar ? Math.max(30, series.length * THIN + 12) : 30;
  const size = across ? Math.max(270, Math.min(340, width * 0.42)) : names.length * row + 34;
  const left = across ? (width > 500 ? 76 : 60) : Math.min(width * 0.46, longest + 14);
  const box = {
    left,
    right: width - (isBar && !across ? 56 : 14),
    top: isBar ? 20 : 14,
    bottom: size - (across ? (label ? 50 : 32) : 26),
  };
  const along = linear([-0.5, names.length - 0.5], across ? [box.left, box.right] : [box.top, box.bottom]);
  const up = (logarithmic ? log : linear)(domain, across ? [box.bottom, box.top] : [box.left, box.right]);
  const place = (i, value) => (across ? { x: along(i), y: up(value) } : { x: up(value), y: along(i) });
  const thick = Math.min(34, (Math.abs(along(1) - along(0)) * 0.74) / series.length);
  const count = width > 500 || across ? 6 : 3;
  const steps = logarithmic ? logTicks(domain, count, unit) : unitTicks(domain, count, unit);
  const frame = [
    steps.map((value) =>
      across
        ? [
            svg('line', { class: 'grid', x1: box.left, x2: box.right, y1: up(value), y2: up(value) }),
            svg('text', { 'x': box.left - 8, 'y': up(value) + 4, 'text-anchor': 'end' }, format(value, unit)),
          ]
        : [
            svg('line', { class: 'grid', x1: up(value), x2: up(value), y1: box.top, y2: box.bottom }),
            svg('text', { 'x': up(value), 'y': size - 6, 'text-anchor': 'middle' }, format(value, unit)),
          ],
    ),
    names.map((name, i) =>
      across
        ? svg('text', { 'class': 'lab', 'x': along(i), 'y': box.bottom + 18, 'text-anchor': 'middle' }, name)
        : svg(
            'text',
            { 'class': 'lab', 'x': box.left - 8, 'y': along(i) + 4, 'text-anchor': 'end' },
            clip(name, box.left - 10),
          ),
    ),
    label && across && svg('text', { 'x': box.right, 'y': size - 8, 'text-anchor': 'end' }, label),
  ];
  const said = (i, value, one) =>
    [`${one.name ? `${one.name}, ` : ''}${names[i]}: ${format(value, unit)}`, one.reasons?.[i]]
      .filter(Boolean)
      .join(', ');
  // Drawn next to the other series; its value is at its end if there is room.
  const bar = (i, k, value, color, one) => {
    const from = along(i) + (k - series.length / 2) * thick;
    const [zero, end] = [up(0), up(value)];
    const [rect, words] = [
      across
        ? { x: from, y: end, width: thick - 2, height: zero - end }
        : { x: zero, y: from, width: end - zero, height: thick - 2 },
      format(value, unit),
    ];
    const label = across
      ? { 'x': from + thick / 2 - 1, 'y': end - 5, 'text-anchor': 'middle' }
      : { x: end + 5, y: from + thick / 2 + 3 };
    const shown = !across || textWidth(words) < (series.length > 1 ? thick + 4 : along(1) - along(0));
    return mark(
      said(i, value, one),
      { 'data-series': k },
      svg('rect', { ...rect, rx: 2, fill: one.reasons?.[i] ? 'url(#hatch)' : color }),
      shown && svg('text', { class: 'num halo', ...label }, words),
    );
  };
  const drawn = series.map((one, k) => {
    const color = `var(--c-${COLORS[k % COLORS.length]})`;
    const known = one.values.map((value, i) => ({ value, i })).filter(({ value }) => Number.isFinite(value));
    if (isBar) return known.map(({ value, i }) => bar(i, k, value, color, one));
    const join = known.length > 1 && (across || series.length > 1);
    return [
      join &&
        svg('polyline', {
          class: 'line',
          stroke: color,
          points: known
            .map(({ value, i }) =>
              Object.values(place(i, value))
                .map((c) => c.toFixed(1))
                .join(','),
            )
            .join(' '),
        }),
      known.map(({ value, i }) => {
        const { x, y } = place(i, value);
        return mark(
          said(i, value, one),
          {
            class: one.reasons?.[i] ? 'point hollow' : 'point',
            stroke: color,
            fill: one.reasons?.[i] ? 'var(--paper)' : color,
          },
          svg('circle', { cx: x, cy: y, r: 4.5 }),
        );
      }),
    ];
  });
  const diamonds = measured
    .filter(({ value }) => Number.isFinite(value))
    .map(({ at, name, value }) => {
      const { x, y } = place(at, value);
      return mark(
        `${t('categories.measured')}, ${name}: ${format(value, unit)}`,
        { class: 'point hollow', stroke: 'var(--ink)', fill: 'none' },
        svg('path', { d: `M${x} ${y - 7}l7 7l-7 7l-7 -7z`, class: 'printed' }),
      );
    });
  const limit = level && [
    svg(
      'line',
      across
        ? { class: 'hair', x1: box.left, x2: box.right, y1: up(level.y), y2: up(level.y) }
        : { class: 'hair', x1: up(level.y), x2: up(level.y), y1: box.top, y2: box.bottom },
    ),
    svg(
      'text',
      {
        class: 'lab halo',
        ...(across
          ? { x: box.left + 6, y: up(level.y) - 6 }
          : { 'x': up(level.y) - 5, 'y': box.top + 2, 'text-anchor': 'end' }),
      },
      level.text,
    ),
  ];
  return chart({
    id,
    title,
    subtitle,
    kind: isBar ? 'bar chart' : 'dot chart',
    summary,
    note,
    drawing: canvas(width, size, frame, limit, marks(title, drawn, diamonds)),
    key: [
      ...(series.length > 1
        ? series.map(({ name }, k) => ({ color: `var(--c-${COLORS[k % COLORS.length]})`, text: name }))
        : []),
      ...(diamonds.length ? [{ color: 'transparent', text: `◇ ${t('categories.measured')}` }] : []),
    ],
    columns: [
      t('column.point'),
      ...series.map(({ name }) => name || t('column.value')),
      ...(diamonds.length ? [t('categories.measured')] : []),
    ],
    rows: names.map((name, i) => [
      name,
      ...series.map((one) => (Number.isFinite(one.values[i]) ? { value: one.values[i], unit } : '–')),
      ...(diamonds.length
        ? [
            measured
              .filter(({ at }) => at === i)
              .map(({ value }) => format(value, unit))
              .join('; '),
          ]
        : []),
    ]),
  });
}
