// Choices that only the scene knows of: rows of small selects and buttons over a chart.
import { h } from '../dom.js';

export const pick = (key, label, options, value, onchange) =>
  h(
    'label',
    { class: 'pick' },
    h('span', {}, label),
    h(
      'select',
      { 'data-key': key, onchange: ({ target }) => onchange(target.value) },
      options.map(({ value: one, name, group }) => h('option', { value: one, selected: one === value, disabled: group }, name)),
    ),
  );

export const press = (key, name, onclick, attributes = {}) =>
  h('button', { type: 'button', 'data-key': key, onclick, ...attributes }, name);

export const row = (...children) => h('div', { class: 'picks' }, children);

// A choice that the page remembers but the link does not.
export function chosen(context, key, standard) {
  return context.page.chosen(`chip-${key}`) ?? standard;
}
export const choose = (context, key) => (value) => context.page.choose(`chip-${key}`, value);
