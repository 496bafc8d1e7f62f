// Figures of the report with "why" beside each.
/** @import {Context} from '../types.js' */
import { h } from '../dom.js';
import { get } from '../state/paths.js';
import { bothBytes, parts, unitOf } from '../text/format.js';
import { t } from '../text/strings.js';
import { nameOf } from './names.js';

// One figure: {path, name, unit}; the button asks `context.why(path)`.
/** @param {Context} context */
export function figure(context, { path, name = nameOf(path), unit = unitOf(path) }) {
  const value = get(context.report, path);
  const { number, unit: suffix } = parts(typeof value === 'number' ? value : undefined, unit);
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
        'span',
        { class: 'shown', title: bothBytes(value, unit) },
        number,
        suffix && h('small', {}, suffix.startsWith('/') ? suffix : `\u00a0${suffix}`),
      ),
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
