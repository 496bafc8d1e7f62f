// A scenario as an exercise: the answers hidden until asked for, inputs locked; the bar that says so, and the dialog that makes one.
import { h } from '../dom.js';
import { labelOf } from '../form/fields.js';
import { GROUPS } from '../form/layout.js';
import { t } from '../text/strings.js';
import { openDialog } from './dialog.js';

// What stands between answers and scene while the view limits the page; `revealed` once the answers were asked for.
export function exerciseBar({ view, revealed, reveal, leave }) {
  if (!view.hidesAnswers && !view.limits) return [];
  const words = [view.hidesAnswers && !revealed && t('exercise.hidden'), view.limits && t('exercise.locked')].filter(Boolean).join(' ');
  return [
    h('p', {}, words || t('exercise.shown')),
    h(
      'span',
      { class: 'row' },
      view.hidesAnswers &&
        !revealed &&
        h('button', { type: 'button', class: 'primary', id: 'reveal', onclick: reveal }, t('exercise.reveal')),
      h('button', { type: 'button', class: 'link', id: 'leave-exercise', onclick: leave }, t('exercise.leave')),
    ),
  ];
}

// `linkWith(view)` -> Promise of the link to the present state with these view words.
export function openExercise(linkWith) {
  const hide = h('input', { type: 'checkbox', id: 'exercise-hide', checked: true });
  const lock = h('input', { type: 'checkbox', id: 'exercise-lock', checked: true });
  const boxes = GROUPS.flatMap(({ id, first }) =>
    first.flat().map((path) => ({ path, box: h('input', { type: 'checkbox', value: path, id: `may-${path}` }), group: t(`group.${id}`) })),
  );
  const out = h('textarea', { rows: 3, readonly: true, id: 'exercise-link', 'aria-label': t('exercise.link') });
  const status = h('p', { role: 'status', class: 'note' });
  const write = async () => {
    const open = boxes.filter(({ box }) => box.checked).map(({ path }) => path);
    out.value = await linkWith({
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
  const option = (box, words) => h('p', { class: 'check' }, h('label', {}, box, ' ', words));
  const { dialog } = openDialog(
    t('exercise.title'),
    h('p', {}, t('exercise.lead')),
    option(hide, t('exercise.hide')),
    option(lock, t('exercise.lock')),
    h(
      'fieldset',
      { class: 'may' },
      h('legend', {}, t('exercise.may')),
      boxes.map(({ path, box, group }) => h('label', {}, box, ' ', path.includes('.') ? labelOf(path) : group)),
    ),
    out,
    h('div', { class: 'row' }, h('button', { type: 'button', class: 'primary', id: 'exercise-copy', onclick: copy }, t('header.copy'))),
    status,
  );
  dialog.addEventListener('change', write);
  write();
}
