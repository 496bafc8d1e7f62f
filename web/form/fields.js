// One control for each kind of input. A control is {element, show(state)}; what the visitor does goes to `store`.
//
// state: {text: what the link holds or undefined, value: resolved base value, standard: the preset's value, issues: [{path, message, fixes}],
// why: why the core chose the value, isHeld: written where the core would choose}
/** @import {Store} from '../state/store.js' */
/** @import {Entry, Field} from '../types.js' */
import { h } from '../dom.js';
import { get } from '../state/paths.js';
import { withFix } from '../state/scenario.js';
import {
  inUnit,
  isBare,
  parse,
  show as showMeasure,
  showIn,
  sizeOf,
  spelled,
  spelledIn,
  unitIn,
} from '../text/measure.js';
import { whole } from '../text/format.js';
import { inputLabel, inputText, withLabels } from '../text/inputs.js';
import { t, has } from '../text/strings.js';
import { rule, step } from './rule.js';
import { span } from './layout.js';

const isText = ({ kind }) => ['quantity', 'ratio', 'count', 'length', 'text', 'list'].includes(kind);
const isNumber = ({ kind }) => ['quantity', 'ratio', 'count', 'length'].includes(kind);
const idOf = (path) => `in-${path.replaceAll('.', '-')}`;

export function labelOf(path) {
  const label = inputLabel(path);
  if (label) return label;
  const words = path.split('.').at(-1).replaceAll('_', ' ');
  return words[0].toUpperCase() + words.slice(1);
}

// The text of a choice: its id with spaces, except formats such as q8_0, which are names.
const choiceName = ({ path }, id) => {
  const key = `choice.${path.split('.').at(-1)}.${id}`;
  if (has(key)) return t(key);
  return /\d/.test(id) ? id : id.replaceAll('_', ' ');
};

// A list's member is named after its owner: "Bandwidth, NVLink 4".
export function labelIn(scenario, path) {
  const parent = /^(.*\.\d+)\./.exec(path)?.[1];
  const owner = parent && get(scenario, parent)?.name;
  return owner ? `${labelOf(path)}, ${owner}` : labelOf(path);
}

// A base value as the field of this input writes it.
export function write(input, value) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (input.kind === 'quantity') return showMeasure(value, input.unit, input.unit_factor);
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value === 'number') return String(Number(value.toPrecision(9)));
  return String(value);
}

// Fractions of the first view have ten digits.
const digits = (_, value) =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(7)) : value;
const changed = ({ standard, value }) =>
  standard !== undefined && JSON.stringify(value ?? null, digits) !== JSON.stringify(standard ?? null, digits);

// "tp 2" as "TP 2", "devices 510" as "510 devices".
const fixWords = (label) =>
  spelledIn(label)
    .replace(/\b(tp|pp|cp|ep|dp) (?=\d)/g, (name) => name.toUpperCase())
    .replace(/\bdevices (\d+)/, '$1 devices');

// Valid values in place of a faulty one, as buttons.
export const fixButtons = ({ fixes = [] }, store) =>
  fixes.map((fix) =>
    h(
      'button',
      { type: 'button', class: 'nearest', onclick: () => store.setInputs(withFix(store.inputs, fix)) },
      fix.value === undefined ? t('issues.remove') : t('form.use', { value: fixWords(fix.label) }),
    ),
  );

// The parts of every control: label, echo, help, issues, and the mark of a change with its undo.
function frame(input, control, store, { group = false } = {}) {
  const id = idOf(input.path);
  const echo = h('output', { class: 'echo', for: id });
  const unknown = isNumber(input)
    ? h('button', { type: 'button', class: 'link unknown', onclick: () => store.solve(input.path) }, t('form.solve'))
    : null;
  const help = h('small', { class: 'help' }, h('span', { id: `${id}-help` }, input.help ?? ''), ' ', unknown);
  const faults = h('div', { class: 'faults', id: `${id}-issues` });
  const why = h('small', { class: 'chosen-why', id: `${id}-why`, hidden: true });
  const back = h('button', { type: 'button', class: 'back', hidden: true, onclick: () => store.reset(input.path) });
  const label = h('label', group ? {} : { for: id }, labelOf(input.path));
  const element = h(
    'div',
    { 'class': `field ${input.kind}`, 'data-path': input.path },
    h('div', { class: 'head' }, label, echo, back),
    h('div', {}, control, faults, why, help),
  );
  control.setAttribute?.('aria-describedby', `${id}-help ${id}-issues ${id}-why`);
  return {
    element,
    id,
    echo,
    mark(state) {
      const isChanged = state.isHeld || (!state.why && changed(state));
      why.hidden = !state.why;
      why.textContent = state.why ?? '';
      element.classList.toggle('changed', isChanged);
      back.hidden = !isChanged;
      const was = state.isHeld
        ? t('mapping.free')
        : (input.kind === 'choice' && state.standard
            ? choiceName(input, state.standard)
            : write(input, state.standard)) || t('form.none');
      if (isChanged) {
        back.textContent = state.isHeld ? was : t('form.was', { value: was });
        back.setAttribute(
          'aria-label',
          state.isHeld
            ? t('mapping.free.of', { label: labelOf(input.path) })
            : t('form.takeBack', { label: labelOf(input.path), value: was }),
        );
      }
      const key = JSON.stringify(state.issues);
      if (faults.dataset.shown !== key) {
        faults.dataset.shown = key;
        faults.replaceChildren(
          ...state.issues.map((issue) =>
            h(
              'p',
              {},
              spelledIn(withLabels(issue.message)),
              isNumber(input) &&
                state.standard != null &&
                ` ${t('form.example', { value: write(input, state.standard) })}`,
              fixButtons(issue, store),
            ),
          ),
        );
      }
      element.classList.toggle('faulty', state.issues.length > 0);
    },
  };
}

function textField(input, store, withRule) {
  const numeric = isNumber(input);
  const isCount = input.kind === 'count' || input.kind === 'length';
  const thousand = input.kind === 'length' ? 1024 : 1000;
  const control = h('input', {
    type: 'text',
    id: idOf(input.path),
    autocomplete: 'off',
    spellcheck: 'false',
    inputmode: numeric ? 'decimal' : undefined,
  });
  const wrap = frame(input, control, store);
  // Everything typed or slid in one go is one edit for undo.
  let goesOn = false;
  const take = (text) => (goesOn = store.set(input.path, text, goesOn) || goesOn);
  for (const end of ['change', 'focusout']) wrap.element.addEventListener(end, () => (goesOn = false));
  const slide =
    withRule && numeric
      ? rule({
          label: t('form.slider', { label: labelOf(input.path) }),
          isCount,
          onslide: (value) => take(keeping(value)),
        })
      : null;
  if (slide) control.after(slide.element);
  let last = { issues: [] };
  let before = '';
  let restoring = false;
  const isQuantity = input.kind === 'quantity';
  // A text without a unit, as in an old link, is shown with the unit in which it was read.
  const isUnsaid = () => last.text === undefined || (isQuantity && isBare(last.text) && last.issues.length === 0);
  const shownText = () => (isUnsaid() ? write(input, last.value) : spelled(last.text));
  // The unit of a bare number: the one in the field, or the preset's if the field has none that is known.
  const knownIn = (text) => (sizeOf(unitIn(text)) ? unitIn(text) : '');
  const unitShown = () =>
    isQuantity
      ? knownIn(shownText()) || unitIn(write(input, last.value ?? last.standard)) || spelled(`2 ${input.unit}`).slice(2)
      : '';
  const keeping = (value) => (isQuantity && showIn(value, unitShown())) || write(input, value);

  const commit = () => {
    const text = inUnit(control.value.trim(), unitShown());
    if (input.kind === 'list' && text) take(`[${text.replace(/[[\]]/g, '')}]`);
    else if (text !== shownText()) take(text);
  };
  control.addEventListener('focus', () => (before = last.text ?? ''));
  control.addEventListener('input', commit);
  control.addEventListener('blur', () => (control.value = shownText()));
  control.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      restoring = true;
      control.value = before;
      store.set(input.path, before);
      goesOn = false;
    } else if (event.key === 'Enter') {
      control.select();
    } else if (numeric && ['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown'].includes(event.key)) {
      const value = last.value ?? parse(control.value, thousand);
      if (!(value > 0)) return;
      event.preventDefault();
      const up = event.key.endsWith('Up');
      const next = event.key.startsWith('Page')
        ? step(value, up, true)
        : isCount
          ? Math.max(1, value + (up ? 1 : -1) * (event.shiftKey ? 10 : 1))
          : step(value, up, false);
      control.value = keeping(next);
      commit();
    }
  });

  return {
    element: wrap.element,
    show(state) {
      last = state;
      wrap.mark(state);
      control.setAttribute('aria-invalid', state.issues.length > 0);
      control.placeholder = input.nullable && state.value == null ? t('form.none') : '';
      if (restoring || document.activeElement !== control) control.value = shownText();
      restoring = false;
      const typed = control.value;
      wrap.echo.textContent =
        isCount && typeof state.value === 'number' && /[^\d]/.test(typed) && !state.issues.length
          ? `= ${whole(state.value)}`
          : '';
      if (slide) {
        const size = typeof state.value === 'number' ? state.value : (parse(typed, thousand) ?? 0);
        const base = typeof state.standard === 'number' ? state.standard : size;
        const range = span(input, base);
        const unitScale = (isQuantity && sizeOf(unitShown())) || 1;
        slide.show(size, range, unitScale, keeping(size));
      }
    },
  };
}

function choiceField(input, store) {
  const control = h('select', { id: idOf(input.path), onchange: () => store.set(input.path, control.value) });
  if (input.nullable) control.append(h('option', { value: '' }, t('form.none')));
  control.append(...input.choices.map((choice) => h('option', { value: choice }, choiceName(input, choice))));
  const wrap = frame(input, control, store);
  return {
    element: wrap.element,
    show(state) {
      wrap.mark(state);
      control.value = state.value ?? '';
      control.setAttribute('aria-invalid', state.issues.length > 0);
    },
  };
}

function flagField(input, store) {
  if (input.nullable) {
    return choiceLike(input, store, { true: 'on', false: 'off' });
  }
  const control = h('input', {
    type: 'checkbox',
    id: idOf(input.path),
    onchange: () => store.set(input.path, String(control.checked)),
  });
  const wrap = frame(input, control, store);
  return {
    element: wrap.element,
    show(state) {
      wrap.mark(state);
      control.checked = state.value === true;
    },
  };
}

function choiceLike(input, store, names) {
  const control = h(
    'select',
    { id: idOf(input.path), onchange: () => store.set(input.path, control.value) },
    h('option', { value: '' }, t('form.none')),
    Object.entries(names).map(([value, name]) => h('option', { value }, name)),
  );
  const wrap = frame(input, control, store);
  return {
    element: wrap.element,
    show(state) {
      wrap.mark(state);
      control.value = state.value == null ? '' : String(state.value);
    },
  };
}

// Catalogues too long for the browser's menu open the sentence's picker.
const PICKED = ['model', 'cluster', 'cluster.device'];

function menu(input, onopen) {
  const key = `pick-${input.path}`;
  const control = h('button', {
    'type': 'button',
    'class': 'menu',
    'id': idOf(input.path),
    'data-key': key,
    'aria-haspopup': 'listbox',
    'onclick': () => onopen({ key, path: input.path }),
  });
  control.addEventListener(
    'keydown',
    (event) => event.key === 'ArrowDown' && (event.preventDefault(), onopen({ key, path: input.path })),
  );
  return {
    control,
    show(entry) {
      control.textContent = entry ? entry.name || entry.id : t('form.custom');
      control.setAttribute('aria-label', `${labelOf(input.path)}: ${control.textContent}`);
    },
  };
}

function nativeMenu(input, entries, onpick) {
  const control = h(
    'select',
    { id: idOf(input.path), onchange: () => onpick(input.path, control.value) },
    h('option', { value: '', hidden: true }, t('form.custom')),
    entries.map(({ id, name }) => h('option', { value: id }, name || id)),
  );
  return {
    control,
    show(entry, { issues }) {
      control.value = entry?.id ?? '';
      control.setAttribute('aria-invalid', issues.length > 0);
    },
  };
}

// A catalogue: {id, name, sources} of every entry of the input's kind. Inputs set below the pick make it the visitor's
// own.
function presetField(input, store, catalogue, { onpick, onopen }) {
  const entries = catalogue.filter(({ kind }) => kind === input.presets);
  const choice = PICKED.includes(input.path) ? menu(input, onopen) : nativeMenu(input, entries, onpick);
  const wrap = frame(input, choice.control, store);
  const source = h('small', { class: 'help' });
  wrap.element.lastChild.append(source);
  const isDevice = (path) => path === 'cluster.device' || path.startsWith('cluster.device.');
  const isOwn = (path) =>
    path.startsWith(`${input.path}.`) && (input.path !== 'cluster' || (path !== 'cluster.devices' && !isDevice(path)));
  return {
    element: wrap.element,
    show(state) {
      wrap.mark({ ...state, standard: undefined });
      const entry = entries.find(({ id }) => id === state.value);
      choice.show(entry, state);
      wrap.echo.textContent = entry && Object.keys(store.inputs).some(isOwn) ? t('form.based') : '';
      const said = Object.values(entry?.sources ?? {})
        .slice(0, 2)
        .join('; ');
      source.textContent = said ? t('form.source', { source: [said, entry.year].filter(Boolean).join(', ') }) : '';
    },
  };
}

// An object that may be absent (experts, latent attention): turning it on sets its first member, which brings the
// others.
function optionalField(input, store, firstChild) {
  const control = h('input', {
    type: 'checkbox',
    id: idOf(input.path),
    onchange: () =>
      control.checked
        ? store.set(firstChild.path, inputText(firstChild.path, firstChild.default))
        : store.set(input.path, 'null'),
  });
  const wrap = frame(input, control, store);
  return {
    element: wrap.element,
    show(state) {
      wrap.mark({ ...state, standard: undefined });
      control.checked = state.value !== null && state.value !== undefined;
    },
  };
}

/**
 * @param {Field} input
 * @param {{store: Store, catalogue: Entry[], firstChild?: Field, withRule: boolean, onpick(path: string, id: string): void, onopen(noun: object): void}} options
 */
export function field(input, { store, catalogue, firstChild, withRule, onpick, onopen }) {
  if (input.presets) return presetField(input, store, catalogue, { onpick, onopen });
  if (input.kind === 'object') return optionalField(input, store, firstChild);
  if (input.kind === 'choice') return choiceField(input, store);
  if (input.kind === 'flag') return flagField(input, store);
  return isText(input) ? textField(input, store, withRule) : null;
}
