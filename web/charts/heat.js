// A figure over two inputs: darker is more; invalid points are hatched and give the reason on focus.
/** @import {Heat} from '../types.js' */
import { svg } from '../dom.js';
import { text as format } from '../text/format.js';
import { canvas, chart } from './lib/frame.js';
import { clip } from './lib/labels.js';
import { mark, marks } from './lib/marks.js';
import { textWidth } from './lib/scale.js';
import { t } from './texts.js';

// From this share on, paper-colored text is more readable on a cell than ink, in both themes.
const DARK = 0.68;

// {x: {label, names}, y: {label, names}, cells: [{x, y, value, reason}], unit, rows}; x and y are places in names; `rows` of the
// table where it has more than the cells.
/** @param {Heat} options */
export function heat({ id, title, subtitle, width, x: across, y: up, cells, unit, summary, rows, controls }) {
  const longest = Math.max(0, ...up.names.map((name) => textWidth(name)));
  const left = Math.min(width * 0.34, longest * 1.1 + 14);
  const top = 22;
  const step = (width - left - 2) / across.names.length;
  const row = Math.max(26, Math.min(44, step));
  const height = top + row * up.names.length + 42;
  const values = cells.filter(({ value, reason }) => typeof value === 'number' && !reason).map(({ value }) => value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const shade = (value) => (most > least ? (value - least) / (most - least) : 0.5);
  const every = Math.max(1, Math.ceil((Math.max(...across.names.map((name) => textWidth(name))) + 8) / step));
  const drawn = cells.map((cell) => {
    const place = {
      x: left + cell.x * step + 1,
      y: top + cell.y * row + 1,
      width: Math.max(1, step - 2),
      height: row - 2,
    };
    const where = `${up.names[cell.y]}, ${across.names[cell.x]}`;
    const shown = typeof cell.value === 'number' ? format(cell.value, unit) : '';
    if (cell.reason)
      return mark(
        `${where}: ${cell.reason}`,
        { class: 'cell' },
        svg('rect', { ...place, fill: 'var(--surface)', stroke: 'var(--line)' }),
        svg('rect', { ...place, fill: 'url(#hatch)' }),
      );
    const share = shade(cell.value);
    return mark(
      `${where}: ${shown}`,
      { class: 'cell' },
      svg('rect', {
        ...place,
        rx: 2,
        style: { fill: `color-mix(in srgb, var(--c-forward) ${Math.round(8 + share * 92)}%, var(--surface))` },
      }),
      textWidth(shown, 11) < step - 6 &&
        svg(
          'text',
          {
            'class': 'cell-text',
            'x': place.x + place.width / 2,
            'y': place.y + place.height / 2 + 4,
            'text-anchor': 'middle',
            'style': { fill: share > DARK ? 'var(--paper)' : 'var(--ink)' },
          },
          shown,
        ),
    );
  });
  const axes = [
    up.names.map((name, i) =>
      svg(
        'text',
        { 'class': 'lab', 'x': left - 8, 'y': top + i * row + row / 2 + 4, 'text-anchor': 'end' },
        clip(name, left - 10),
      ),
    ),
    across.names.map((name, i) =>
      i % every === 0
        ? svg(
            'text',
            {
              'class': 'lab',
              'x': left + (i + 0.5) * step,
              'y': top + row * up.names.length + 16,
              'text-anchor': 'middle',
            },
            name,
          )
        : null,
    ),
    svg('text', { x: 0, y: 12 }, up.label),
    svg('text', { 'x': width - 2, 'y': height - 6, 'text-anchor': 'end' }, across.label),
  ];
  const steps = values.length ? [least, most] : [];
  return chart({
    id,
    title,
    subtitle,
    kind: 'heat map',
    summary,
    controls,
    drawing: canvas(width, height, axes, marks(title, drawn)),
    key: [
      ...steps.map((value, i) => ({
        color: `color-mix(in srgb, var(--c-forward) ${i ? 100 : 8}%, var(--surface))`,
        text: `${t(i ? 'heat.high' : 'explore.low')}: ${format(value, unit)}`,
      })),
      ...(cells.some(({ reason }) => reason) ? [{ hatch: true, text: t('heat.hatched') }] : []),
    ],
    columns: [up.label, across.label, t('column.value'), t('heat.reason')],
    rows:
      rows ??
      cells.map((cell) => [
        up.names[cell.y],
        across.names[cell.x],
        typeof cell.value === 'number' ? { value: cell.value, unit } : '',
        cell.reason ?? '',
      ]),
  });
}
