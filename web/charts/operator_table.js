// The operators of a pass by their share of it, as a table with bars.
import { columnHeads, h } from '../dom.js';
import { number, text, whole } from '../text/format.js';
import { t } from './texts.js';

const WORK = {
  gemm: 'gemm',
  attention: 'attention',
  communication: 'reduce',
  small_kernels: 'launch',
  scheduler: 'scheduler',
};
const FAINT = 1e-3; // a share of which the digits say nothing
const MICRO = 1e6;
const MILLI = 1e3;
const each = (seconds) =>
  seconds >= 1e-3 ? `${number(seconds * MILLI)}\u00a0ms` : `${number(seconds * MICRO)}\u00a0µs`;

export function operatorTable({ title, subtitle, operators }) {
  const total = operators.reduce((sum, { time_s: time, count }) => sum + time * count, 0);
  const rows = operators
    .map((one) => ({ ...one, share: (one.time_s * one.count) / total }))
    .sort((a, b) => b.share - a.share);
  const most = rows[0]?.share ?? 1;
  const bar = ({ share, work }) =>
    h(
      'span',
      { 'class': 'share-bar', 'aria-hidden': 'true' },
      h('i', { style: { width: `${(100 * share) / most}%`, background: `var(--c-${WORK[work]})` } }),
    );
  return h(
    'div',
    { 'class': 'operators', 'tabindex': 0, 'role': 'region', 'aria-label': title },
    h(
      'table',
      {},
      h('caption', {}, title, h('small', {}, subtitle)),
      columnHeads(['operator', 'calls', 'part', 'bound'].map((one) => t(`operators.${one}`))),
      h(
        'tbody',
        {},
        rows.map((one) =>
          h(
            'tr',
            {},
            h('th', { scope: 'row' }, one.name),
            h('td', {}, `${whole(one.count)}\u00a0× ${each(one.time_s)}`),
            h('td', {}, one.share < FAINT ? `< ${text(FAINT, '%')}` : text(one.share, '%'), bar(one)),
            h('td', {}, t(`bound.short.${one.bound}`)),
          ),
        ),
      ),
    ),
  );
}
