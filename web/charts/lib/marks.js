// One tab stop a chart: left and right walk over its marks, up and down over its series, Home and End jump, Enter does what a click does. The mark under the pointer
// or the focus says its label in a tip that Escape closes.
import { h, svg } from '../../dom.js';

// A group of marks; each mark is an element made by `mark`.
export const marks = (name, ...children) =>
  svg('g', { 'role': 'list', 'aria-label': name, 'class': 'marks' }, children);

export function mark(label, attributes, ...children) {
  return svg(
    'g',
    {
      ...attributes,
      'role': 'listitem',
      'aria-label': label,
      'tabindex': -1,
      'class': `mark ${attributes?.class ?? ''}`,
    },
    children,
  );
}

const ALONG = { ArrowRight: 1, ArrowLeft: -1 };
const ACROSS = { ArrowDown: 1, ArrowUp: -1 };
const SAY_MS = 150;

// The nearest mark of the next series; with a single series, the next mark.
function across(list, from, step) {
  const series = [...new Set(list.map((one) => one.dataset.series))];
  if (series.length < 2) return list[(list.indexOf(from) + step + list.length) % list.length];
  const wanted = series[(series.indexOf(from.dataset.series) + step + series.length) % series.length];
  const middle = (one) => {
    const { left, width } = one.getBoundingClientRect();
    return left + width / 2;
  };
  const here = middle(from);
  const others = list.filter((one) => one.dataset.series === wanted);
  return others.reduce(
    (best, one) => (Math.abs(middle(one) - here) < Math.abs(middle(best) - here) ? one : best),
    others[0],
  );
}

// `tip` is shown beside the mark, `spoken` read out when the focus has come to rest.
export function walkable(drawing, tip, spoken) {
  // A handle comes last, reached with End: on it the arrow keys move what it sets.
  const isHandle = (one) => Number(one.getAttribute('role') === 'slider');
  const list = [...drawing.querySelectorAll('.mark')].sort((a, b) => isHandle(a) - isHandle(b));
  if (list.length === 0) return;
  list[0].setAttribute('tabindex', 0);
  const wordsOf = (one) =>
    [one.getAttribute('aria-label'), one.getAttribute('aria-valuetext')].filter(Boolean).join(': ');
  const say = (one) => {
    tip.textContent = wordsOf(one);
    tip.hidden = false;
    const frame = tip.offsetParent?.getBoundingClientRect();
    const box = one.getBoundingClientRect();
    if (!frame) return;
    const left = Math.min(
      Math.max(0, box.left + box.width / 2 - frame.left - tip.offsetWidth / 2),
      Math.max(0, frame.width - tip.offsetWidth),
    );
    tip.style.setProperty('left', `${left}px`);
    tip.style.setProperty('top', `${box.top - frame.top - tip.offsetHeight - 6}px`);
  };
  const quiet = () => (tip.hidden = true);
  const move = (to) => {
    for (const one of list) one.setAttribute('tabindex', one === to ? 0 : -1);
    to.focus();
  };
  drawing.addEventListener('keydown', (event) => {
    const at = list.indexOf(event.target.closest?.('.mark'));
    if (at < 0) return;
    if (event.key in ALONG) move(list[(at + ALONG[event.key] + list.length) % list.length]);
    else if (event.key in ACROSS) move(across(list, list[at], ACROSS[event.key]));
    else if (event.key === 'Home') move(list[0]);
    else if (event.key === 'End') move(list.at(-1));
    else if (event.key === 'Enter' || event.key === ' ')
      list[at].dispatchEvent(new MouseEvent('click', { bubbles: true }));
    else if (event.key === 'Escape') quiet();
    else return;
    event.preventDefault();
  });
  let soon = 0;
  drawing.addEventListener('focusin', (event) => {
    const one = event.target.closest('.mark');
    if (!one) return;
    say(one);
    clearTimeout(soon);
    soon = setTimeout(() => (spoken.textContent = wordsOf(one)), SAY_MS);
  });
  drawing.addEventListener('focusout', quiet);
  drawing.addEventListener(
    'pointerover',
    (event) => event.target.closest('.mark') && say(event.target.closest('.mark')),
  );
  drawing.addEventListener('pointerleave', quiet);
}

export const tipBox = () => h('div', { 'class': 'tip', 'aria-hidden': 'true', 'hidden': true });
export const spokenBox = () => h('div', { class: 'visually-hidden spoken', role: 'status' });
