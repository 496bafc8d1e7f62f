// What is wrong with the inputs, under the answers.
import { h, redraw } from '../dom.js';
import { fixButtons, labelOf } from '../form/fields.js';
import { inputLabel, withLabels } from '../text/inputs.js';
import { spelledIn } from '../text/measure.js';
import { has, t } from '../text/strings.js';

// The name of an input; that of a preset is its owner's.
function nameOfInput(path) {
  const owner = path.replace(/\.preset$/, '');
  return has(`group.${owner}`) ? t(`group.${owner}`) : labelOf(owner);
}

// Issues without a field, and links to those with one.
export function showIssues(element, { issues, form, store, stale }) {
  element.hidden = issues.length === 0;
  if (element.hidden) return element.replaceChildren();
  redraw(
    element,
    h('h2', {}, issues.length === 1 ? t('issues.title.one') : t('issues.title', { count: issues.length })),
    stale && h('p', {}, t('issues.stale')),
    h(
      'ul',
      {},
      issues.map(({ path, message, fixes }) =>
        h(
          'li',
          {},
          form.has(path)
            ? h(
                'button',
                { type: 'button', class: 'link', title: path, onclick: () => form.focus(path) },
                nameOfInput(path),
              )
            : path && (inputLabel(path) ? h('b', { title: path }, inputLabel(path)) : h('code', {}, path)),
          ' ',
          spelledIn(withLabels(message)),
          fixButtons({ fixes }, store),
        ),
      ),
    ),
  );
}
