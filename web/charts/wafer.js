// A wafer with its dies where they are placed: good, good with some units switched off, or bad.
import { svg } from '../dom.js';
import { text as format, whole } from '../text/format.js';
import { t } from './texts.js';
import { canvas, chart } from './lib/frame.js';
import { mark, marks } from './lib/marks.js';

const MOST_MARKS = 240;
const STATES = ['bad', 'good', 'spare'];
const FILL = {
  bad: 'var(--surface)',
  good: 'var(--c-logic)',
  spare: 'color-mix(in srgb, var(--c-logic) 45%, var(--surface))',
};

const words = (counts) =>
  STATES.filter((state) => counts[state])
    .map((state) => `${whole(counts[state])} ${t(`wafer.${state}`)}`)
    .join(', ');
const count = (dies) =>
  Object.fromEntries(STATES.map((state, i) => [state, dies.filter(([, , one]) => one === i).length]));

// `answer` is the core's: {diameter_mm, edge_mm, width_mm, height_mm, dies: [[x, y, state]], good, gross, expected_good, yield}
export function wafer({ id, title, subtitle, width, answer, controls }) {
  const size = Math.min(width, 440);
  const scale = (size - 2) / answer.diameter_mm;
  const middle = { x: width / 2, y: size / 2 };
  const wide = answer.width_mm * scale;
  const high = answer.height_mm * scale;
  const place = ([x, y]) => ({ x: middle.x + x * scale, y: middle.y - (y + answer.height_mm) * scale });
  const shape = (die) => {
    const { x, y } = place(die);
    const state = STATES[die[2]];
    const gap = Math.min(0.6, wide * 0.04);
    return [
      svg('rect', {
        x: x + gap,
        y: y + gap,
        width: wide - 2 * gap,
        height: high - 2 * gap,
        fill: FILL[state],
        class: `die ${state}`,
      }),
      state === 'bad' &&
        wide > 4 &&
        svg('path', {
          class: 'cross',
          d: `M${x + wide * 0.3} ${y + high * 0.3}l${wide * 0.4} ${high * 0.4}m0 ${-high * 0.4}l${-wide * 0.4} ${high * 0.4}`,
        }),
    ];
  };
  const rows = new Map();
  for (const die of answer.dies) rows.set(die[1], [...(rows.get(die[1]) ?? []), die]);
  const ordered = [...rows.entries()].sort(([a], [b]) => b - a).map(([, dies]) => dies.sort((a, b) => a[0] - b[0]));
  const single = answer.dies.length <= MOST_MARKS;
  const drawn = ordered.map((dies, row) =>
    single
      ? dies.map((die, i) =>
          mark(
            `${t('wafer.die', { row: row + 1, place: i + 1 })}: ${t(`wafer.${STATES[die[2]]}`)}`,
            { class: 'die-mark' },
            shape(die),
          ),
        )
      : mark(`${t('wafer.row', { row: row + 1 })}: ${words(count(dies))}`, { class: 'die-mark' }, dies.map(shape)),
  );
  const counts = count(answer.dies);
  return chart({
    id,
    title,
    subtitle,
    kind: 'wafer map',
    controls,
    summary: t('wafer.summary', {
      good: whole(answer.good),
      gross: whole(answer.gross),
      yield: format(answer.yield, '%'),
      expected: format(answer.expected_good, ''),
    }),
    drawing: canvas(
      width,
      size,
      svg('circle', { class: 'rim', cx: middle.x, cy: middle.y, r: (answer.diameter_mm / 2) * scale }),
      svg('circle', {
        class: 'level',
        fill: 'none',
        cx: middle.x,
        cy: middle.y,
        r: (answer.diameter_mm / 2 - answer.edge_mm) * scale,
      }),
      marks(title, drawn),
    ),
    key: [
      { color: FILL.good, text: t('wafer.good') },
      ...(counts.spare ? [{ color: FILL.spare, text: t('wafer.spare') }] : []),
      { sign: '×', text: t('wafer.bad') },
    ],
    columns: [t('wafer.column'), ...STATES.map((state) => t(`wafer.${state}`))],
    rows: ordered.map((dies, row) => [row + 1, ...Object.values(count(dies)).map(whole)]),
  });
}
