// A handle on a chart that sets an input: the pointer moves it, and so do the arrow keys, ten times as far with Shift. Each answer draws the
// chart anew, so the window keeps the drag, and the chart its axes until the handle is let go.
import { svg } from '../../dom.js';

const STARTS = 3; // pixels from which a press is a drag
const KEYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

let drag = null; // {id, kept}

// State that a chart keeps while its handle is dragged, such as its axes; undefined otherwise.
export const keptOf = (id) => (drag?.id === id ? drag.kept : undefined);

/** @typedef {{id: string, kept?: object, ondrag(place: number[], start: number[], goesOn: boolean): void, onend(): void}} Drag */

// Lets the pointer drag an element of a drawing: places are [x, y] of the drawing, `goesOn` is false for the first move, and `kept` is what the
// chart keeps meanwhile.
/**
 * @param {SVGElement} element
 * @param {Drag} drag
 */
export function onDrag(element, { id, kept, ondrag, onend }) {
  // Without it, a finger's drag would become a scroll when the touched element is redrawn.
  element.addEventListener('touchstart', (event) => event.preventDefault(), { passive: false });
  element.addEventListener('pointerdown', (down) => {
    down.preventDefault();
    element.focus();
    const drawing = element.ownerSVGElement;
    const { left, top, width } = drawing.getBoundingClientRect();
    const scale = drawing.viewBox.baseVal.width / width;
    const at = ({ clientX, clientY }) => [(clientX - left) * scale, (clientY - top) * scale];
    const start = at(down);
    const over = new AbortController();
    let goesOn = false;
    const follow = (event) => {
      const place = at(event);
      if (!goesOn && Math.hypot(place[0] - start[0], place[1] - start[1]) < STARTS) return;
      drag ??= { id, kept };
      ondrag(place, start, goesOn);
      goesOn = true;
    };
    const end = () => {
      over.abort();
      drag = null;
      if (goesOn) onend();
    };
    window.addEventListener('pointermove', follow, { signal: over.signal });
    for (const last of ['pointerup', 'pointercancel']) window.addEventListener(last, end, { signal: over.signal });
  });
}

// `value`: lowest, present, highest; `onkey` is told the steps across and up.
/** @param {Drag & {label: string, text: string, value: number[], onkey(steps: number[]): void}} options */
export function handle({ id, label, text, value: [low, now, high], onkey, onend, ...dragged }, ...children) {
  const element = svg(
    'g',
    {
      'class': 'mark drag',
      'role': 'slider',
      'tabindex': -1,
      'data-key': `${id}-handle`,
      'aria-label': label,
      'aria-valuetext': text,
      'aria-valuemin': low,
      'aria-valuenow': now,
      'aria-valuemax': high,
    },
    children,
  );
  onDrag(element, { id, onend, ...dragged });
  element.addEventListener('keydown', (event) => {
    const step = KEYS[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    onkey(step.map((one) => one * (event.shiftKey ? 10 : 1)));
    onend();
  });
  return element;
}

const share = ([r0, r1], place) => Math.min(1, Math.max(0, (place - r0) / (r1 - r0)));
// The value at a place of an axis, to three digits, inside the axis.
const rounded = (value) => Number(value.toPrecision(3));
export const valueAt = (domain, range, place) => rounded(domain[0] + (domain[1] - domain[0]) * share(range, place));
export const logValueAt = (domain, range, place) => rounded(domain[0] * (domain[1] / domain[0]) ** share(range, place));

// The next value in steps of its second digit; ten such steps are one of its first digit.
export function stepped(value, steps) {
  const unit = 10 ** (Math.floor(Math.log10(value) + (steps > 0 ? 1e-9 : -1e-9)) - (Math.abs(steps) < 10 ? 1 : 0));
  const next = steps > 0 ? Math.floor(value / unit + 1e-9) + 1 : Math.ceil(value / unit - 1e-9) - 1;
  return Number((next * unit).toPrecision(6));
}
