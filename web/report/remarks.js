// Under the answers: substitutions for what was requested, and inputs that are assumed without a measurement.
import { h, redraw, svg } from '../dom.js';
import { labelOf } from '../form/fields.js';
import { t } from '../text/strings.js';

const PART = /^(training|serving|cost)(?=[:.])(: )?/;

const icon = () =>
  svg(
    'svg',
    { 'class': 'icon', 'width': 15, 'height': 15, 'viewBox': '0 0 16 16', 'aria-hidden': 'true' },
    svg('circle', { 'cx': 8, 'cy': 8, 'r': 7, 'fill': 'none', 'stroke': 'currentColor', 'stroke-width': 1.4 }),
    svg('path', { 'd': 'M8 4v5M8 11v1.4', 'stroke': 'currentColor', 'stroke-width': 1.6 }),
  );

// A warning and the part that it names at its start: "serving: x" is {part: 'serving', text: 'x'}.
export function remarkOf(warning) {
  const [start, part] = PART.exec(warning) ?? [''];
  return { part, text: start.endsWith(': ') ? warning.slice(start.length) : warning };
}

const way = (path, key, words, form) =>
  h(
    'button',
    { 'type': 'button', 'class': 'link', 'data-key': `${key}-${path}`, 'onclick': () => form.focus(path) },
    words,
  );

// A warning may end with an input: "…: training.mapping.expert_tp 8". Its pieces are texts, and {path, text} for an
// input of the form.
export function withField(warning, form) {
  const [, before, path, value] = /^(.*: )([\w.]+\.\w+) (\S+)$/.exec(warning) ?? [];
  return path && form.has(path) ? [before, { path, text: `${labelOf(path)} ${value}` }] : [warning];
}

// The assumed inputs of a part, folded: how many, then which, each a way to its field.
function assumed(part, paths, form) {
  const words = part === 'cost' ? 'remarks.estimated' : 'remarks.assumed';
  const input = (path) =>
    form.has(path) ? way(path, `assumed-${part}`, labelOf(path), form) : h('span', { title: path }, labelOf(path));
  return h(
    'li',
    { 'data-assumed': part },
    icon(),
    h(
      'details',
      { 'data-key': `assumed-${part}` },
      h('summary', {}, h('b', {}, t(`group.${part}`)), ' ', t(words, { count: paths.length })),
      h('p', {}, t(`${words}.why`)),
      h(
        'ul',
        {},
        paths.map((path) => h('li', {}, input(path))),
      ),
    ),
  );
}

export function showRemarks(element, { warnings = [], training, serving, cost }, form) {
  const shown = (piece) => (piece.path ? way(piece.path, 'remark', piece.text, form) : piece);
  const warned = warnings
    .map(remarkOf)
    .map(({ part, text }) =>
      h(
        'li',
        {},
        icon(),
        h('span', {}, part && [h('b', {}, `${t(`group.${part}`)}:`), ' '], withField(text, form).map(shown)),
      ),
    );
  // Every bill of materials has an estimate or two, which the report lists; only wholly estimated bills are shown here.
  const made = cost?.assumed?.includes('cost.device') && cost;
  const rests = Object.entries({ training, serving, cost: made }).filter(([, report]) => report?.assumed?.length);
  const items = [...warned, ...rests.map(([part, report]) => assumed(part, report.assumed, form))];
  element.hidden = items.length === 0;
  redraw(element, items.length > 0 && h('ul', {}, items));
}
