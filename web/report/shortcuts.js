// Shortcuts of one key. They work only where no field has the focus.
import { SCENES } from '../scenes/index.js';

const KEY = 'shortcuts';

export function shortcutsOn() {
  try {
    return localStorage.getItem(KEY) !== 'off';
  } catch {
    return !refused;
  }
}
let refused = false;

export function turnShortcuts(on) {
  refused = !on;
  try {
    localStorage.setItem(KEY, on ? 'on' : 'off');
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

const isField = (element) => element.closest?.('input, select, textarea, [contenteditable], dialog.modal');

// What a key means here: a scene's id, 'help', 'copy', 'keep', 'export', 'inputs', 'undo', or nothing.
export function meaning(event) {
  const command = event.ctrlKey || event.metaKey;
  if (command && event.key.toLowerCase() === 'z' && !event.target.matches?.('input[type=text], textarea'))
    return 'undo';
  if (command || event.altKey || isField(event.target) || !shortcutsOn()) return null;
  const scene = /^\d$/.test(event.key) && SCENES[(Number(event.key) + 9) % 10]; // 0 is the tenth
  return scene
    ? scene.id
    : ({ '?': 'help', 'c': 'copy', 'k': 'keep', 'e': 'export', 'i': 'inputs' }[event.key] ?? null);
}
