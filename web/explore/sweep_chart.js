// A sweep drawn: a figure along one input as a line or a column of choices, over two as a map, or the time of each point by
// bound. `result`: {axes, kinds, figure, rows, pass} of the panel.
import { heat } from '../charts/heat.js';
import { lines } from '../charts/lines.js';
import { labelOf } from '../form/fields.js';
import { nameOf } from '../report/names.js';
import { text, unitOf } from '../text/format.js';
import { byBound } from './by_bound.js';
import { figureName } from './controls.js';
import { thinned } from './ranking.js';
import { cellOf, isBad, mappingWords, nameOfValue } from './sweep_values.js';
import { t } from './texts.js';

const MOST_CELLS = 900;
const MOST_POINTS = 500;
const MOST_BARS = 40;

// A value of an axis in readable form.
const sayer =
  ({ kinds }, catalogue) =>
  (value, axis) =>
    nameOfValue(value, kinds[axis], catalogue);

// The time of each point by bound; they follow the figure and the reason for infeasibility.
export function stacked({ result, catalogue, width, controls }) {
  const { axes, figure, rows, pass } = result;
  const say = sayer(result, catalogue);
  const cells = rows.map(cellOf);
  const every = Math.ceil(rows.length / MOST_BARS);
  const bad = cells.filter(isBad).length;
  const names = rows.map(({ inputs }) => inputs.map(say).join(', '));
  const mapped = rows.some(({ mapping }) => mapping);
  const misfits = names.filter((_, i) => isBad(cells[i]) && rows[i].figures[3]);
  return byBound({
    id: 'sweep-chart',
    title: t('explore.sweep.result', {
      figure: nameOf(pass.bounds),
      input: axes.map(([path]) => labelOf(path)).join(', '),
    }),
    subtitle: every > 1 ? t('explore.every.bar', { every }) : undefined,
    width,
    every,
    names: [
      axes.map(([path]) => labelOf(path)).join(', '),
      figureName(figure),
      ...(mapped ? [t('explore.sweep.mapping')] : []),
      t('heat.reason'),
    ],
    rows: rows.map(({ figures, mapping }, i) => ({
      label: names[i],
      times: figures[3],
      levels: figures[4],
      words: figures[3] ? undefined : cells[i].reason,
      about: [mapping && mappingWords(mapping), cells[i].reason].filter(Boolean).join(', '),
      cells: [
        typeof cells[i].value === 'number' ? { value: cells[i].value, unit: unitOf(figure) } : '',
        ...(mapped ? [mappingWords(mapping)] : []),
        cells[i].reason ?? '',
      ],
    })),
    note: [
      bad > 0 && t('explore.lines.bad', { bad, all: rows.length }),
      misfits.length > 0 && every === 1 && t('explore.bars.infeasible', { list: misfits.join('; ') }),
    ]
      .filter(Boolean)
      .join(' '),
    controls,
  });
}

function extremes(cells, names, figure) {
  const good = cells.filter((cell) => !isBad(cell)).sort((a, b) => a.value - b.value);
  const unit = unitOf(figure);
  const bad = cells.length - good.length;
  const ends = good.length > 0 && {
    least: text(good[0].value, unit),
    leastAt: names(good[0]),
    most: text(good.at(-1).value, unit),
    mostAt: names(good.at(-1)),
  };
  const said = [
    ends && t('explore.lines.summary', ends),
    bad > 0 && t('explore.lines.bad', { bad, all: cells.length }),
  ];
  return { bad, words: said.filter(Boolean).join(' ') };
}

export function asLine({ result, catalogue, width, controls }) {
  const { axes, kinds, figure, rows } = result;
  const say = sayer(result, catalogue);
  const unit = unitOf(figure);
  const cells = rows.map(cellOf);
  const numeric = rows.every(({ inputs }) => typeof inputs[0] === 'number');
  const names = rows.map(({ inputs }) => say(inputs[0], 0));
  const drawable = cells.map((cell, i) => ({ ...cell, i })).filter(({ value }) => typeof value === 'number');
  const { bad, words } = extremes(cells, (cell) => names[cells.indexOf(cell)], figure);
  const mapped = rows.some(({ mapping }) => mapping);
  const columns = [
    labelOf(axes[0][0]),
    figureName(figure),
    mapped && t('explore.sweep.mapping'),
    t('heat.reason'),
  ].filter(Boolean);
  const table = () =>
    rows.map(({ mapping }, i) => [
      names[i],
      typeof cells[i].value === 'number' ? { value: cells[i].value, unit } : '',
      ...(mapped ? [mappingWords(mapping)] : []),
      cells[i].reason ?? '',
    ]);
  const title = t('explore.sweep.result', { figure: figureName(figure), input: labelOf(axes[0][0]) });
  const with_ = ({ mapping }) => (mapping ? `, ${mappingWords(mapping)}` : '');
  const label = ({ i, value, reason }) =>
    `${names[i]}: ${text(value, unit)}${with_(rows[i])}${reason ? `, ${reason}` : ''}`;
  if (!numeric || drawable.length === 0) {
    return heat({
      id: 'sweep-chart',
      title,
      controls,
      width,
      x: { label: figureName(figure), names: [''] },
      y: { label: labelOf(axes[0][0]), names },
      cells: cells.map((cell, i) => ({ ...cell, x: 0, y: i })),
      unit,
      summary: words,
    });
  }
  const xs = drawable.map(({ i }) => rows[i].inputs[0]);
  const across = {
    label: labelOf(axes[0][0]),
    unit: kinds[0]?.kind === 'quantity' ? '' : 'count',
    log: Math.min(...xs) > 0 && Math.max(...xs) / Math.min(...xs) > 15,
  };
  if (xs.some((x) => !Number.isInteger(x))) across.unit = '';
  const ys = drawable.map(({ value }) => value);
  return lines({
    id: 'sweep-chart',
    title,
    controls,
    subtitle: bad ? t('explore.hollow') : undefined,
    width,
    x: across,
    y: { label: figureName(figure), unit, log: Math.min(...ys) > 0 && Math.max(...ys) / Math.min(...ys) > 20 },
    series: [
      {
        name: figureName(figure),
        color: 'var(--c-forward)',
        points: thinned(drawable, MOST_POINTS).points.map((cell) => ({
          x: rows[cell.i].inputs[0],
          y: cell.value,
          label: label(cell),
          hollow: Boolean(cell.reason),
        })),
      },
    ],
    summary: words,
    columns,
    rows: table,
  });
}

export function asMap({ result, catalogue, width, controls }) {
  const { axes, figure, rows } = result;
  const say = sayer(result, catalogue);
  const keys = [0, 1].map((at) => [...new Set(rows.map(({ inputs }) => JSON.stringify(inputs[at])))]);
  const names = keys.map((list, at) => list.map((one) => say(JSON.parse(one), at)));
  const places = keys.map((list) => new Map(list.map((key, i) => [key, i])));
  const [y, x] = [0, 1].map((at) => (row) => places[at].get(JSON.stringify(row.inputs[at])));
  const cells = rows.map((row) => ({ ...cellOf(row), y: y(row), x: x(row) }));
  // A large map draws only every n-th row and column; the table has all.
  const every = Math.ceil(Math.sqrt(cells.length / MOST_CELLS));
  const drawn = names.map((list) => list.filter((_, i) => i % every === 0));
  const { words } = extremes(cells, ({ x, y }) => `${names[0][y]}, ${names[1][x]}`, figure);
  return heat({
    id: 'sweep-chart',
    title: t('explore.heat.result', { figure: figureName(figure), a: labelOf(axes[0][0]), b: labelOf(axes[1][0]) }),
    subtitle: every > 1 ? t('explore.every', { every }) : undefined,
    controls,
    width,
    y: { label: labelOf(axes[0][0]), names: drawn[0] },
    x: { label: labelOf(axes[1][0]), names: drawn[1] },
    cells: cells
      .filter((one) => one.x % every === 0 && one.y % every === 0)
      .map((one) => ({ ...one, x: one.x / every, y: one.y / every })),
    rows: () =>
      cells.map((one) => [
        names[0][one.y],
        names[1][one.x],
        typeof one.value === 'number' ? { value: one.value, unit: unitOf(figure) } : '',
        one.reason ?? '',
      ]),
    unit: unitOf(figure),
    summary: words,
  });
}
