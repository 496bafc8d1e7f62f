// What the views of the evidence share.
/** @import {Child, Context} from '../types.js' */
import { h } from '../dom.js';
import { hasPages } from '../host.js';
import { addressOf, inputsOf, signedShare, sourceName } from './runs.js';
import { t } from './texts.js';

export const errorCell = (error, most) =>
  h(
    'span',
    { class: 'ev-error' },
    h('i', { style: { width: `${Math.max(1, Math.min(1, Math.abs(error) / most) * 40)}px` } }),
    signedShare(error),
  );

export const sourceLink = (source) => {
  const address = addressOf(source);
  return address
    ? h('a', { href: address, target: '_blank', rel: 'noopener noreferrer', title: source.source }, sourceName(source))
    : h('span', { title: source.source }, sourceName(source));
};

export const scoreboardLink = () =>
  hasPages && h('a', { href: 'scoreboard.html', target: '_blank', rel: 'noopener' }, t('evidence.scoreboard'));

/** @param {{caption: Child, note?: Child, columns: {name: string, isText?: boolean}[], rows: Child[][], isCards?: boolean}} options */
export function evidenceTable({ caption, note, columns, rows, isCards = true }) {
  return h(
    'table',
    { class: `ev-table${isCards ? ' ev-cards' : ''}` },
    h('caption', {}, h('span', {}, caption), note && h('small', {}, note)),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        columns.map(({ name, isText }) => h('th', { scope: 'col', class: isText && 'text' }, name)),
      ),
    ),
    h(
      'tbody',
      {},
      rows.map(([head, ...cells]) =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, head),
          cells.map((cell, i) =>
            h('td', { 'data-l': columns[i + 1].name, 'class': columns[i + 1].isText && 'text' }, cell),
          ),
        ),
      ),
    ),
  );
}

/** @param {Context} context */
export const loadButton = (context, runs, run) =>
  h(
    'button',
    {
      'type': 'button',
      'class': 'ev-link',
      'data-key': `load-${run.id}`,
      'aria-label': t('evidence.load.of', { run: runs.words(run).what }),
      'onclick': () =>
        context.store.setInputs({
          ...Object.fromEntries(Object.entries(context.inputs).filter(([path]) => path.startsWith('cost'))),
          ...inputsOf(runs.known(run)),
        }),
    },
    t('evidence.load'),
  );
