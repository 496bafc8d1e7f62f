// A scenario as an exercise: a question with choices and a hint, the answers hidden until asked for, inputs locked; the bar that says so.
import { h } from '../dom.js';
import { t } from '../text/strings.js';

// The question with a place for the reader's prediction, which stays in this page.
function asked({ question, choices, hint }) {
  const fields = choices.length
    ? choices.map((choice, i) =>
        h(
          'label',
          {},
          h('input', { 'type': 'radio', 'name': 'prediction', 'id': `prediction-${i}`, 'data-key': `prediction-${i}` }),
          ' ',
          choice,
        ),
      )
    : h(
        'label',
        {},
        t('exercise.prediction'),
        ' ',
        h('input', { 'type': 'text', 'id': 'prediction', 'autocomplete': 'off', 'data-key': 'prediction' }),
      );
  return h(
    'fieldset',
    { class: 'asked' },
    h('legend', {}, question),
    fields,
    hint && h('details', { 'data-key': 'hint' }, h('summary', {}, t('exercise.hint')), h('p', {}, hint)),
  );
}

// What stands between answers and scene while the view limits the page; `revealed` once the answers were asked for. In a frame of
// another page that only leaves inputs out there is nothing to say.
export function exerciseBar({ view, revealed, reveal, leave }) {
  const hides = view.hidesAnswers && !revealed;
  if (!view.hidesAnswers && !view.question && (!view.limits || view.embedded)) return [];
  const words = [hides && !view.question && t('exercise.hidden'), view.limits && !view.embedded && t('exercise.locked')]
    .filter(Boolean)
    .join(' ');
  return [
    view.question && asked(view),
    words && h('p', {}, words),
    h(
      'span',
      { class: 'row' },
      hides && h('button', { type: 'button', class: 'primary', id: 'reveal', onclick: reveal }, t('exercise.reveal')),
      !view.embedded &&
        h('button', { type: 'button', class: 'link', id: 'leave-exercise', onclick: leave }, t('exercise.leave')),
    ),
  ];
}
