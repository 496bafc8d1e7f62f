// Choices that only the scene knows of: rows of small selects and buttons over a chart.
/** @import {Context} from '../types.js' */
import { h } from '../dom.js';
import { text } from '../text/format.js';
import { inUnit } from '../text/measure.js';

export const pick = (key, label, options, value, onchange) =>
  h(
    'label',
    { class: 'pick' },
    h('span', {}, label),
    h(
      'select',
      { 'data-key': key, 'onchange': ({ target }) => onchange(target.value) },
      options.map(({ value: one, name, group }) =>
        h('option', { value: one, selected: one === value, disabled: group }, name),
      ),
    ),
  );

// A field whose value applies on leaving it or on Enter.
export const typed = (key, label, value, ontake) =>
  h(
    'label',
    { class: 'pick' },
    h('span', {}, label),
    h('input', {
      'type': 'text',
      'data-key': key,
      value,
      'autocomplete': 'off',
      'onchange': ({ target }) => target.value.trim() && ontake(target.value),
    }),
  );

// The same for a quantity; a bare number is in its unit. `written`: a text that is no value of it, which stays to be corrected.
export const typedMeasure = (key, label, value, unit, ontake, written = undefined) =>
  typed(key, label, written ?? text(value, unit).replace('\u00a0', ' '), (entry) =>
    ontake(inUnit(entry.trim().replace('²', '^2'), unit)),
  );

export const press = (key, name, onclick, attributes = {}) =>
  h('button', { 'type': 'button', 'data-key': key, onclick, ...attributes }, name);

export const row = (...children) => h('div', { class: 'picks' }, children);

// A choice that the page remembers but the link does not.
/** @param {Context} context */
export function chosen(context, key, standard) {
  return context.stage.chosen(`chip-${key}`) ?? standard;
}
/** @param {Context} context */
export const choose = (context, key) => (value) => context.stage.choose(`chip-${key}`, value);
