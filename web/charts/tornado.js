// Sensitivity: for each input, how far a figure moves when the input goes down or up.
import { svg } from '../dom.js';
import { text as format } from '../text/format.js';
import { canvas, chart } from './lib/frame.js';
import { mark, marks } from './lib/marks.js';
import { linear, textWidth, ticks } from './lib/scale.js';
import { t } from './texts.js';

// Breaks a name into lines that fit, between words.
function broken(label, room) {
  const lines = [];
  for (const word of label.split(' ')) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (!lines.length || textWidth(longer) > room) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

// Ticks around zero, at least one on each side: zero alone shows no scale.
function marked(most, wanted) {
  const all = ticks([-most, most], wanted);
  return all.length > 2 ? all : marked(most, wanted + 1);
}

// rows: [{path, label, down, up, names: [text, text]}] as shares of the figure (0.1: 10 % more); `ends` names what both sides are
export function tornado({ id, title, subtitle, width, rows, onrow, ends = [t('overview.down'), t('overview.up')] }) {
  const most = Math.max(0.01, ...rows.flatMap(({ down, up }) => [Math.abs(down), Math.abs(up)]));
  const longest = 14 + Math.max(...rows.map(({ label }) => textWidth(label)));
  const above = longest > width * 0.42; // names that would leave no room for the bars stand on lines of their own
  const left = above ? 0 : longest;
  const x = linear([-most, most], [left + 4, width - 4]);
  const LINE = 15;
  const names = rows.map(({ label }) => (above ? broken(label, width) : [label]));
  const barsAt = names.map((lines) => (above ? 3 + lines.length * LINE : 0)); // from the top of a row
  const tops = [0];
  for (const at of barsAt) tops.push(tops.at(-1) + at + 26);
  const bottom = tops.at(-1);
  const height = bottom + 26;
  const bar = (value, y, color, name, row) =>
    Math.abs(value) > most * 1e-4 &&
    mark(
      `${row.label}, ${name}: ${value > 0 ? '+' : ''}${format(value, '%')}`,
      { onclick: () => onrow?.(row.path) },
      svg('rect', {
        x: Math.min(x(0), x(value)),
        y,
        width: Math.max(1, Math.abs(x(value) - x(0))),
        height: 9,
        rx: 1.5,
        fill: color,
      }),
    );
  const drawn = rows.map((row, i) => [
    names[i].map((line, at) =>
      svg('text', { class: 'lab halo', x: 0, y: tops[i] + (above ? 13 : 15) + at * LINE }, line),
    ),
    bar(row.down, tops[i] + barsAt[i] + 1, 'var(--c-forward)', row.names?.[0] ?? ends[0], row),
    bar(row.up, tops[i] + barsAt[i] + 11, 'var(--c-memory)', row.names?.[1] ?? ends[1], row),
  ]);
  const axis = marked(most, width > 500 ? 6 : 3).map((value) => {
    const words = `${value > 0 ? '+' : ''}${format(value, '%').replace('-', '−')}`;
    const half = textWidth(words) / 2 + 4;
    return [
      svg('line', { class: value === 0 ? 'axis' : 'grid', x1: x(value), x2: x(value), y1: 0, y2: bottom }),
      svg(
        'text',
        { 'x': Math.min(width - half, Math.max(half, x(value))), 'y': height - 6, 'text-anchor': 'middle' },
        words,
      ),
    ];
  });
  return chart({
    id,
    title,
    subtitle,
    kind: 'tornado chart',
    summary: rows[0] ? t('summary.tornado', { input: rows[0].label }) : '',
    drawing: canvas(width, height, axis, marks(title, drawn)),
    key: [
      { color: 'var(--c-forward)', text: ends[0] },
      { color: 'var(--c-memory)', text: ends[1] },
    ],
    columns: [t('overview.tornado.column'), ...ends],
    rows: rows.map(({ label, down, up }) => [label, { value: down, unit: '%' }, { value: up, unit: '%' }]),
  });
}
