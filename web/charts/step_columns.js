// The time of a training step by what bounds it, a column for each count of GPUs; the own column is dragged sideways, or another one pressed.
import { svg } from '../dom.js';
import { text as format, whole } from '../text/format.js';
import { canvas, chart } from './lib/frame.js';
import { keptOf, onDrag } from './lib/handle.js';
import { mark, marks } from './lib/marks.js';
import { linear, textWidth, unitTicks } from './lib/scale.js';
import { t } from './texts.js';

const HEIGHT = 270;
const LEFT = 62;
const WIDEST = 96; // px of a column
const KEYS = { ArrowRight: 1, ArrowLeft: -1 };

// columns: [{devices, parts: [{id, name, value, color, hatch}]}], own: the count of GPUs now; onpick: {set(devices), end()}
export function stepColumns({ id, title, subtitle, width, columns, own, onpick }) {
  const kept = keptOf(id);
  const counts = kept?.counts ?? columns.map(({ devices }) => devices);
  const total = ({ parts }) => parts.reduce((sum, { value }) => sum + value, 0);
  const most = kept?.most ?? Math.max(...columns.map(total));
  const box = { left: LEFT, right: width - 8, top: 22, bottom: HEIGHT - 40 };
  const y = linear([0, most * 1.04], [box.bottom, box.top]);
  const slot = (box.right - box.left) / counts.length;
  const thick = Math.min(WIDEST, slot * 0.72);
  // Every column has a label if there is room; otherwise every second or third, including the own one.
  const labels = columns.flatMap((one) => [format(total(one), 's'), whole(one.devices)]);
  const widest = Math.max(...labels.map((label) => textWidth(label)));
  const every = Math.ceil((widest + 6) / slot);
  const isLabeled = (i) => (i - counts.indexOf(own)) % every === 0;
  const middle = (i) => box.left + (i + 0.5) * slot;
  const before = (i) => columns.find(({ devices }) => devices === counts[i - 1]);
  // A value that would run into a taller column before its own starts at the edge of its own.
  const place = (i, column) => {
    const size = textWidth(format(total(column), 's')) + 4;
    const taller = before(i) && total(before(i)) > total(column);
    if (!taller || size / 2 < slot - thick / 2) return { 'x': middle(i), 'text-anchor': 'middle' };
    return { 'x': Math.min(middle(i) - thick / 2, width - size), 'text-anchor': 'start' };
  };
  const frame = unitTicks([0, most * 1.04], 4, 's').map((value) => [
    svg('line', { class: 'grid', x1: box.left, x2: box.right, y1: y(value), y2: y(value) }),
    svg('text', { 'x': box.left - 8, 'y': y(value) + 4, 'text-anchor': 'end' }, format(value, 's')),
  ]);
  const pick = (devices) => onpick && devices !== own && (onpick.set(devices), onpick.end());
  // The own column comes last, so that the focus finds it again after a move.
  const drawn = [...columns]
    .sort((a, b) => Number(a.devices === own) - Number(b.devices === own))
    .map((column) => {
      const i = counts.indexOf(column.devices);
      if (i < 0) return null;
      const isOwn = column.devices === own;
      const said = column.parts
        .filter(({ value }) => value > 0)
        .map(({ name, value }) => `${name} ${format(value, 's')}`);
      let at = 0;
      const boxes = column.parts.map(({ value, color, hatch }) => {
        const from = at;
        at += value;
        return (
          value > 0 &&
          svg('rect', {
            x: middle(i) - thick / 2,
            width: thick,
            y: y(at),
            height: Math.max(0.5, y(from) - y(at) - 0.75),
            fill: hatch ? 'url(#hatch)' : color,
          })
        );
      });
      const one = mark(
        `${t('answers.devices', { count: whole(column.devices) })}: ${format(total(column), 's')}; ${said.join(', ')}`,
        {
          'class': isOwn && onpick ? 'you drag' : undefined,
          'data-key': isOwn ? `${id}-you` : undefined,
          'onclick': () => pick(column.devices),
        },
        svg('rect', {
          class: 'hit',
          x: middle(i) - slot / 2,
          width: slot,
          y: box.top,
          height: box.bottom - box.top,
          fill: 'transparent',
        }),
        boxes,
        isLabeled(i) && [
          svg(
            'text',
            { class: isOwn ? 'num accent' : 'num', y: y(total(column)) - 6, ...place(i, column) },
            format(total(column), 's'),
          ),
          svg(
            'text',
            { 'class': isOwn ? 'lab accent' : 'lab', 'x': middle(i), 'y': box.bottom + 17, 'text-anchor': 'middle' },
            whole(column.devices),
          ),
        ],
        isOwn && svg('path', { class: 'hair', d: `M${middle(i) - thick / 2 - 4} ${box.bottom + 1}h${thick + 8}` }),
      );
      if (isOwn && onpick) move(one, i);
      return one;
    });
  // The own column follows the pointer from column to column.
  function move(one, at) {
    let now = at;
    onDrag(one, {
      id,
      kept: { counts, most },
      ondrag([across]) {
        const next = Math.max(0, Math.min(counts.length - 1, Math.floor((across - box.left) / slot)));
        if (next !== now) onpick.set(counts[next]);
        now = next;
      },
      onend: onpick.end,
    });
    one.addEventListener('keydown', (event) => {
      const next = counts[at + (KEYS[event.key] ?? NaN)];
      if (!next) return;
      event.preventDefault();
      event.stopPropagation();
      pick(next);
    });
  }
  const key = [
    ...new Map(
      columns
        .flatMap(({ parts }) => parts)
        .filter(({ value }) => value > 0)
        .map((one) => [one.id, one]),
    ).values(),
  ];
  const [first, last] = [columns[0], columns.at(-1)];
  const axis = svg('text', { 'x': box.right, 'y': HEIGHT - 6, 'text-anchor': 'end' }, `${t('step.axis')} →`);
  return chart({
    id,
    title,
    subtitle,
    kind: 'stacked column chart',
    hint: t('step.hint'),
    summary: t('step.summary', {
      time0: format(total(first), 's'),
      devices0: whole(first.devices),
      time1: format(total(last), 's'),
      devices1: whole(last.devices),
    }),
    drawing: canvas(width, HEIGHT, frame, axis, marks(title, drawn)),
    key: key.map(({ color, hatch, name }) => ({ color, hatch, text: name })),
    columns: [t('step.axis'), ...key.map(({ name }) => ({ name, unit: 's' }))],
    rows: columns.map(({ devices, parts }) => [
      whole(devices),
      ...key.map(({ id: part }) => ({ value: parts.find((one) => one.id === part)?.value ?? 0, unit: 's' })),
    ]),
  });
}
