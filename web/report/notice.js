// The line under the answers that reports an event, with a way on and a cross. A notice that disappears by itself is at
// the window's foot, so that nothing moves.
import { append, h } from '../dom.js';
import { t } from '../text/strings.js';

let hiding = 0;

export function tell(box, text, forMs = 0, action = null) {
  box.hidden = false;
  box.classList.toggle('passing', forMs > 0);
  box.replaceChildren(
    ...append(document.createDocumentFragment(), [
      text,
      ' ',
      action,
      h(
        'button',
        { 'type': 'button', 'class': 'close', 'aria-label': t('why.close'), 'onclick': () => (box.hidden = true) },
        '×',
      ),
    ]).childNodes,
  );
  clearTimeout(hiding);
  if (forMs) hiding = setTimeout(() => (box.hidden = true), forMs);
}

const UNDOABLE_MS = 15000;

// Reports the effect of an edit, with undo, until the next edit, after which the undo would lead elsewhere.
export function tellUndoable({ store, notice }, words) {
  const button = h('button', { type: 'button', class: 'link', onclick: () => store.undo() }, t('pick.undo'));
  notice(words, UNDOABLE_MS, button);
  const forget = ({ detail }) => {
    if (['scene', 'view'].includes(detail.source)) return;
    store.removeEventListener('change', forget);
    if (button.isConnected) button.parentElement.hidden = true;
  };
  store.addEventListener('change', forget);
}

// The parts of a link that could not be used: [{path, kind}] as text.
export const faultsText = (faults) =>
  t('link.bad', {
    list: faults
      .slice(0, 8)
      .map(({ path, kind }) => t(`link.${kind}`, { path }))
      .join('; '),
  });
