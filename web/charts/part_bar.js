// A stacked bar. Wide parts are named below it, the others in the key; the total is at its right end.
/** @import {PartBar} from '../types.js' */
import { svg } from '../dom.js';
import { text as format } from '../text/format.js';
import { canvas, chart } from './lib/frame.js';
import { mark, marks } from './lib/marks.js';
import { textWidth } from './lib/scale.js';
import { t } from './texts.js';

const BAR = 28;
const PART_GAP = 1.5;

// {parts: [{id, name, value, color, hatch}], onpart(id), ghost: the whole as it was before, an outline}
/** @param {PartBar} options */
export function partBar({ id, title, subtitle, width: room, unit, parts, onpart, ghost }) {
  const shown = parts.filter(({ value }) => value > 0);
  const total = shown.reduce((sum, { value }) => sum + value, 0);
  const width = ghost > total ? (room * total) / ghost : room; // of the bar, so that the outline has room
  const top = 18;
  let at = 0;
  let free = 0; // where the last label ends
  const boxes = shown.map((one) => {
    const from = (at / total) * width;
    at += one.value;
    const size = (at / total) * width - from;
    const words = format(
      unit === '$' && total >= 1 ? Math.max(0.01, Math.round(one.value * 100) / 100) : one.value,
      unit,
    ); // no fractions of a cent beside dollars
    const label = Math.max(textWidth(words), textWidth(one.name)) + 10;
    const fits = label <= size || (one === shown.at(-1) && from + label <= width && from >= free);
    if (fits) free = from + label;
    return { ...one, from, size, words, fits };
  });
  const drawn = boxes.map(({ id: part, name, value, color, hatch, from, size, words, fits }) =>
    mark(
      `${name}: ${words}, ${format(value / total, '%')}`,
      { 'data-part': part, 'onclick': onpart && (() => onpart(part)) },
      svg('rect', {
        x: from,
        y: top,
        width: Math.max(1, size - PART_GAP),
        height: BAR,
        rx: 2,
        fill: hatch ? 'url(#hatch)' : color,
        class: hatch ? 'free' : undefined,
      }),
      fits && [
        svg('path', { class: 'leader', d: `M${from + 0.5} ${top + BAR}v34` }),
        svg('text', { class: 'num', x: from + 5, y: top + BAR + 16 }, words),
        svg('text', { x: from + 5, y: top + BAR + 32 }, name),
      ],
    ),
  );
  const outline =
    ghost > 0 &&
    svg('rect', { class: 'ghost', x: 0, y: top - 2, width: (width * ghost) / total, height: BAR + 4, rx: 3 });
  const largest = shown.reduce((best, one) => (one.value > (best?.value ?? 0) ? one : best), null);
  return chart({
    id,
    title,
    subtitle,
    kind: 'stacked bar chart',
    summary:
      t('summary.bar', {
        name: largest?.name ?? '',
        share: format((largest?.value ?? 0) / total, '%'),
        total: format(total, unit),
      }) + (ghost > 0 ? ` ${t('chart.before', { value: format(ghost, unit) })}` : ''),
    drawing: canvas(
      room,
      top + BAR + 38,
      svg('text', { 'class': 'num', 'x': width, 'y': 11, 'text-anchor': 'end' }, format(total, unit)),
      marks(title, drawn),
      outline,
    ),
    key: boxes
      .filter(({ fits }) => !fits)
      .map(({ name, color, hatch, words }) => ({ color, hatch, text: `${name} ${words}` })),
    columns: [t('column.part'), { name: t('column.value'), unit }, { name: t('column.share'), unit: '%' }],
    rows: shown.map(({ name, value }) => [name, { value, unit }, { value: value / total, unit: '%' }]),
  });
}
