// A scenario as an exercise: a question with its answer and a hint, the answers hidden until asked for, inputs locked; the bar that says so.
// Where the link knows the right answer it is checked, with numbers for each student and a code for the teacher (state/exercise.js).
/** @import {Answering} from '../engine/answering.js' */
import { h } from '../dom.js';
import { labelOf } from '../form/fields.js';
import { codeOf, isRightChoice, isRightValue, numbersOf, triesOf } from '../state/exercise.js';
import { get } from '../state/paths.js';
import { parts, unitOf, unitSize } from '../text/format.js';
import { isBare, parse } from '../text/measure.js';
import { t } from './texts.js';

const choiceFields = (choices) =>
  choices.map((choice, i) =>
    h(
      'label',
      {},
      h('input', {
        'type': 'radio',
        'name': 'prediction',
        'id': `prediction-${i}`,
        'data-key': `prediction-${i}`,
      }),
      ' ',
      choice,
    ),
  );

const textField = (id, words) =>
  h('label', {}, words, ' ', h('input', { 'type': 'text', id, 'autocomplete': 'off', 'data-key': id }));

const valueOf = (id) => /** @type {HTMLInputElement} */ (document.getElementById(id)).value.trim();

const revealButton = (reveal) =>
  h('button', { type: 'button', class: 'primary', id: 'reveal', onclick: reveal }, t('exercise.reveal'));

// Whether the link contains the right answer; the answers are then shown after it was given.
const isChecked = ({ question, figure, right }) => Boolean(question && (figure || right));

const hintOf = (hint) =>
  hint && h('details', { 'data-key': 'hint' }, h('summary', {}, t('exercise.hint')), h('p', {}, hint));

// The typed figure in base units; a bare number is in the field's unit.
function typed(words, figure, path) {
  const plain = words.replace('$', '').trim();
  return isBare(plain) ? Number(plain.replaceAll(',', '')) * unitSize(figure, unitOf(path)) : parse(plain);
}

// The unit in which a figure is read: "ms", "$ M".
function unitRead(value, path) {
  const { number, unit } = parts(value, unitOf(path));
  return number.startsWith('$') ? `$ ${unit}`.trim() : unit;
}

// The student's name, and the numbers that follow from it.
function asksForName(view, begin) {
  const start = () => valueOf('student') && begin(valueOf('student'));
  const row = h(
    'div',
    { class: 'row' },
    textField('student', t('exercise.student')),
    h(
      'button',
      { 'type': 'button', 'class': 'primary', 'data-key': 'student-begin', 'onclick': start },
      t('exercise.begin'),
    ),
  );
  row.addEventListener('keydown', (event) => event.key === 'Enter' && start());
  return [h('p', {}, view.vary ? t('exercise.own') : t('exercise.name')), row];
}

// The answers given while the page is open, by exercise and student: {tries, isRight}.
const answeredBy = new Map();
function stateOf(view) {
  const key = JSON.stringify([view.question, view.figure, view.right, view.vary, view.student]);
  if (!answeredBy.has(key)) answeredBy.set(key, { tries: 0, isRight: false });
  return answeredBy.get(key);
}

// The answer's field and feedback; once it is right, the code and the way to the answers.
function answering(view, { core, hides, reveal }) {
  const { student, figure, choices } = view;
  const state = stateOf(view);
  const said = h('p', { role: 'status', class: 'checked' });
  function isRight() {
    if (!figure) {
      const boxes = /** @type {NodeListOf<HTMLInputElement>} */ (row.querySelectorAll('[name=prediction]'));
      const at = [...boxes].findIndex(({ checked }) => checked);
      return at < 0 ? undefined : isRightChoice(view, choices[at]);
    }
    const computed = get(core.report, figure);
    const value = typed(valueOf('prediction'), computed, figure);
    return Number.isFinite(value) ? isRightValue(value, computed) : undefined;
  }
  function say() {
    said.className = state.isRight ? 'checked right' : 'checked';
    said.replaceChildren();
    if (!state.isRight) return said.append(state.tries ? t('exercise.again') : '');
    const code = h('b', { id: 'exercise-code' }, codeOf(view, student, state.tries));
    return said.append(t('exercise.right'), ' ', code, ...(hides ? [' ', revealButton(reveal)] : []));
  }
  function check() {
    const right = isRight();
    const words = figure && valueOf('prediction');
    if (right === undefined)
      return (said.textContent = words ? t('exercise.unread', { words }) : t('exercise.nothing'));
    if (!state.isRight) Object.assign(state, { tries: state.tries + 1, isRight: right });
    return say();
  }
  const unit = figure && unitRead(get(core.report, figure) ?? 0, figure);
  const words = unit ? t('exercise.value', { unit }) : t('exercise.prediction');
  const row = h(
    'div',
    { class: 'row' },
    figure ? textField('prediction', words) : choiceFields(choices),
    h('button', { type: 'button', class: 'primary', id: 'exercise-check', onclick: check }, t('exercise.check')),
  );
  row.addEventListener('keydown', (event) => event.key === 'Enter' && event.target.matches('#prediction') && check());
  say();
  const numbers = Object.entries(numbersOf(view, student)).map(([path, value]) => `${labelOf(path)} ${value}`);
  return [h('p', {}, [t('exercise.of', { student }), ...numbers].join(' · ')), row, said];
}

// For the teacher: whether a code is that of a student.
function checksCodes(view) {
  const said = h('p', { role: 'status' });
  const check = () => {
    const tries = triesOf(view, valueOf('code-student'), valueOf('code'));
    said.textContent = tries ? t('exercise.code.right', { tries }) : t('exercise.code.wrong');
  };
  return h(
    'details',
    { 'data-key': 'codes' },
    h('summary', {}, t('exercise.codes')),
    h(
      'div',
      { class: 'row' },
      textField('code-student', t('exercise.codes.student')),
      textField('code', t('exercise.code')),
      h('button', { type: 'button', id: 'code-check', onclick: check }, t('exercise.code.check')),
    ),
    said,
    h('p', { class: 'note' }, t('exercise.codes.note')),
  );
}

// The question with a place for the reader's prediction, which stays in this page; with the right answer known, for his answer.
function asked(view, { core, begin, hides, reveal }) {
  const fields = view.choices.length ? choiceFields(view.choices) : textField('prediction', t('exercise.prediction'));
  return h(
    'fieldset',
    { class: 'asked' },
    h('legend', {}, view.question),
    !isChecked(view) ? fields : view.student ? answering(view, { core, hides, reveal }) : asksForName(view, begin),
    hintOf(view.hint),
    isChecked(view) && checksCodes(view),
  );
}

// What stands between answers and scene while the view limits the page; `revealed` once the answers were asked for, `begin(student)` opens the
// exercise with his numbers. In a frame of another page that only leaves inputs out there is nothing to say.
/** @param {{view: any, revealed: boolean, core: Answering, reveal: () => void, leave: () => void, begin: (student: string) => void}} state */
export function exerciseBar({ view, revealed, core, reveal, leave, begin }) {
  const hides = view.hidesAnswers && !revealed;
  const words = [hides && !view.question && t('exercise.hidden'), view.limits && !view.embedded && t('exercise.locked')]
    .filter(Boolean)
    .join(' ');
  return [
    view.question && asked(view, { core, begin, hides, reveal }),
    words && h('p', {}, words),
    h(
      'span',
      { class: 'row' },
      hides && !isChecked(view) && revealButton(reveal),
      !view.embedded &&
        h('button', { type: 'button', class: 'link', id: 'leave-exercise', onclick: leave }, t('exercise.leave')),
    ),
  ];
}
