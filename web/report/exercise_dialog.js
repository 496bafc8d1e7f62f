// Makes an exercise of the present scenario: its question, what it hides and which inputs it leaves free, as a link.
import { h } from '../dom.js';
import { labelOf } from '../form/fields.js';
import { GROUPS } from '../form/layout.js';
import { openDialog } from './dialog.js';
import { t } from './texts.js';

const option = (box, words) => h('p', { class: 'check' }, h('label', {}, box, ' ', words));
const field = (words, control) => h('p', { class: 'exercise-field' }, h('label', {}, words, control));

// `linkWith(view)` -> Promise of the link to the present state with these view words.
export function openExercise(linkWith) {
  const question = h('input', { type: 'text', id: 'exercise-question', autocomplete: 'off' });
  const choices = h('textarea', { id: 'exercise-choices', rows: 3 });
  const hint = h('input', { type: 'text', id: 'exercise-hint', autocomplete: 'off' });
  const hide = h('input', { type: 'checkbox', id: 'exercise-hide', checked: true });
  const lock = h('input', { type: 'checkbox', id: 'exercise-lock', checked: true });
  const groups = GROUPS.map(({ id, first, mapping = [], load = {} }) => ({
    name: t(`group.${id}`),
    boxes: [...Object.values(load).flat(2), ...first.flat(), ...mapping].map((path) => ({
      path,
      box: h('input', { type: 'checkbox', value: path, id: `may-${path}` }),
    })),
  }));
  const out = h('textarea', { 'rows': 3, 'readonly': true, 'id': 'exercise-link', 'aria-label': t('exercise.link') });
  const status = h('p', { role: 'status', class: 'note' });
  const write = async () => {
    const open = groups.flatMap(({ boxes }) => boxes.filter(({ box }) => box.checked).map(({ path }) => path));
    const options = choices.value
      .split('\n')
      .map((one) => one.trim().replaceAll('|', '/'))
      .filter(Boolean);
    out.value = await linkWith({
      ...(question.value.trim() && {
        ask: question.value.trim(),
        ...(options.length && { choices: options.join('|') }),
        ...(hint.value.trim() && { hint: hint.value.trim() }),
      }),
      ...(hide.checked && { hide: 'answers' }),
      ...(lock.checked && { lock: 'all', ...(open.length && { show: open.join(',') }) }),
    });
  };
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(out.value);
      status.textContent = t('header.copied');
    } catch {
      out.select();
      status.textContent = t('export.select');
    }
  };
  const { dialog } = openDialog(
    t('exercise.title'),
    h('p', {}, t('exercise.lead')),
    field(t('exercise.question'), question),
    field(t('exercise.choices'), choices),
    field(t('exercise.hint'), hint),
    option(hide, t('exercise.hide')),
    option(lock, t('exercise.lock')),
    h('p', {}, t('exercise.may')),
    groups.map(({ name, boxes }) =>
      h(
        'fieldset',
        { class: 'may' },
        h('legend', {}, name),
        boxes.map(({ path, box }) => h('label', {}, box, ' ', labelOf(path))),
      ),
    ),
    out,
    h(
      'div',
      { class: 'row' },
      h('button', { type: 'button', class: 'primary', id: 'exercise-copy', onclick: copy }, t('header.copy')),
    ),
    status,
  );
  dialog.addEventListener('input', write);
  write();
}
