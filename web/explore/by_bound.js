// Times by bound over the points of a study or a sweep: the times that the report splits so, and one stacked bar per
// point.
/** @import {Bars} from '../types.js' */
import { stackedBars } from '../charts/bars.js';
import { boundParts } from '../charts/parts.js';
import { h } from '../dom.js';
import { text } from '../text/format.js';
import { t } from './texts.js';

// `sums`: the figures that the parts add up to.
const PASSES = [
  {
    id: 'training',
    bounds: 'training.time_by_bound',
    levels: 'training.network_by_level',
    sums: ['training.step_time_s'],
  },
  {
    id: 'prefill',
    bounds: 'serving.time_by_bound.prefill',
    levels: 'serving.network_by_level.prefill',
    sums: ['serving.prefill_s'],
  },
  {
    id: 'decode',
    bounds: 'serving.time_by_bound.decode',
    levels: 'serving.network_by_level.decode',
    sums: ['serving.decode_step_s', 'serving.static_tpot_s'],
  },
];

// The passes that a figure's time belongs to, and the one that it is all of.
export const passesOf = (figure) => PASSES.filter(({ bounds }) => bounds.split('.')[0] === figure.split('.')[0]);
export const passOf = (figure) => PASSES.find(({ sums }) => sums.includes(figure));

// A network level has one name if it is the same at all points; otherwise its position names it.
function named(lists) {
  const name = (i) => {
    const names = new Set(lists.filter((list) => list[i]).map((list) => list[i].level));
    const [one] = names;
    return names.size === 1 && one ? one : t(`explore.level.${Math.min(i + 1, 3)}`);
  };
  return lists.map((list) => list.map(({ time_s }, i) => ({ level: name(i), time_s })));
}

// rows: [{times: a time by bound, or undefined; levels: its communication by network level, …}] -> the same with `parts` for stackedBars.
export function withBoundParts(rows) {
  const levels = named(rows.map((row) => row.levels ?? []));
  return rows.map((row, i) => ({ ...row, parts: row.times ? boundParts(row.times, levels[i]) : [] }));
}

// The largest part of the first bar and of the last one: how the bottleneck moves.
export function boundSummary(rows, unit) {
  const ends = rows.filter(({ parts }) => parts.some(({ value }) => value > 0));
  if (ends.length < 2) return undefined;
  const [first, last] = [ends[0], ends.at(-1)].map(({ label, parts }) => {
    const total = parts.reduce((sum, { value }) => sum + value, 0);
    const largest = parts.reduce((best, one) => (one.value > best.value ? one : best));
    return t('explore.bounds.most', {
      label,
      share: text(largest.value / total, '%'),
      total: text(total, unit),
      name: largest.name,
    });
  });
  return t('explore.bounds.summary', { first, last });
}

/** @param {Omit<Bars, 'unit'>} options */
export function byBound({ rows, ...options }) {
  const stacked = withBoundParts(rows);
  return stackedBars({ unit: 's', axis: true, summary: boundSummary(stacked, 's'), ...options, rows: stacked });
}

// Buttons of which one is pressed: what the chart shows. list: [{id, name}]
export const views = (list, chosen, choose) =>
  h(
    'div',
    { 'class': 'views', 'role': 'group', 'aria-label': t('explore.show') },
    list.map(({ id, name }) =>
      h(
        'button',
        {
          'type': 'button',
          'data-key': `ex-show-${id}`,
          'aria-pressed': String(id === chosen),
          'onclick': () => choose(id),
        },
        name,
      ),
    ),
  );
