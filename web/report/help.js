// The dialog that lists the shortcuts and turns those of one key off.
import { h } from '../dom.js';
import { openDialog } from './dialog.js';
import { shortcutsOn, turnShortcuts } from './shortcuts.js';
import { t } from './texts.js';

export function openHelp() {
  const rows = [
    ['?', t('help.help')],
    ['1 – 9, 0', t('help.scenes')],
    ['i', t('help.inputs')],
    ['c', t('help.copy')],
    ['k', t('help.keep')],
    ['e', t('help.export')],
    ['Ctrl Z', t('help.undo')],
    ['← → ↑ ↓', t('help.marks')],
    ['Enter, Esc', t('help.why')],
    ['↑ ↓ Page', t('help.field')],
  ];
  const box = h('input', {
    type: 'checkbox',
    id: 'single-keys',
    checked: shortcutsOn(),
    onchange: () => turnShortcuts(box.checked),
  });
  openDialog(
    t('help.title'),
    h('p', {}, t('help.lead')),
    h(
      'table',
      { class: 'keys' },
      h(
        'tbody',
        {},
        rows.map(([keys, words]) => h('tr', {}, h('th', { scope: 'row' }, h('kbd', {}, keys)), h('td', {}, words))),
      ),
    ),
    h('p', { class: 'check' }, h('label', {}, box, ' ', t('help.single'))),
  );
}
