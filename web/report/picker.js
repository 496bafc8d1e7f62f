// The pickers of the sentence's nouns: a list to search, or a count as a field with its slide rule. Fetched when first opened.
/** @import {Entry, Json} from '../types.js' */
import { plainName } from '../commands/checkpoints.js';
import { h } from '../dom.js';
import { withLoad } from '../form/load.js';
import { rule, step } from '../form/rule.js';
import { addStyle } from '../host.js';
import { get } from '../state/paths.js';
import { text, whole } from '../text/format.js';
import { inputText } from '../text/inputs.js';
import { countIn, unitIn } from '../text/measure.js';
import { goal } from './goal.js';
import { clusterOptions, deviceOptions, modelOptions } from './picker_options.js';
import { taskChosen, taskOptions, withTaskPicked } from './tasks.js';
import { t } from './texts.js';

await addStyle('style/dialogs.css');

const EDGE = 12; // px kept free at the sides of the window
const LOW = 320; // px: with less room below it a panel stands at the bottom of the window

// A panel under the noun; light dismissal and Escape close it, and the focus goes back to the noun. `onescape` restores.
function panel(noun, name, onescape, ...content) {
  const box = h('div', { 'class': 'picker', 'popover': 'auto', 'role': 'dialog', 'aria-label': name }, content);
  const key = noun.dataset.key;
  /** @returns {HTMLElement | null} */
  const current = () => document.querySelector(`[data-key="${key}"]`);
  document.body.append(box);
  current()?.setAttribute('aria-expanded', 'true');
  box.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    onescape?.();
    box.hidePopover();
  });
  box.addEventListener('toggle', ({ newState }) => {
    if (newState !== 'closed') return;
    const hadFocus = box.contains(document.activeElement) || document.activeElement === document.body;
    box.remove();
    current()?.setAttribute('aria-expanded', 'false');
    if (hadFocus) current()?.focus();
  });
  box.showPopover();
  const at = noun.getBoundingClientRect();
  const left = Math.max(EDGE, Math.min(at.left, document.documentElement.clientWidth - box.offsetWidth - EDGE));
  box.style.setProperty('left', `${left}px`);
  const below = window.innerHeight - at.bottom - 2 * EDGE;
  if (below < LOW) box.style.setProperty('max-height', `${window.innerHeight - 2 * EDGE}px`);
  else box.style.setProperty('max-height', `${below}px`);
  box.style.setProperty(
    'top',
    `${below < LOW ? Math.max(EDGE, window.innerHeight - box.offsetHeight - EDGE) : at.bottom + 6}px`,
  );
  return () => box.hidePopover();
}

// options: [{id, name, note, group, words}]; `onpick(id)`; with `search` a field filters by every word typed.
/**
 * @param {HTMLElement} noun
 * @param {{name: string, options: Json[], chosen: string, search?: string, onpick(id: string): void}} options
 */
function listPicker(noun, { name, options, chosen, search, onpick }) {
  const list = h('ul', {
    'role': 'listbox',
    'id': 'picker-list',
    'aria-label': name,
    'tabindex': search ? undefined : 0,
  });
  const none = h('p', { class: 'note', hidden: true }, t('picker.none'));
  /** @type {Json[]} */
  let shown = [];
  let at = 0;
  const box = search
    ? h('input', {
        'type': 'text',
        'class': 'search',
        'role': 'combobox',
        'aria-expanded': 'true',
        'aria-controls': 'picker-list',
        'aria-autocomplete': 'list',
        'aria-label': search,
        'placeholder': search,
        'autocomplete': 'off',
        'spellcheck': 'false',
        'oninput': () => draw(box.value),
      })
    : list;

  function mark(next, block = 'nearest') {
    at = Math.max(0, Math.min(shown.length - 1, next));
    shown.forEach(({ element }, i) => element.setAttribute('aria-selected', i === at));
    const { element } = shown[at] ?? {};
    if (element) box.setAttribute('aria-activedescendant', element.id);
    else box.removeAttribute('aria-activedescendant');
    element?.scrollIntoView({ block });
  }
  function take(id) {
    close();
    if (id !== chosen) onpick(id);
  }
  function draw(typed = '') {
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = options.filter((one) => words.every((word) => one.words.includes(word)));
    shown = kept.map((one, i) => ({
      ...one,
      element: h(
        'li',
        {
          role: 'option',
          id: `picker-${i}`,
          class: one.id === chosen ? 'chosen' : undefined,
          onclick: () => take(one.id),
        },
        h('span', {}, one.name),
        h('small', {}, one.note),
      ),
    }));
    const groups = [...new Set(shown.map(({ group }) => group))];
    list.replaceChildren(
      ...groups.flatMap((group) => [
        ...(group ? [h('li', { role: 'presentation', class: 'head' }, group)] : []),
        ...shown.filter((one) => one.group === group).map(({ element }) => element),
      ]),
    );
    // In the order of display, along which the arrows move.
    shown = groups.flatMap((group) => shown.filter((one) => one.group === group));
    none.hidden = shown.length > 0;
    // The exact name, else the first with a word that begins so: H200 before GH200.
    const exact = shown.findIndex(({ name: one }) => plainName(one) === plainName(typed)),
      begun = shown.findIndex(({ name: one }) => ` ${one.toLowerCase()}`.includes(` ${words[0]}`));
    const nearest = exact >= 0 ? exact : Math.max(0, begun);
    mark(words.length ? nearest : shown.findIndex(({ id }) => id === chosen), 'center');
  }
  // Without a search field, letters go to the next option that begins with them and are not shortcuts of the page.
  let letters = '';
  const begins = (place) => shown[place % shown.length].name.toLowerCase().startsWith(letters);
  function seek(letter) {
    const places = [...shown.keys()].map((i) => at + i);
    letters += letter.toLowerCase();
    let found = letters.length > 1 ? places.find(begins) : undefined;
    if (found === undefined) {
      letters = letter.toLowerCase();
      found = places.map((place) => place + 1).find(begins);
    }
    if (found !== undefined) mark(found % shown.length);
  }
  const keys = {
    ArrowDown: () => at + 1,
    ArrowUp: () => at - 1,
    PageDown: () => at + 8,
    PageUp: () => at - 8,
    ...(box === list && { Home: () => 0, End: () => shown.length - 1 }),
  };
  box.addEventListener('keydown', (event) => {
    const isLetter = box === list && event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (keys[event.key]) mark(keys[event.key]());
    else if (event.key === 'Enter' && shown[at]) take(shown[at].id);
    else if (isLetter) seek(event.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const close = panel(noun, name, null, box === list ? null : box, list, none);
  draw();
  box.focus();
}

// Serving devices are part of the cluster, which grows with them. `goesOn` and the return value are those of Store.set.
function setCount({ store, report }, path, count, goesOn) {
  if (path === 'serving.concurrency') {
    store.setInputs(withLoad(store.inputs, 'concurrency', report.serving, String(count)), store.sub, goesOn);
    return true;
  }
  const isMore = path === 'serving.devices' && count > report.scenario.cluster.devices;
  if (!isMore) return store.set(path, inputText(path, count), goesOn);
  store.setInputs({ ...store.inputs, [path]: String(count), 'cluster.devices': String(count) }, store.sub, goesOn);
  return true;
}

function countPicker(noun, { path, core, store, now }) {
  const before = store.inputs;
  const name = t(`picker.${path}`);
  const isTokens = path === 'training.tokens';
  const shownAs = (value) => (isTokens ? text(value, ' tokens') : String(value));
  const typed = () => countIn(field.value, isTokens ? unitIn(shownAs(now)) : '');
  const fault = h('p', { class: 'note', role: 'status' });
  const field = h('input', {
    type: 'text',
    id: 'picker-count',
    inputmode: isTokens ? undefined : 'decimal',
    autocomplete: 'off',
  });
  field.value = shownAs(now);
  let goesOn = false; // for undo all until it closes is one edit
  const range = isTokens ? { from: 1e9, to: 1e14 } : { from: 1, to: 32768 };
  const slide = rule({
    label: t('form.slider', { label: name }),
    isCount: !isTokens,
    onslide: (value) => take(value, true),
  });
  function draw(value) {
    slide.show(Math.max(range.from, Math.min(range.to, value)), range, 1, shownAs(value));
  }
  function take(value, fromRule) {
    if (!(value >= 1)) return;
    if (fromRule) field.value = shownAs(value);
    draw(value);
    goesOn = setCount({ store, report: core.report }, path, Math.round(value), goesOn) || goesOn;
  }
  field.addEventListener('input', () => {
    const value = typed();
    const isWrong = field.value.trim() !== '' && value === undefined;
    field.setAttribute('aria-invalid', String(isWrong));
    fault.textContent = isWrong ? t('goal.wrong', { example: isTokens ? shownAs(now) : whole(now) }) : '';
    take(value);
  });
  field.addEventListener('keydown', (event) => {
    const value = typed();
    if (event.key === 'Enter') {
      event.preventDefault(); // else it presses the noun, to which the focus goes back
      close();
    } else if (['ArrowUp', 'ArrowDown'].includes(event.key) && value) {
      event.preventDefault();
      take(step(value, event.key === 'ArrowUp', !isTokens), true);
    }
  });
  const close = panel(
    noun,
    name,
    () => store.inputs !== before && store.setInputs(before),
    h('label', { for: 'picker-count' }, name),
    field,
    fault,
    slide.element,
    goal({ path, core, take }),
    h('p', { class: 'note' }, t('picker.was', { count: isTokens ? shownAs(now) : whole(now) })),
  );
  draw(now);
  field.select();
}

const OWN = 'own'; // none of the catalogue
const OPTIONS = { 'model': modelOptions, 'cluster': clusterOptions, 'cluster.device': deviceOptions };

// For the button whose data-key is `key` and which sets the input at `path`, of a count from `value`; without a path it is the task.
export async function openPicker({ core, store, dialogs }, { key, path, value }) {
  /** @type {HTMLElement} */
  const element = document.querySelector(`[data-key="${key}"]`);
  if (!path) {
    const scenario = core.report.scenario;
    const take = (id) => {
      store.setInputs(withTaskPicked(store.inputs, id));
      if (id === 'rl') store.open('train'); // which shows its step
      if (id === 'images') store.open('serve'); // which shows where its time goes
    };
    listPicker(element, {
      name: t('picker.task'),
      options: taskOptions(scenario),
      chosen: taskChosen(scenario),
      onpick: take,
    });
  } else if (OPTIONS[path]) {
    const own =
      path === 'model' ? [] : [{ id: OWN, name: t('form.own'), note: '', group: '', words: 'custom own device' }];
    const options = [...OPTIONS[path](await core.catalogue()), ...own];
    const chosen = get(core.report.scenario, `${path}.preset`);
    listPicker(element, {
      name: t(`picker.${path}`),
      search: t(`picker.search.${path}`),
      options,
      chosen,
      onpick: (id) => (id === OWN ? dialogs.ownDevice() : dialogs.pick(path, id)),
    });
  } else countPicker(element, { path, core, store, now: value });
}
