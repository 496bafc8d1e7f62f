// A drawing as a file of its own, colours and fonts resolved; a table as CSV that no spreadsheet takes for a formula.
import { h, svg } from '../../dom.js';

const PAINT = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'opacity',
  'font-size',
  'font-weight',
  'font-family',
  'text-anchor',
];

// A copy whose appearance no longer depends on the page's style sheets.
function painted(element) {
  const copy = element.cloneNode(true);
  const from = [element, ...element.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((one, i) => {
    const style = getComputedStyle(from[i]);
    for (const name of PAINT) {
      const value = style.getPropertyValue(name);
      if (value && !(value.startsWith('url') && name === 'stroke'))
        one.setAttribute(name, value.replace(/url\("?[^#]*#([^")]*)"?\)/, 'url(#$1)'));
    }
    for (const name of ['class', 'tabindex', 'style']) one.removeAttribute(name);
  });
  return copy;
}

function standalone(drawing) {
  const copy = painted(drawing);
  const { width, height } = drawing.viewBox.baseVal;
  const hatch = document.getElementById('hatch');
  if (hatch && copy.querySelector('[fill*="#hatch"]')) copy.prepend(svg('defs', {}, painted(hatch)));
  copy.prepend(svg('rect', { width, height, fill: getComputedStyle(document.body).backgroundColor }));
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', width);
  copy.setAttribute('height', height);
  return new XMLSerializer().serializeToString(copy);
}

const nameOf = (title) =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60) || 'chart';

export function save(blob, name) {
  const url = URL.createObjectURL(blob);
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

export function saveSvg(drawing, title) {
  save(new Blob([standalone(drawing)], { type: 'image/svg+xml' }), `${nameOf(title)}.svg`);
}

export async function savePng(drawing, title) {
  const { width, height } = drawing.viewBox.baseVal;
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(drawing))}`;
  await image.decode();
  const sheet = h('canvas', { width: width * 2, height: height * 2 });
  sheet.getContext('2d').drawImage(image, 0, 0, width * 2, height * 2);
  sheet.toBlob((blob) => save(blob, `${nameOf(title)}.png`));
}

const UNIT_SCALE = { '%': 100 };
const isFigure = (cell) => cell !== null && typeof cell === 'object';
const unitOfColumn = (column, at, rows) => column.unit ?? rows.map((row) => row[at]).find(isFigure)?.unit ?? '';
const headOf = (column, unit) => `${column.name ?? column}${unit && unit !== 'count' ? ` (${unit})` : ''}`;

// RFC 4180. Figures as plain numbers, their unit in the head of the column; a text that a spreadsheet would run as a formula gets an
// apostrophe.
export function csv(columns, rows) {
  const raw = (value) => {
    if (!isFigure(value)) return value ?? '';
    return Number.isFinite(value.value) ? Number((value.value * (UNIT_SCALE[value.unit] ?? 1)).toPrecision(12)) : '';
  };
  const cell = (value) => {
    const text = String(raw(value));
    const safe = /^[=+\-@\t]/.test(text) && !Number.isFinite(Number(text)) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const heads = columns.map((column, at) => headOf(column, unitOfColumn(column, at, rows)));
  return [heads, ...rows].map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';
}

export function saveCsv(columns, rows, title) {
  save(new Blob(['\ufeff', csv(columns, rows)], { type: 'text/csv' }), `${nameOf(title)}.csv`);
}
