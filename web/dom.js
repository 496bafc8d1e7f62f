// Elements without markup text: user text only ever becomes text nodes, and inline styles go through CSSOM as the CSP wants.

const SVG = 'http://www.w3.org/2000/svg';
const MATH = 'http://www.w3.org/1998/Math/MathML';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style') for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else if (name === 'value' && 'value' in element) element.value = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, children);
  return element;
}

// Strings and numbers become text, null, undefined and false nothing; lists are flattened.
export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
export const math = (tag, attributes, ...children) => fill(document.createElementNS(MATH, tag), attributes, children);

// The first row of a table.
export const columnHeads = (heads) =>
  h(
    'thead',
    {},
    h(
      'tr',
      {},
      heads.map((one) => h('th', { scope: 'col' }, one)),
    ),
  );

// A table in a region that scrolls sideways, also by keys.
export const scrolled = (title, table) =>
  h('div', { 'class': 'scroll', 'tabindex': 0, 'role': 'region', 'aria-label': title }, table);

// After the next frame; a hidden page has no frames, so it does not wait.
const behindFrame = (ms) =>
  new Promise((resolve) => (document.hidden ? resolve() : requestAnimationFrame(() => setTimeout(resolve, ms))));

// As soon as what stands now is painted.
export const seen = () => behindFrame(0);

// After the next paint, which later work then does not delay.
export const painted = () => behindFrame(100);

// Replaces an element's content and gives focus, the marked text and open details back to what has the same data-key, or to the same mark of
// a chart.
export function redraw(element, ...children) {
  /** @type {HTMLInputElement | null} */
  const active = element.contains(document.activeElement)
    ? /** @type {HTMLInputElement} */ (document.activeElement)
    : null;
  const key = /** @type {HTMLElement | null | undefined} */ (active?.closest('[data-key]'))?.dataset.key;
  const mark = active?.closest('figure[id] .mark');
  const chart = mark?.closest('figure');
  const place = mark && [...chart.querySelectorAll('.mark')].indexOf(mark);
  const marked = active?.type === 'text' && [active.selectionStart, active.selectionEnd];
  const open = new Map([...element.querySelectorAll('details[data-key]')].map((one) => [one.dataset.key, one.open]));
  element.replaceChildren();
  append(element, children);
  for (const one of element.querySelectorAll('details[data-key]')) {
    if (open.has(one.dataset.key)) one.open = open.get(one.dataset.key);
  }
  const again = mark
    ? element.querySelectorAll(`#${chart.id} .mark`)[place]
    : key && [...element.querySelectorAll('[data-key]')].find((one) => one.dataset.key === key);
  again?.focus({ preventScroll: true });
  if (marked && again?.type === 'text') again.setSelectionRange(...marked);
}
