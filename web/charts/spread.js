// The distribution of a figure: bars of counts, the 90 % interval shaded, the value without samples as a hairline.
import { svg } from '../dom.js';
import { text as format, whole } from '../text/format.js';
import { t } from './texts.js';
import { canvas, chart } from './lib/frame.js';
import { mark, marks } from './lib/marks.js';
import { linear, textWidth, ticks } from './lib/scale.js';

// counts: {from, to, counts}, quantiles: {p5, p50, p95, …} as the core answers; `here`: the figure without draws
export function spread({ id, title, subtitle, width, unit, counts, quantiles, here, draws, controls }) {
  const height = 220;
  const box = { left: 8, right: width - 8, top: 20, bottom: height - 26 };
  const size = (counts.to - counts.from) / counts.counts.length;
  const x = linear([Math.min(counts.from, here), Math.max(counts.to, here)], [box.left, box.right]);
  const most = Math.max(...counts.counts);
  const y = linear([0, most], [box.bottom, box.top]);
  const inside = (value) => value + size / 2 >= quantiles.p5 && value + size / 2 <= quantiles.p95;
  const bars = counts.counts.map((one, i) => {
    const from = counts.from + i * size;
    return mark(
      `${format(from, unit)} – ${format(from + size, unit)}: ${whole(one)}`,
      {},
      svg('rect', {
        x: x(from) + 0.5,
        y: y(one),
        width: Math.max(1, x(from + size) - x(from) - 1),
        height: Math.max(0.5, box.bottom - y(one)),
        fill: inside(from) ? 'var(--c-logic)' : 'color-mix(in srgb, var(--c-logic) 35%, var(--surface))',
      }),
    );
  });
  const line = (value, name, kind, level) => [
    svg('line', { class: kind, x1: x(value), x2: x(value), y1: level + 4, y2: box.bottom }),
    svg(
      'text',
      {
        'class': 'lab',
        'x': x(value),
        'y': level,
        'text-anchor': x(value) > width - 70 ? 'end' : x(value) < 70 ? 'start' : 'middle',
      },
      name,
    ),
  ];
  // A label at the edge stays within the drawing.
  const axis = ticks([counts.from, counts.to], width > 500 ? 8 : 4).map((value) => {
    const label = format(value, unit);
    const half = textWidth(label) / 2;
    const middle = Math.min(Math.max(x(value), half), width - half);
    return svg('text', { 'x': middle, 'y': height - 8, 'text-anchor': 'middle' }, label);
  });
  return chart({
    id,
    title,
    subtitle,
    kind: 'histogram',
    controls,
    summary: t('spread.summary', {
      low: format(quantiles.p5, unit),
      high: format(quantiles.p95, unit),
      middle: format(quantiles.p50, unit),
      draws: whole(draws),
    }),
    drawing: canvas(
      width,
      height,
      svg('line', { class: 'axis', x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }),
      axis,
      marks(title, bars),
      line(here, format(here, unit), 'hair', 12),
    ),
    key: [
      { color: 'var(--c-logic)', text: t('spread.inside') },
      { color: 'color-mix(in srgb, var(--c-logic) 35%, var(--surface))', text: t('spread.outside') },
    ],
    columns: [t('spread.from'), t('spread.to'), t('spread.count')],
    rows: counts.counts.map((one, i) => [
      { value: counts.from + i * size, unit },
      { value: counts.from + (i + 1) * size, unit },
      one,
    ]),
  });
}
