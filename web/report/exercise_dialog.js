// Makes an exercise of the present scenario: its question, what it hides and which inputs it leaves free, as a link.
import { h } from '../dom.js';
import { figureGroups, fillSelect, select } from '../explore/controls.js';
import { labelOf } from '../form/fields.js';
import { GROUPS } from '../form/layout.js';
import { addStyle } from '../host.js';
import { digest, writeVaried } from '../state/exercise.js';
import { openDialog } from './dialog.js';
import { t } from './texts.js';

await addStyle('style/dialogs.css');

const option = (box, words) => h('p', { class: 'check' }, h('label', {}, box, ' ', words));
const field = (words, control) => h('p', { class: 'exercise-field' }, h('label', {}, words, control));

const VARIED = 2; // inputs that may differ from student to student

// Inputs with other values for each student: rows of an input and its values.
const variedRows = (groups) =>
  Array.from({ length: VARIED }, (_, i) => {
    const path = h('select', { 'id': `exercise-varied-${i}`, 'aria-label': t('exercise.varied') });
    fillSelect(path, [{ value: '', name: t('exercise.varied.none') }, ...groups], '');
    const values = h('input', {
      'type': 'text',
      'id': `exercise-values-${i}`,
      'autocomplete': 'off',
      'placeholder': t('exercise.varied.values'),
      'aria-label': t('exercise.varied'),
    });
    return { path, values, element: h('div', { class: 'row exercise-varied' }, path, values) };
  });

// The choices as they were typed, one a line; "|" parts them in the link.
const linesOf = (text) =>
  text
    .split('\n')
    .map((one) => one.trim().replaceAll('|', '/'))
    .filter(Boolean);

// What the answer is compared with: one of the choices, or a figure of the report.
function rightWords(answer, choices) {
  if (answer.startsWith('choice:')) {
    const right = choices[Number(answer.slice(7))];
    return right ? { right: digest(right) } : {};
  }
  return answer ? { figure: answer } : {};
}

// `linkWith(view)` -> Promise of the link to the present state with these view words.
export function openExercise({ core, linkWith }) {
  const { report } = core;
  const question = h('input', { type: 'text', id: 'exercise-question', autocomplete: 'off' });
  const choices = h('textarea', { id: 'exercise-choices', rows: 3 });
  const hint = h('input', { type: 'text', id: 'exercise-hint', autocomplete: 'off' });
  const hide = h('input', { type: 'checkbox', id: 'exercise-hide', checked: true });
  const lock = h('input', { type: 'checkbox', id: 'exercise-lock', checked: true });
  const asked = GROUPS.filter(({ id }) => report.scenario[id]);
  const groups = asked.map(({ id, first, mapping = [], load = {} }) => ({
    name: t(`group.${id}`),
    boxes: [...Object.values(load).flat(2), ...first.flat(), ...mapping].map((path) => ({
      path,
      box: h('input', { type: 'checkbox', value: path, id: `may-${path}` }),
    })),
  }));
  const answer = select([], '');
  answer.id = 'exercise-answer';
  // The choices stand first; what was chosen stays chosen.
  const fillAnswers = () =>
    fillSelect(
      answer,
      [
        { value: '', name: t('exercise.answer.none') },
        ...linesOf(choices.value).map((words, i) => ({
          value: `choice:${i}`,
          name: t('exercise.answer.choice', { at: i + 1, words }),
        })),
        ...(choices.value.trim() ? [] : figureGroups(report)),
      ],
      answer.value,
    );
  fillAnswers();
  const varied = variedRows(
    groups.map(({ name, boxes }) => ({
      name,
      options: boxes.map(({ path }) => ({ value: path, name: labelOf(path) })),
    })),
  );
  const out = h('textarea', { 'rows': 3, 'readonly': true, 'id': 'exercise-link', 'aria-label': t('exercise.link') });
  const status = h('p', { role: 'status', class: 'note' });
  const write = async () => {
    const open = groups.flatMap(({ boxes }) => boxes.filter(({ box }) => box.checked).map(({ path }) => path));
    const options = linesOf(choices.value);
    const vary = writeVaried(varied.map(({ path, values }) => [path.value, values.value]));
    out.value = await linkWith({
      ...(question.value.trim() && {
        ask: question.value.trim(),
        ...(options.length && { choices: options.join('|') }),
        ...(hint.value.trim() && { hint: hint.value.trim() }),
        ...rightWords(answer.value, options),
        ...(vary && { vary }),
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
    field(t('exercise.answer'), answer),
    h('p', { class: 'exercise-field' }, t('exercise.varied')),
    varied.map(({ element }) => element),
    field(t('exercise.hint'), hint),
    option(hide, t('exercise.hide')),
    option(lock, t('exercise.lock')),
    h(
      'details',
      { 'data-key': 'exercise-may' },
      h('summary', {}, t('exercise.may')),
      groups.map(({ name, boxes }) =>
        h(
          'fieldset',
          { class: 'may' },
          h('legend', {}, name),
          boxes.map(({ path, box }) => h('label', {}, box, ' ', labelOf(path))),
        ),
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
  choices.addEventListener('input', fillAnswers);
  dialog.addEventListener('input', write);
  write();
}
