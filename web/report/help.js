// Shortcuts of one key, and the dialog that lists them and turns them off. They work only where no field has the focus.
import { h } from '../dom.js';
import { SCENES } from '../scenes/index.js';
import { t } from '../text/strings.js';
import { openDialog } from './dialog.js';

const KEY = 'shortcuts';

export function shortcutsOn() {
  try {
    return localStorage.getItem(KEY) !== 'off';
  } catch {
    return !refused;
  }
}
let refused = false;

function turn(on) {
  refused = !on;
  try {
    localStorage.setItem(KEY, on ? 'on' : 'off');
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

export function openHelp() {
  const rows = [
    ['?', t('help.help')],
    [`1 – ${Math.min(9, SCENES.length)}`, t('help.scenes')],
    ['i', t('help.inputs')],
    ['c', t('help.copy')],
    ['k', t('help.keep')],
    ['e', t('help.export')],
    ['Ctrl Z', t('help.undo')],
    ['← → ↑ ↓', t('help.marks')],
    ['Enter, Esc', t('help.why')],
    ['↑ ↓ Page', t('help.field')],
  ];
  const box = h('input', { type: 'checkbox', id: 'single-keys', checked: shortcutsOn(), onchange: () => turn(box.checked) });
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

const isField = (element) => element.closest?.('input, select, textarea, [contenteditable], dialog.modal');

// What a key means here: a scene's id, 'help', 'copy', 'keep', 'export', 'inputs', 'undo', or nothing.
export function meaning(event) {
  const command = event.ctrlKey || event.metaKey;
  if (command && event.key.toLowerCase() === 'z' && !event.target.matches?.('input[type=text], textarea')) return 'undo';
  if (command || event.altKey || isField(event.target) || !shortcutsOn()) return null;
  const scene = /^\d$/.test(event.key) && SCENES[(Number(event.key) + 9) % 10]; // 0 is the tenth
  return scene ? scene.id : ({ '?': 'help', c: 'copy', k: 'keep', e: 'export', i: 'inputs' }[event.key] ?? null);
}
