// An answer with its interval on a logarithmic line, and where each of the runs most like it would put it.
import { svg } from '../dom.js';
import { number, parts, text, unitSize } from '../text/format.js';
import { canvas, chart } from './lib/frame.js';
import { mark, marks } from './lib/marks.js';
import { log, textWidth, unitTicks } from './lib/scale.js';

// points: [{label, here}]
export function likely({ id, title, subtitle, width, unit, value, low, high, level, points, summary, columns, rows }) {
  const height = 76;
  const all = [low, high, ...points.map(({ here }) => here)];
  const domain = [Math.min(...all) / 1.15, Math.max(...all) * 1.15];
  const x = log(domain, [14, width - 14]);
  const base = 50;
  const bar = 32;
  const { unit: shown } = parts(value, unit);
  const per = unitSize(value, unit);
  const short = (one) => number(one / per);
  const ends = { from: x(low) - 8, to: x(high) + 8 };
  const name =
    short(high) + (ends.to + textWidth(`${short(high)} ${shown} ${level}`) < width ? `\u00a0${shown}  ${level}` : '');
  return chart({
    id,
    title,
    subtitle,
    kind: 'interval',
    summary,
    drawing: canvas(
      width,
      height,
      svg('line', { class: 'axis', x1: 14, x2: width - 14, y1: base, y2: base }),
      unitTicks(domain, width < 500 ? 4 : 10, unit)
        .filter((one) => one >= domain[0] && one <= domain[1])
        .map((one) => [
          svg('line', { class: 'axis', x1: x(one), x2: x(one), y1: base, y2: base + 5 }),
          svg('text', { 'x': x(one), 'y': base + 20, 'text-anchor': 'middle' }, text(one, unit)),
        ]),
      marks(
        title,
        [...points]
          .sort((a, b) => a.here - b.here)
          .map(({ label, here }) =>
            mark(
              label,
              { class: 'point run-point near' },
              svg('circle', { cx: x(here), cy: base, r: 4.5 }),
              svg('circle', { class: 'reach-area', cx: x(here), cy: base, r: 12 }),
            ),
          ),
      ),
      svg('path', {
        class: 'reach',
        d: `M${x(low)} ${bar}H${x(high)}M${x(low)} ${bar - 6}v12M${x(high)} ${bar - 6}v12`,
      }),
      svg('line', { class: 'hair', x1: x(value), x2: x(value), y1: bar - 12, y2: base + 8 }),
      svg('circle', { class: 'own-value', cx: x(value), cy: bar, r: 5 }),
      svg('text', { 'class': 'num', 'x': x(value), 'y': 14, 'text-anchor': 'middle' }, text(value, unit)),
      svg('text', { 'class': 'num', 'x': ends.from, 'y': bar + 4, 'text-anchor': 'end' }, short(low)),
      svg('text', { class: 'num', x: ends.to, y: bar + 4 }, name),
    ),
    columns,
    rows,
  });
}
