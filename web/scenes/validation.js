// Published measurements, computed again in the visitor's browser: the worst cases first.
import { svg } from '../dom.js';
import { canvas, chart } from '../charts/lib/frame.js';
import { mark, marks } from '../charts/lib/marks.js';
import { decades, log, positiveDomain } from '../charts/lib/scale.js';
import { get } from '../state/paths.js';
import { text, unitOf } from '../text/format.js';
import { t } from '../text/strings.js';
import { h } from '../dom.js';

// Points on the diagonal are exact; the lines beside it are 10 % off.
function scatter(width, cases) {
  const domain = positiveDomain(
    cases.flatMap(({ measured, found }) => [measured, found]),
    0.15,
  );
  const size = Math.min(width, 460);
  const box = { left: 64, right: size - 10, top: 10, bottom: size - 44 };
  const x = log(domain, [box.left, box.right]);
  const y = log(domain, [box.bottom, box.top]);
  const line = (factor, name) =>
    svg('line', { class: name, x1: x(domain[0]), x2: x(domain[1]), y1: y(domain[0] * factor), y2: y(domain[1] * factor) });
  const axes = decades(domain, 5).map((value) => [
    svg('line', { class: 'grid', x1: x(value), x2: x(value), y1: box.top, y2: box.bottom }),
    svg('line', { class: 'grid', x1: box.left, x2: box.right, y1: y(value), y2: y(value) }),
    svg('text', { x: x(value), y: box.bottom + 17, 'text-anchor': 'middle' }, text(value, 's')),
    svg('text', { x: box.left - 8, y: y(value) + 4, 'text-anchor': 'end' }, text(value, 's')),
  ]);
  const points = cases.map((one) =>
    mark(
      `${one.name}: ${t('method.measured')} ${text(one.measured, 's')}, ${t('method.computed')} ${text(one.found, 's')}, ${text(one.error, '%')}`,
      { class: 'point', fill: 'var(--c-forward)', stroke: 'var(--c-forward)' },
      svg('circle', { cx: x(one.measured), cy: y(one.found), r: 5 }),
    ),
  );
  return canvas(
    size,
    size,
    axes,
    line(1, 'axis'),
    line(1.1, 'ridge'),
    line(1 / 1.1, 'ridge'),
    svg('text', { x: box.right, y: size - 8, 'text-anchor': 'end' }, t('method.measured')),
    marks(t('method.validation'), points),
  );
}

export function validation(context) {
  const published = context.page.data('data/published.json');
  if (!published) return null;
  const cases = published.cases
    .map((one) => {
      const report = context.ask('evaluate', context.page.requestFor(one.inputs), '');
      const found = report && get(report, one.path);
      return typeof found === 'number' && found > 0 ? { ...one, found, error: found / one.measured - 1 } : null;
    })
    .filter(Boolean)
    .sort((a, b) => Math.abs(b.error) - Math.abs(a.error));
  if (cases.length === 0) return null;
  const mean = cases.reduce((sum, { error }) => sum + Math.abs(error), 0) / cases.length;
  const signed = (error) => `${error > 0 ? '+' : ''}${text(error, '%')}`;
  return [
    h('h2', {}, t('method.validation')),
    chart({
      id: 'validation',
      title: t('method.validation.chart'),
      subtitle: t('method.validation.sub'),
      kind: 'scatter chart',
      summary: t('method.validation.summary', {
        mean: text(mean, '%'),
        worst: cases[0].name,
        error: signed(cases[0].error),
        count: cases.length,
      }),
      drawing: scatter(context.width, cases),
      columns: [t('method.case'), t('method.measured'), t('method.computed'), t('method.error'), t('method.source')],
      rows: cases.map((one) => [
        one.name,
        text(one.measured, unitOf(one.path)),
        text(one.found, unitOf(one.path)),
        signed(one.error),
        one.source,
      ]),
    }),
  ];
}
