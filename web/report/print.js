// On paper the form is a table of changed inputs, and the foot has the link and the date.
import { h } from '../dom.js';
import { labelOf } from '../form/fields.js';
import { t } from '../text/strings.js';

// An input with the part that it is of.
export const inputName = (path) =>
  path.includes('.') ? `${t(`group.${path.split('.')[0]}`)}, ${labelOf(path)}` : t(`group.${path}`);

// `before` and `after` are elements that only paper shows.
export function paper({ inputs, link }) {
  const rows = Object.entries(inputs).filter(([path]) => path !== 'version');
  return {
    before: h(
      'table',
      { class: 'print-inputs' },
      h('caption', {}, rows.length ? t('print.inputs') : t('print.default')),
      h(
        'tbody',
        {},
        rows.map(([path, value]) => h('tr', {}, h('th', { scope: 'row' }, inputName(path)), h('td', {}, value))),
      ),
    ),
    after: h(
      'p',
      { class: 'print-foot' },
      `${link} · ${new Intl.DateTimeFormat('en', { dateStyle: 'long' }).format(new Date())}`,
    ),
  };
}
