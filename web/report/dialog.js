// A modal dialog that closes on Escape, on its cross and on a click outside, and returns the focus.
import { h } from '../dom.js';
import { t } from '../text/strings.js';

export function openDialog(title, ...content) {
  const id = `dialog-${Math.random().toString(36).slice(2)}`;
  const close = () => dialog.close();
  const dialog = h(
    'dialog',
    { 'class': 'modal', 'aria-labelledby': id },
    h(
      'div',
      { class: 'bar' },
      h('h2', { id }, title),
      h('button', { 'type': 'button', 'class': 'close', 'aria-label': t('why.close'), 'onclick': close }, '×'),
    ),
    content,
  );
  dialog.addEventListener('click', (event) => event.target === dialog && close());
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return { dialog, close };
}
