// The words of a link that say how the page is shown: in a frame of another page, with answers hidden, with inputs locked.
//
//   embed=1          no header, no lessons; only the inputs of `show`, if any
//   hide=answers     figures and charts stay hidden until the visitor asks for them
//   show=PATH,PATH   the inputs that may be changed; the others are not shown
//   ask=QUESTION     an exercise's question, with choices=ONE|TWO and hint=TEXT; how its answer is checked says exercise.js
//   lock=all         the others are shown but cannot be changed; lock=PATH,PATH locks only those and what lies below them
/** @import {ViewWords} from '../types.js' */

const list = (text) => (text ?? '').split(',').filter(Boolean);
const under = (path, roots) => roots.some((root) => path === root || path.startsWith(`${root}.`));

/** @param {ViewWords} [words] */
export function viewOf({
  embed,
  hide,
  show,
  lock,
  ask = '',
  choices,
  hint = '',
  right = '',
  figure = '',
  vary = '',
  student = '',
} = {}) {
  const shown = list(show);
  const locked = list(lock);
  const all = locked.includes('all');
  const isLocked = (path) => (all ? !under(path, shown) : under(path, locked));
  return {
    embedded: embed === '1',
    hidesAnswers: list(hide).includes('answers'),
    limits: shown.length > 0 || locked.length > 0,
    locksAll: all,
    shown,
    question: ask,
    choices: (choices ?? '').split('|').filter(Boolean),
    hint,
    right,
    figure,
    vary,
    student,
    isLocked,
    isShown: (path) =>
      shown.length === 0 || all || under(path, shown) || shown.some((one) => one.startsWith(`${path}.`)),
  };
}
