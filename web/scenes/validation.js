// Published measurements, computed again in the visitor's browser: the worst cases first, and the error of every data set.
import { svg } from '../dom.js';
import { canvas, chart } from '../charts/lib/frame.js';
import { mark, marks } from '../charts/lib/marks.js';
import { decades, log, positiveDomain } from '../charts/lib/scale.js';
import { get } from '../state/paths.js';
import '../text/later.js';
import { text, unitOf } from '../text/format.js';
import { t } from '../text/strings.js';
import { h } from '../dom.js';
import { withVersion } from '../state/scenario.js';

const DRAW_EVERY = 12;
const COLORS = ['var(--c-forward)', 'var(--c-dp)', 'var(--c-tp)', 'var(--c-pp)', 'var(--c-ep)'];

// What came out, by case; the cases do not depend on the open scenario, so they are computed once.
const found = new Map();
let running = false;

async function compute(context, cases) {
  if (running) return;
  running = true;
  const { page } = context;
  try {
    for (const [i, one] of cases.entries()) {
      if (found.has(one)) continue;
      const report = await page.engine.call('evaluate', page.requestFor(withVersion(one.inputs, '1')), '');
      if (report) found.set(one, get(report, one.path));
      if ((i + 1) % DRAW_EVERY === 0 && page.store.scene === 'method') page.drawScene();
    }
  } finally {
    running = false;
  }
  if (page.store.scene === 'method') page.drawScene();
}

// Points on the diagonal are exact; the lines beside it are 10 % off.
function scatter(width, cases, colorOf) {
  const domain = positiveDomain(
    cases.flatMap(({ measured, value }) => [measured, value]),
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
  const points = [...cases]
    .sort((a, b) => a.measured - b.measured)
    .map((one) =>
      mark(
        `${one.name}: ${t('method.measured')} ${text(one.measured, 's')}, ${t('method.computed')} ${text(one.value, 's')}, ${signed(one.error)}`,
        { class: 'point dot', 'data-series': one.set, fill: colorOf(one.set), stroke: colorOf(one.set) },
        svg('circle', { cx: x(one.measured), cy: y(one.value), r: 5 }),
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
    svg('text', { class: 'halo', x: box.left + 6, y: box.top + 12 }, t('method.computed')),
    marks(t('method.validation'), points),
  );
}

const signed = (error) => `${error > 0 ? '+' : ''}${text(error, '%').replace('-', '−')}`;
const meanOf = (cases) => cases.reduce((sum, { error }) => sum + Math.abs(error), 0) / cases.length;

function table(caption, columns, rows) {
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    h(
      'table',
      { class: 'plain sourced' },
      h('caption', {}, h('span', {}, caption)),
      h('thead', {}, h('tr', {}, columns.map((one) => h('th', { scope: 'col' }, one)))),
      h('tbody', {}, rows.map(([head, ...cells]) => h('tr', {}, h('th', { scope: 'row' }, head), cells.map((cell) => h('td', {}, cell))))),
    ),
  );
}

const WORST = 8;

export function validation(context) {
  const published = context.page.data('data/published.json');
  if (!published) return null;
  const { sets } = published;
  if (published.cases.some((one) => !found.has(one))) compute(context, published.cases);
  const cases = published.cases
    .map((one) => ({ ...one, value: found.get(one) }))
    .filter(({ value }) => typeof value === 'number' && value > 0)
    .map((one) => ({ ...one, error: one.value / one.measured - 1 }))
    .sort((a, b) => Math.abs(b.error) - Math.abs(a.error));
  const title = h('h2', {}, t('method.validation'));
  if (cases.length === 0) return [title, h('p', { class: 'note' }, t('chart.waiting'))];
  const colorOf = (id) => COLORS[sets.findIndex((set) => set.id === id) % COLORS.length];
  const sourceOf = ({ set }) => sets.find(({ id }) => id === set)?.source ?? '';
  const row = (one) => [one.name, text(one.measured, unitOf(one.path)), text(one.value, unitOf(one.path)), signed(one.error), sourceOf(one)];
  const columns = [t('method.case'), t('method.measured'), t('method.computed'), t('method.error'), t('method.source')];
  const bySet = sets
    .map(({ id, name, source }) => ({ name, source, cases: cases.filter(({ set }) => set === id) }))
    .filter(({ cases: own }) => own.length)
    .sort((a, b) => meanOf(b.cases) - meanOf(a.cases));
  return [
    title,
    table(
      t('method.sets'),
      [t('method.set'), t('method.count'), t('method.mean'), t('method.worst')],
      bySet.map(({ name, cases: own }) => [name, own.length, text(meanOf(own), '%'), `${signed(own[0].error)} (${own[0].name})`]),
    ),
    table(t('method.worstCases'), columns, cases.slice(0, WORST).map(row)),
    chart({
      id: 'validation',
      title: t('method.validation.chart'),
      subtitle: t('method.validation.sub'),
      kind: 'scatter chart',
      summary: t('method.validation.summary', {
        mean: text(meanOf(cases), '%'),
        worst: cases[0].name,
        error: signed(cases[0].error),
        count: cases.length,
      }),
      drawing: scatter(context.width, cases, colorOf),
      key: bySet.map(({ name, cases: own }) => ({ color: colorOf(own[0].set), text: name })),
      columns,
      rows: cases.map(row),
    }),
  ];
}
