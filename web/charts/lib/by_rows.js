import { columnHeads, h, scrolled } from '../../dom.js';

// A table whose rows begin with a head; where it is narrow, each cell shows the name of its column.
export const tableByRows = (title, columns, rows, name = '') =>
  scrolled(
    title,
    h(
      'table',
      { class: `plain by-rows ${name}`.trim() },
      h('caption', {}, h('span', {}, title)),
      columnHeads(columns),
      h(
        'tbody',
        {},
        rows.map(([head, ...cells]) =>
          h(
            'tr',
            {},
            h('th', { scope: 'row' }, head),
            cells.map((cell, i) => h('td', { 'data-name': columns[i + 1] }, cell)),
          ),
        ),
      ),
    ),
  );
