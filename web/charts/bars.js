// Stacked bars: one or more rows of parts on one scale, with an optional limit such as the memory's capacity.
/** @import {Bars} from '../types.js' */
import { svg } from '../dom.js';
import { text as format } from '../text/format.js';
import { canvas, chart } from './lib/frame.js';
import { clip } from './lib/labels.js';
import { mark, marks } from './lib/marks.js';
import { linear, textWidth, unitTicks } from './lib/scale.js';
import { t } from './texts.js';

const BAR = 34;
const GAP = 8;
// With many bars each one is thin.
const MANY = 8;
const THIN = 20;
const GROUP_GAP = 12;

// {id, title, subtitle, width, unit, rows: [{label, parts: [{id, name, value, color, hatch}], ghost, words, about, cells, apart}], every, names, limit,
// note, axis, summary}; ghost: how long the bar was before, as an outline; words: in place of a bar; about: said with its parts; cells: more
// columns of the row in the table, whose `names` are [the rows', …theirs]; apart: a gap before it;
// every: draws one in so many rows.
/** @param {Bars} options */
export function stackedBars({
  id,
  title,
  subtitle,
  width,
  unit,
  rows: all,
  every = 1,
  names = [t('column.stage')],
  limit,
  note,
  axis = false,
  onpart,
  controls,
  summary: said,
}) {
  const rows = all.filter((_, i) => i % every === 0);
  const totals = rows.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0));
  // What is free is drawn, but is no part of what a bar says.
  const filled = rows.map(({ parts }) =>
    parts.reduce((sum, { id: part, value }) => sum + (part === 'free' ? 0 : value), 0),
  );
  const most = Math.max(...totals, ...rows.map(({ ghost = 0 }) => ghost), limit?.value ?? 0) || 1;
  const labels = rows.some(({ label }) => label);
  const longest = 12 + Math.max(...rows.map(({ label }) => textWidth(label ?? '')));
  // Labels that would take too much of the width are above their bars.
  const above = labels && longest > width * 0.42 ? 18 : 0;
  const left = labels && !above ? longest : 0;
  const bar = rows.length > MANY ? THIN : BAR;
  // With several bars, each has its total at its end.
  const says = rows.length > 1 && axis && unit !== '%';
  const right = Math.max(
    limit ? 8 : 0,
    says ? 8 + 1.1 * Math.max(...filled.map((total) => textWidth(format(total, unit)))) : 0,
  );
  const top = limit ? 18 : 2;
  const x = linear([0, most], [left, width - right]);
  const step = above + bar + (rows.length > 1 ? GAP : 22);
  const gaps = rows.map((_, i) => GROUP_GAP * rows.slice(1, i + 1).filter(({ apart }) => apart).length);
  const yOf = (i) => top + i * step + gaps[i];
  const bottom = yOf(rows.length - 1) + step;
  const height = bottom + (axis ? 22 : 0);
  // The start of the text at the end of a bar: beyond the limit's line if it would lie on it.
  const afterBar = (value, words) => {
    const [from, line] = [x(value) + 5, limit ? x(limit.value) : -Infinity];
    return from < line + 3 && from + 1.1 * textWidth(words) > line - 3 ? line + 5 : from;
  };
  const lines = rows.map(({ label, parts, words: instead, about, ghost = 0 }, i) => {
    const y = yOf(i) + above;
    let at = 0;
    const boxes = parts
      .filter(({ value }) => value > 0)
      .map(({ id: part, name, value, color, hatch }) => {
        const from = x(at);
        at += value;
        const size = x(at) - from;
        const words = `${label ? `${label}, ` : ''}${name}, ${format(value, unit)}, ${format(value / totals[i], '%')}${about ? `, ${about}` : ''}`;
        const inside = rows.length === 1 && size > textWidth(format(value, unit)) + 6;
        return mark(
          words,
          { 'data-part': part, 'data-series': i, 'onclick': onpart && (() => onpart(part)) },
          svg('rect', {
            x: from,
            y,
            width: Math.max(1, size - 1.5),
            height: bar,
            rx: 2,
            fill: hatch ? 'url(#hatch)' : color,
            class: hatch ? 'free' : undefined,
          }),
          inside &&
            svg(
              'text',
              { 'class': 'num', 'x': from + size / 2, 'y': y + bar + 17, 'text-anchor': 'middle' },
              format(value, unit),
            ),
        );
      });
    const name = label && svg('text', { class: 'lab halo', x: 0, y: above ? y - 5 : y + bar / 2 + 4 }, label);
    const empty = instead && svg('text', { x: left, y: y + bar / 2 + 4 }, clip(instead, width - left));
    const length = format(filled[i], unit);
    const total =
      says &&
      filled[i] > 0 &&
      svg('text', { class: 'num halo', x: afterBar(Math.max(totals[i], ghost), length), y: y + bar / 2 + 4 }, length);
    return { boxes, texts: [name, empty, total] };
  });
  const outline = (ghost, i) =>
    svg('rect', { class: 'ghost', x: left, y: yOf(i) + above - 2, width: x(ghost) - left, height: bar + 4, rx: 3 });
  const ghosts = rows.map(({ ghost }, i) => ghost > 0 && outline(ghost, i));
  const limitLine = limit && [
    svg('line', {
      class: 'hair',
      x1: x(limit.value),
      x2: x(limit.value),
      y1: top - 4,
      y2: bottom - (rows.length > 1 ? GAP - 4 : 18),
    }),
    svg(
      'text',
      { 'class': 'lab', 'x': x(limit.value), 'y': 12, 'text-anchor': x(limit.value) > width - 110 ? 'end' : 'middle' },
      limit.text,
    ),
  ];
  // Labels need room for themselves and a gap.
  const roomFor = Math.max(2, Math.floor((width - left - right) / (textWidth(format(most, unit)) + 24)));
  const scaleLine =
    axis &&
    unitTicks([0, most], Math.min(8, roomFor), unit).map((value) =>
      svg(
        'text',
        {
          'x': x(value),
          'y': height - 4,
          'text-anchor': value === 0 ? 'start' : x(value) > width - 40 ? 'end' : 'middle',
        },
        value === 0 ? '0' : format(value, unit),
      ),
    );
  const drawing = canvas(
    width,
    height,
    scaleLine,
    marks(
      title,
      lines.map(({ boxes }) => boxes),
    ),
    ghosts,
    limitLine,
    lines.map(({ texts }) => texts),
  );
  const kinds = new Map();
  for (const { parts } of all) for (const part of parts) if (part.value > 0) kinds.set(part.id, part);
  const only = rows.length === 1;
  const key = [...kinds.values()].map(({ name, color, hatch, value }) => ({
    color,
    hatch,
    text: only ? `${name} ${format(value, unit)}` : name,
  }));
  const tallest = totals.indexOf(Math.max(...totals));
  const largest = rows[tallest]?.parts
    .filter(({ hatch }) => !hatch)
    .reduce((best, one) => (one.value > (best?.value ?? 0) ? one : best), null);
  const summary = largest
    ? t('summary.bar', {
        name: largest.name,
        share: format(largest.value / filled[tallest], '%'),
        total: format(filled[tallest], unit),
      })
    : '';
  const columns = only
    ? [t('column.part'), t('column.value'), t('column.share')]
    : [names[0], ...[...kinds.values()].map(({ name }) => name), ...names.slice(1)];
  const table = only
    ? rows[0].parts
        .filter(({ value }) => value > 0)
        .map(({ name, value }) => [name, { value, unit }, { value: value / totals[0], unit: '%' }])
    : all.map(({ label, parts, cells = [] }) => [
        label,
        ...[...kinds.keys()].map((kind) =>
          parts.length ? { value: parts.find((one) => one.id === kind)?.value ?? 0, unit } : '',
        ),
        ...cells,
      ]);
  const described = [said ?? capital(summary), outlined(rows, unit)].filter(Boolean).join(' ');
  return chart({
    id,
    title,
    subtitle,
    kind: 'stacked bar chart',
    summary: described,
    drawing,
    key,
    controls,
    columns,
    rows: table,
    note,
  });
}

// "Outlined: 7.7 s before.", for bars that were longer or shorter.
const outlined = (rows, unit) => {
  const [first] = rows.filter(({ ghost }) => ghost > 0);
  return first ? t('chart.before', { value: format(first.ghost, unit) }) : '';
};

const capital = (words) => words.slice(0, 1).toUpperCase() + words.slice(1);
