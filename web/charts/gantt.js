// The pipeline's schedule: a row per stage, a box per pass, hatched where a stage waits.
import { svg } from '../dom.js';
import { number, text as format, whole } from '../text/format.js';
import { canvas, chart } from './lib/frame.js';
import { mark, marks } from './lib/marks.js';
import { linear, ticks } from './lib/scale.js';
import { t } from './texts.js';

const ROW = 34;
const GAP = 6;
const MOST = 1500;

const COLOR = {
  forward: 'var(--c-forward)',
  backward: 'var(--c-backward)',
  weight: 'var(--c-gradients)',
  update: 'var(--c-optimizer)',
};

// Boxes of one stage that are too thin to distinguish merge into one per kind and run.
function merge(passes, least) {
  const out = [];
  for (const pass of passes) {
    const last = out.at(-1);
    if (last && last.kind === pass.kind && pass.start_s - last.end_s < least && last.end_s - last.start_s < least * 4) {
      last.end_s = pass.end_s;
      last.to = pass.micro_batch;
    } else {
      out.push({ ...pass, to: pass.micro_batch });
    }
  }
  return out;
}

const GLIMPSE = 0.16;

// The part of the step to draw: [from, to] in seconds.
function windowOf(end, view) {
  if (view === 'start') return [0, end * GLIMPSE];
  return view === 'end' ? [end * (1 - GLIMPSE), end] : [0, end];
}

// Chunks of an interleaved schedule are shades of their pass's colour.
const shade = (pass, chunks) => {
  const color = COLOR[pass.kind] ?? COLOR.backward;
  const share = Math.round(100 - (35 * pass.chunk) / chunks);
  return share === 100 ? color : `color-mix(in srgb, ${color} ${share}%, var(--paper))`;
};

// The optimizer runs once for all micro-batches.
const batchOf = (pass) => (pass.kind === 'update' ? '' : pass.micro_batch + 1);

// The time up to which the passes of every stage are known: in a cut timeline, where the first stage's passes end.
function endOf(timeline, cut) {
  const ends = [];
  for (const { stage, end_s: end } of timeline) ends[stage] = Math.max(ends[stage] ?? 0, end);
  return cut ? Math.min(...ends) : Math.max(...ends);
}

// `view` is "whole", "start" or "end"; `controls` lets the visitor choose it. `cut`: {shown, of} passes, or null for a whole timeline.
export function gantt({ id, width, timeline, cut = null, stepTime, view = 'whole', controls }) {
  const stages = 1 + Math.max(...timeline.map(({ stage }) => stage));
  const batches = 1 + Math.max(...timeline.map(({ micro_batch: one }) => one));
  const end = endOf(timeline, cut);
  const left = width > 500 ? 62 : 22;
  const [from, to] = windowOf(end, view);
  const chunks = 1 + Math.max(...timeline.map(({ chunk }) => chunk));
  const x = linear([from, to], [left, width]);
  const rows = Array.from({ length: stages }, (_, stage) =>
    timeline
      .filter((pass) => pass.stage === stage && pass.end_s > from && pass.start_s < to)
      .sort((a, b) => a.start_s - b.start_s),
  );
  const least = timeline.length > MOST && view === 'whole' ? (end / width) * 3 : 0;
  const drawn = rows.map((row) => (least ? merge(row, least) : row));
  const size = Math.max(14, Math.min(ROW, 420 / stages));
  const height = stages * (size + GAP) + 26;
  const boxes = drawn.map((row, stage) => {
    const y = stage * (size + GAP);
    return [
      svg(
        'text',
        { class: 'lab', x: 0, y: y + size / 2 + 4 },
        width > 500 ? t('memory.stage', { i: stage + 1 }) : String(stage + 1),
      ),
      svg('rect', { class: 'free', x: left, y, width: width - left, height: size, fill: 'url(#hatch)' }),
      row.map((pass) => {
        const at = x(Math.max(from, pass.start_s));
        const wide = x(Math.min(to, pass.end_s)) - at;
        const name = String(batchOf(pass));
        const label = `${t('memory.stage', { i: stage + 1 })}, ${t(`pass.${pass.kind}`)}${name && ` ${name}`}${pass.to > pass.micro_batch ? `–${pass.to + 1}` : ''}, ${format(pass.start_s, 's')} – ${format(pass.end_s, 's')}`;
        return mark(
          label,
          { 'data-series': stage },
          svg('rect', {
            x: at,
            y,
            width: Math.max(0.6, wide - (wide > 8 ? 1.2 : 0.3)),
            height: size,
            rx: wide > 6 ? 2 : 0,
            fill: shade(pass, chunks),
          }),
          name &&
            wide > name.length * 8 + 4 &&
            !least &&
            svg(
              'text',
              {
                'class': pass.kind === 'forward' ? 'inbox' : 'inbox onlight',
                'x': at + wide / 2,
                'y': y + size / 2 + 4,
                'text-anchor': 'middle',
              },
              name,
            ),
        );
      }),
    ];
  });
  const axis = ticks([from, to], width > 500 ? 8 : 4).map((value) => [
    svg('line', { class: 'axis', x1: x(value), x2: x(value), y1: height - 24, y2: height - 19 }),
    svg(
      'text',
      {
        'x': x(value),
        'y': height - 5,
        'text-anchor': x(value) < left + 10 ? 'start' : x(value) > width - 16 ? 'end' : 'middle',
      },
      `${number(value)}${value === 0 ? ' s' : ''}`,
    ),
  ]);
  const kinds = [...new Set(timeline.map(({ kind }) => kind))];
  return chart({
    id,
    title: t('train.gantt', {
      stages: `${stages} ${stages === 1 ? 'stage' : 'stages'}, ${cut ? 'first ' : ''}${batches} ${batches === 1 ? 'micro-batch' : 'micro-batches'}`,
    }),
    subtitle: t('train.gantt.sub'),
    kind: 'Gantt chart',
    controls,
    summary: cut ? '' : t('summary.gantt', { stages, batches, time: format(stepTime, 's') }),
    note: cut && t('train.gantt.note', { shown: whole(cut.shown), of: whole(cut.of) }),
    drawing: canvas(width, height, marks(t('train.gantt.sub'), boxes), axis),
    key: [
      ...kinds.map((kind) => ({ color: COLOR[kind] ?? COLOR.backward, text: t(`pass.${kind}`) })),
      { hatch: true, text: t('part.bubble') },
    ],
    columns: [t('column.stage'), t('column.kind'), t('column.batchOf'), t('column.start'), t('column.end')],
    rows: timeline.map((pass) => [
      pass.stage + 1,
      t(`pass.${pass.kind}`),
      batchOf(pass),
      { value: pass.start_s, unit: 's' },
      { value: pass.end_s, unit: 's' },
    ]),
  });
}
