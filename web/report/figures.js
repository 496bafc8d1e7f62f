// Figures of the report with "why" beside each.
/** @import {Context} from '../types.js' */
import { h } from '../dom.js';
import { get } from '../state/paths.js';
import { bothBytes, parts, unitOf } from '../text/format.js';
import { t } from '../text/strings.js';
import { nameOf } from './names.js';
import { troubleOf } from './words.js';

// Units of figures that are valid even if a run does not fit: memory and counts.
const KNOWN_ANYWAY = ['B', 'B/token', 'count'];

// One figure: {path, name, unit}; the button asks `context.why(path)`. It is struck out if the part cannot run.
/** @param {Context} context */
export function figure(context, { path, name = nameOf(path), unit = unitOf(path) }) {
  const value = get(context.report, path);
  const { number, unit: suffix } = parts(typeof value === 'number' ? value : undefined, unit);
  const trouble = !KNOWN_ANYWAY.includes(unit) && troubleOf(context.report[path.split('.')[0]]);
  return h(
    'div',
    {
      'class': 'figure',
      'data-figure': path,
      'onpointerenter': () => context.hover(path),
      'onpointerleave': () => context.hover(null),
    },
    h('dt', {}, name),
    h(
      'dd',
      {},
      h(
        trouble ? 's' : 'span',
        { class: 'shown', title: bothBytes(value, unit) },
        number,
        suffix && h('small', {}, suffix.startsWith('/') ? suffix : `\u00a0${suffix}`),
      ),
      trouble && h('small', { class: 'trouble' }, ' ', t(`answers.trouble.${trouble}`).toLowerCase()),
      why(context, path, name),
    ),
  );
}

/** @param {Context} context */
export const why = (context, path, name) =>
  h(
    'button',
    {
      'type': 'button',
      'class': 'why',
      'data-key': `why-${path}`,
      'data-path': path,
      'aria-label': t('figure.whyOf', { title: name }),
      'onclick': () => context.why(path),
    },
    t('figure.why'),
  );

/** @param {Context} context */
export const figures = (context, list) =>
  h(
    'dl',
    { class: 'figures' },
    list.map((one) => figure(context, typeof one === 'string' ? { path: one } : one)),
  );
