// What every chart has around its drawing: caption with units, one sentence of summary, key, the same numbers as a table, export.
/** @import {ChartParts} from '../../types.js' */
import { columnHeads, h, scrolled, svg } from '../../dom.js';
import { text as format } from '../../text/format.js';
import { saveCsv, savePng, saveSvg } from './export.js';
import { spokenBox, tipBox, walkable } from './marks.js';
import { t } from '../texts.js';

// {id, title, subtitle, kind, summary, drawing, key: [{color|hatch|line|sign, text}], columns: [text or {name, unit}], rows: [[cell]]}; `rows` may be
// a function where they are many: then they are made when they are looked at. A cell is a text, a number, or {value, unit}: shown as people
// read it, saved as the number. `hint` says what can be done with the drawing: not on paper.
const shownColumn = (one) => one.name ?? one;
const shownCell = (cell) => (cell && typeof cell === 'object' ? format(cell.value, cell.unit) : cell);

/** @param {ChartParts} options */
export function chart({
  id,
  title,
  subtitle,
  kind,
  summary,
  drawing,
  key = [],
  columns = [],
  rows = [],
  note,
  hint,
  controls,
}) {
  const caption = h('figcaption', { id: `${id}-title` }, title, subtitle && h('small', {}, subtitle));
  const words = h('p', { class: 'summary', id: `${id}-summary` }, [note, summary].filter(Boolean).join(' '));
  drawing.setAttribute('role', 'graphics-document document');
  drawing.setAttribute('aria-roledescription', kind);
  drawing.setAttribute('aria-labelledby', `${id}-title`);
  drawing.setAttribute('aria-describedby', `${id}-summary`);
  const all = () => (typeof rows === 'function' ? rows() : rows);
  const tip = tipBox();
  const spoken = spokenBox();
  const legend = key.length
    ? h(
        'ul',
        { class: 'key' },
        key.map(({ color, hatch, ring, dashed, line, sign, text }) =>
          h(
            'li',
            {},
            sign
              ? h('b', {}, `${sign}\u2002`)
              : h('i', {
                  class: hatch ? 'swatch hatched' : ring ? 'swatch ring' : dashed ? 'swatch dashed' : 'swatch',
                  style: line
                    ? {
                        'width': '18px',
                        'height': '0',
                        'border-top': line,
                        'border-radius': '0',
                        'vertical-align': '4px',
                      }
                    : hatch || ring || dashed
                      ? {}
                      : { background: color },
                }),
            text,
          ),
        ),
      )
    : null;
  const table = () =>
    scrolled(
      title,
      h(
        'table',
        {},
        columnHeads(columns.map((one) => shownColumn(one))),
        h(
          'tbody',
          {},
          all().map(([head, ...cells]) =>
            h(
              'tr',
              {},
              h('th', { scope: 'row' }, shownCell(head)),
              cells.map((cell) => h('td', {}, shownCell(cell))),
            ),
          ),
        ),
      ),
    );
  const save = (type, run) =>
    h(
      'button',
      {
        'type': 'button',
        'class': 'link',
        'data-key': `${id}-${type}`,
        'aria-label': t('chart.save', { title, kind: type }),
        'onclick': run,
      },
      type,
    );
  const data = columns.length
    ? h(
        'details',
        {
          'class': 'data',
          'data-key': `${id}-data`,
          'ontoggle': (event) => event.target.open && event.target.querySelector('.slot').replaceChildren(table()),
        },
        h('summary', {}, t('chart.data')),
        h('div', { class: 'slot' }),
      )
    : null;
  const figure = h(
    'figure',
    { class: 'chart', id },
    caption,
    controls,
    h('div', { class: 'drawing' }, drawing, tip, spoken),
    legend,
    words,
    hint && h('p', { class: 'hint' }, hint),
    h(
      'div',
      { class: 'tools' },
      data,
      h(
        'span',
        { class: 'saves' },
        save(t('chart.svg'), () => saveSvg(drawing, title)),
        save(t('chart.png'), () => savePng(drawing, title)),
        columns.length ? save(t('chart.csv'), () => saveCsv(columns, all(), title)) : null,
      ),
    ),
  );
  walkable(drawing, tip, spoken);
  return figure;
}

// An empty drawing of a size in CSS pixels.
export const canvas = (width, height, ...children) =>
  svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height }, children);
