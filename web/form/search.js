// Finds an input by words of its label, path or help, and goes to its field.
import { h } from '../dom.js';
import { t } from '../text/strings.js';
import { labelIn } from './fields.js';

const MOST = 30;

// The inputs that hold every word: those of that name ("batch") first, then those that hold all in their label, then in their path, then in their help; the common before
// the advanced. `inputs`: [{path, label, group, help, advanced}].
export function found(inputs, typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const holds = (text) => words.every((word) => text.includes(word));
  const rank = ({ path, label, group, help = '' }) => {
    const named = `${label} ${group}`.toLowerCase();
    const isMember = path.split('.').at(-1) === words.join('_');
    return [isMember, holds(named), holds(`${named} ${path}`), holds(`${named} ${path} ${help.toLowerCase()}`)].indexOf(true);
  };
  return inputs
    .map((one) => ({ ...one, rank: rank(one) }))
    .filter((one) => one.rank >= 0)
    .sort((a, b) => a.rank - b.rank || Boolean(a.advanced) - Boolean(b.advanced));
}

// `inputsNow()` -> {inputs (those that have a field), scenario}; `goTo(path)`.
export function searchBox({ inputsNow, goTo }) {
  const list = h('ul', { role: 'listbox', id: 'form-found', 'aria-label': t('form.found') });
  const none = h('p', { class: 'note', role: 'status' });
  let shown = [];
  let at = 0;
  const box = h('input', {
    type: 'text',
    id: 'form-search',
    role: 'combobox',
    'aria-expanded': 'false',
    'aria-controls': 'form-found',
    'aria-autocomplete': 'list',
    'aria-label': t('form.search'),
    placeholder: t('form.search'),
    autocomplete: 'off',
    spellcheck: 'false',
    oninput: () => draw(),
  });
  function mark(next) {
    at = Math.max(0, Math.min(shown.length - 1, next));
    shown.forEach(({ element }, i) => element.setAttribute('aria-selected', i === at));
    if (shown[at]) box.setAttribute('aria-activedescendant', shown[at].element.id);
    else box.removeAttribute('aria-activedescendant');
    shown[at]?.element.scrollIntoView({ block: 'nearest' });
  }
  function clear() {
    box.value = '';
    draw();
  }
  function take({ path }) {
    clear();
    goTo(path);
  }
  function draw() {
    const typed = box.value.trim();
    const { inputs, scenario } = inputsNow();
    const all = typed ? found(inputs.map(({ path, help, advanced }) => ({ path, help, advanced, label: labelIn(scenario, path), group: t(`group.${path.split('.')[0]}`) })), typed) : [];
    shown = all.slice(0, MOST).map((one, i) => ({
      ...one,
      element: h('li', { role: 'option', id: `found-${i}`, onclick: () => take(one) }, h('span', {}, one.label), h('small', {}, one.group), h('code', {}, one.path)),
    }));
    list.replaceChildren(...shown.map(({ element }) => element));
    none.textContent = !typed ? '' : all.length === 0 ? t('form.search.none') : all.length > MOST ? t('form.search.more', { count: all.length - MOST }) : '';
    box.setAttribute('aria-expanded', shown.length > 0);
    list.hidden = shown.length === 0;
    mark(0);
  }
  box.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') mark(at + 1);
    else if (event.key === 'ArrowUp') mark(at - 1);
    else if (event.key === 'Enter' && shown[at]) take(shown[at]);
    else if (event.key === 'Escape' && box.value) clear();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  list.hidden = true;
  return h('div', { class: 'find', role: 'search' }, box, list, none);
}
