// One tab stop a chart: arrows walk over its marks, Home and End jump, Enter does what a click does. The mark under the pointer
// or the focus says its label in a tip that Escape closes.
import { h, svg } from '../../dom.js';

// A group of marks; each mark is an element made by `mark`.
export const marks = (name, ...children) => svg('g', { role: 'list', 'aria-label': name, class: 'marks' }, children);

export function mark(label, attributes, ...children) {
  return svg(
    'g',
    { ...attributes, role: 'listitem', 'aria-label': label, tabindex: -1, class: `mark ${attributes?.class ?? ''}` },
    children,
  );
}

const NEXT = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export function walkable(drawing, tip) {
  const list = [...drawing.querySelectorAll('.mark')];
  if (list.length === 0) return;
  list[0].setAttribute('tabindex', 0);
  const say = (one) => {
    tip.textContent = one.getAttribute('aria-label');
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
    if (event.key in NEXT) move(list[(at + NEXT[event.key] + list.length) % list.length]);
    else if (event.key === 'Home') move(list[0]);
    else if (event.key === 'End') move(list.at(-1));
    else if (event.key === 'Enter' || event.key === ' ') list[at].dispatchEvent(new MouseEvent('click', { bubbles: true }));
    else if (event.key === 'Escape') quiet();
    else return;
    event.preventDefault();
  });
  drawing.addEventListener('focusin', (event) => event.target.closest('.mark') && say(event.target.closest('.mark')));
  drawing.addEventListener('focusout', quiet);
  drawing.addEventListener('pointerover', (event) => event.target.closest('.mark') && say(event.target.closest('.mark')));
  drawing.addEventListener('pointerleave', quiet);
}

export const tipBox = () => h('div', { class: 'tip', role: 'status', hidden: true });
