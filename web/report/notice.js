// The line under the answers that says what happened, with a way on and a cross.
import { append, h } from '../dom.js';
import { t } from '../text/strings.js';

export function tell(box, text, forMs = 0, action = null) {
  box.hidden = false;
  box.replaceChildren(
    ...append(document.createDocumentFragment(), [
      text,
      ' ',
      action,
      h('button', { type: 'button', class: 'close', 'aria-label': t('why.close'), onclick: () => (box.hidden = true) }, '×'),
    ]).childNodes,
  );
  if (forMs) setTimeout(() => (box.hidden = true), forMs);
}

// What of a link could not be used: [{path, kind}] in words.
export const faultsText = (faults) =>
  t('link.bad', {
    list: faults
      .slice(0, 8)
      .map(({ path, kind }) => t(`link.${kind}`, { path }))
      .join('; '),
  });
