// The slide rule: a native range input, log scaled, under engraved ticks and a red hairline. Keys, touch and screen readers
// are the range input's own.
import { h, svg } from '../dom.js';
import { snap } from '../text/measure.js';

const STEPS = 1000;
const HEIGHT = 26;

/** @type {[number, string][]} */
const THOUSANDS = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];

// Writes 10k if the label has no room for 10,000.
function short(value) {
  const [factor, suffix] = THOUSANDS.find(([one]) => value >= one && value >= 1e4) ?? [1, ''];
  return `${(value / factor).toLocaleString('en', { maximumSignificantDigits: 3 })}${suffix}`;
}

function ticks(from, to, unitScale, x) {
  const lines = [];
  const low = from / unitScale;
  const high = to / unitScale;
  // Labels that would touch are thinned.
  const every = Math.max(1, Math.ceil((Math.log10(high / low) * 40) / Math.max(60, x(to) - x(from))));
  for (let decade = Math.floor(Math.log10(low)); decade <= Math.log10(high); decade++) {
    for (let lead = 1; lead < 10; lead++) {
      const value = lead * 10 ** decade;
      if (value < low * 0.999 || value > high * 1.001) continue;
      const at = x(value * unitScale).toFixed(1);
      const length = lead === 1 ? 13 : lead === 5 ? 10 : 7;
      lines.push(svg('line', { class: lead === 1 ? 'tick decade' : 'tick', x1: at, x2: at, y1: 2, y2: length }));
      if (lead === 1 && decade % every === 0) lines.push(svg('text', { x: at, y: 24 }, short(value)));
    }
  }
  return lines;
}

// `onslide(value)` gets base values while the hairline moves.
export function rule({ label, isCount, onslide }) {
  const input = h('input', { 'type': 'range', 'min': 0, 'max': STEPS, 'step': 1, 'aria-label': label });
  const scale = svg('g');
  const hair = svg(
    'g',
    {},
    svg('rect', { class: 'window', x: -9, y: 0, width: 18, height: 15, rx: 2 }),
    svg('line', { class: 'hair', x1: 0, x2: 0, y1: 0, y2: 16 }),
  );
  const drawing = svg('svg', { 'class': 'scale', 'aria-hidden': 'true', 'height': HEIGHT }, scale, hair);
  const element = h('div', { class: 'rule' }, drawing, input);
  let range = null;
  let drawn = '';
  let shown = 0;
  // Observed, not measured: if each rule of a form measured its width, the page would be laid out once per rule.
  let width = 300;
  new ResizeObserver(([{ contentRect }]) => {
    if (!contentRect.width || contentRect.width === width) return;
    width = contentRect.width;
    if (range) place();
  }).observe(element);
  const x = (value) =>
    7 + (width - 14) * Math.min(1, Math.max(0, Math.log(value / range.from) / Math.log(range.to / range.from)));

  input.addEventListener('input', () => {
    const raw = range.from * (range.to / range.from) ** (input.valueAsNumber / STEPS);
    let value = snap(raw, isCount);
    if (value === shown && raw !== shown) value = step(value, raw > shown, isCount);
    onslide(Math.min(range.to, Math.max(range.from, value)));
  });

  let unit = 1;
  function place() {
    const key = `${range.from} ${range.to} ${unit} ${width}`;
    if (key !== drawn) {
      scale.replaceChildren(...ticks(range.from, range.to, unit, x));
      drawing.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`);
      drawn = key;
    }
    hair.setAttribute('transform', `translate(${x(shown).toFixed(1)} 0)`);
  }

  return {
    element,
    // span {from, to} in base units; `unitScale` is what the ticks count in; `text` is the value as the field shows it.
    show(value, span, unitScale, text) {
      element.hidden = !span || !(value > 0);
      if (element.hidden) return;
      range = span;
      shown = value;
      unit = unitScale;
      place();
      input.value = String(Math.round((STEPS * Math.log(value / span.from)) / Math.log(span.to / span.from)));
      input.setAttribute('aria-valuetext', text);
    },
  };
}

// The next value up or down, for keys whose small step would snap back.
export function step(value, up, isCount) {
  if (isCount) return Math.max(1, up ? value * 2 : Math.floor(value / 2));
  for (let factor = up ? 1.05 : 0.95; factor > 0.1 && factor < 10; factor *= up ? 1.05 : 0.95) {
    const next = snap(value * factor, false);
    if (up ? next > value : next < value) return next;
  }
  return value;
}
