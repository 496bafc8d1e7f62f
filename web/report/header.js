// The header's actions: copy the link, undo, and the menu of all others.
import { h } from '../dom.js';
import { labelOf } from '../form/fields.js';
import { linkOf } from '../state/address.js';
import { MAX_SCENARIOS } from '../state/link.js';
import { t } from '../text/strings.js';
import { pageMenu } from './menu.js';

const THEMES = ['auto', 'light', 'dark'];

function storedTheme() {
  try {
    return localStorage.getItem('theme') ?? 'auto';
  } catch {
    return 'auto';
  }
}

function applyTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem('theme', theme);
  } catch {
    // Private windows and sandboxed frames have no storage: then the choice lasts as long as the page.
  }
}

const themeName = (theme) => `${t('header.theme')}: ${t(`theme.${theme}`)}`;

function copyButton(store) {
  const field = h('input', {
    'class': 'linkfield',
    'type': 'text',
    'readonly': true,
    'aria-label': t('link.field'),
    'hidden': true,
  });
  const button = h('button', { type: 'button', class: 'lead', id: 'copy-link' }, t('header.copy'));
  button.addEventListener('click', async () => {
    const link = await linkOf(store.state);
    field.hidden = false;
    field.value = link;
    try {
      await navigator.clipboard.writeText(link);
      button.textContent = t('header.copied');
    } catch {
      field.focus();
      field.select();
      button.textContent = t('header.select');
    }
    setTimeout(() => {
      button.textContent = t('header.copy');
      if (document.activeElement !== field) field.hidden = true;
    }, 4000);
  });
  return [button, field];
}

// Takes the scenario into the comparison.
function keep(store, tell) {
  if (store.others.length >= MAX_SCENARIOS - 1) return tell(t('header.full'));
  store.setOthers([...store.others, store.inputs]);
  tell(t('header.kept', { letter: 'ABCD'[store.others.length] }), 4000);
}

// Takes the last edit back, and names it.
function undoButton({ store }) {
  const button = h('button', { type: 'button', id: 'undo', onclick: () => store.undo() }, '↶');
  const draw = () => {
    const [path, ...more] = store.undoes;
    const what = path && (path === 'compare' ? t('header.compare') : `${labelOf(path)}${more.length ? ' …' : ''}`);
    button.disabled = !path;
    button.title = what ? t('header.undo.of', { what }) : t('header.undo');
    button.setAttribute('aria-label', button.title);
  };
  store.addEventListener('change', draw);
  draw();
  return button;
}

// The skip link moves the focus; its fragment is not a state of the page.
function skip(event) {
  event.preventDefault();
  document.getElementById('scene').focus();
}

// -> where the links to the scenes of the menu stand.
export function header(element, { store, dialogs, notice }) {
  document.querySelector('.skip').addEventListener('click', skip);
  let theme = storedTheme();
  applyTheme(theme);
  const menu = pageMenu([
    { id: 'keep', name: t('header.keep'), run: () => keep(store, notice) },
    { id: 'measure', name: t('measured'), run: () => dialogs.measured(), isOff: () => store.isLocked('measured') },
    { id: 'paste', name: t('form.config'), run: () => dialogs.importModel(), isOff: () => store.isLocked('model') },
    { id: 'export', name: t('header.export'), run: () => dialogs.export() },
    {
      id: 'theme',
      name: themeName(theme),
      stays: true,
      run() {
        theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
        applyTheme(theme);
        menu.button('theme').textContent = themeName(theme);
      },
    },
    { id: 'help', name: t('help.title'), run: () => dialogs.help() },
  ]);
  element.replaceChildren(...copyButton(store), undoButton({ store }), ...menu.nodes);
  return menu.scenes;
}
