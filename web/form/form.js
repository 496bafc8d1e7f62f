// The form, made from the core's description: groups with their first inputs open and all others under "More".
/** @import {Group} from './layout.js' */
/** @import {View} from '../types.js' */
import { h } from '../dom.js';
import { get } from '../state/paths.js';
import { withMappingChosen } from '../state/scenario.js';
import { inputText } from '../text/inputs.js';
import { t } from '../text/strings.js';
import { chosenIn } from './chosen.js';
import { helpBeside } from './field_help.js';
import { field, labelOf } from './fields.js';
import { GROUPS } from './layout.js';
import { loadChoice } from './load.js';
import { searchBox } from './search.js';

const belongs = (path, group) => path === group || path.startsWith(`${group}.`);

// Inputs of a list's members, one for each place that the scenario has: "cluster.networks.*.size" -> ".0.size", ".1.size".
function expand(inputs, scenario) {
  return inputs.flatMap((input) => {
    const star = input.path.indexOf('.*');
    if (star < 0) return [input];
    const list = get(scenario, input.path.slice(0, star)) ?? [];
    return expand(
      Array.from(list, (_, i) =>
        Object.assign(Object.create(input), { path: input.path.replace('.*', `.${i}`), advanced: true }),
      ),
      scenario,
    );
  });
}

const withStars = (path) => path.replace(/\.\d+(?=\.|$)/g, '.*');

// Inputs that are not for hand entry: presets have their own control, lists of objects (`lists`) their members.
const isEditable = (input, lists) =>
  !input.path.endsWith('.preset') &&
  input.path !== 'version' &&
  !input.path.endsWith('.mapping.auto') &&
  !(input.kind === 'object' && !input.presets && !input.nullable) &&
  !lists.has(withStars(input.path));

export class Form {
  #store;
  #described;
  #catalogue;
  #controls = new Map();
  #unmade = new Map();
  #isDescribed = false; // whether the inputs under "More" are more than their shape
  #wanted = null; // the path of a field to go to once it can be made
  #rest = new Map(); // inputs under "More", by group
  #shown = null;
  #groups = new Map();
  #load = null;
  #mappings = new Map(); // the folded mapping of a group: {details, summary, back, isChosen}
  #isOpen = new Map(); // of groups not yet made
  #places = '';
  #onconfig;
  #ondevice;
  #onpick;
  #onopen;
  #onfocus;
  /** @type {View} */
  #view = { isLocked: () => false, isShown: () => true };

  constructor(element, { store, described, catalogue, onconfig, ondevice, onpick, onopen, onfocus }) {
    this.element = element;
    this.#store = store;
    this.#described = described;
    this.#catalogue = catalogue;
    this.#onconfig = onconfig;
    this.#ondevice = ondevice;
    this.#onpick = onpick;
    this.#onopen = onopen;
    this.#onfocus = onfocus;
    element.addEventListener('submit', (event) => event.preventDefault());
    helpBeside(element);
  }

  // The inputs that the link locks or leaves out.
  setView(view) {
    this.#view = view;
    this.element.classList.toggle('limited', Boolean(view.limits));
    if (this.#shown) this.show(this.#shown);
  }

  get presetPaths() {
    return this.#described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
  }

  #build(scenario) {
    const wasOpen = new Map([...this.element.querySelectorAll('details')].map((one) => [one.dataset.key, one.open]));
    const focused = document.activeElement?.id;
    const lists = new Set(
      this.#described.inputs
        .filter(({ path }) => path.includes('.*'))
        .map(({ path }) => path.slice(0, path.lastIndexOf('.*'))),
    );
    const inputs = expand(this.#described.inputs, scenario).filter((input) => isEditable(input, lists));
    this.#controls.clear();
    this.#unmade.clear();
    this.#mappings.clear();
    this.element.replaceChildren(
      h('h2', { class: 'visually-hidden' }, t('form.title')),
      searchBox({
        inputsNow: () => ({
          inputs: inputs.filter(({ path }) => this.has(path) && this.#view.isShown(path)),
          scenario: this.#shown.scenario,
        }),
        goTo: (path) => this.focus(path),
      }),
      ...GROUPS.map((group) => this.#group(group, inputs, wasOpen)),
      h('button', { type: 'button', class: 'link reset', onclick: () => this.#store.reset('') }, t('form.reset')),
    );
    if (focused) document.getElementById(focused)?.focus();
  }

  #control(input, withRule) {
    const firstChild = this.#described.inputs.find(
      ({ path, kind }) => path.startsWith(`${input.path}.`) && kind !== 'object',
    );
    const made = field(input, {
      store: this.#store,
      catalogue: this.#catalogue,
      firstChild,
      withRule,
      onpick: this.#onpick,
      onopen: this.#onopen,
    });
    if (made) this.#controls.set(input.path, { ...made, input });
    return made?.element;
  }

  // The folded mapping: each member with its reason, and a way to choose all of them automatically.
  #mapping(id, members, wasOpen) {
    const back = h(
      'button',
      {
        'type': 'button',
        'class': 'link',
        'data-key': `choose-${id}`,
        'onclick': () => this.#store.setInputs(withMappingChosen(this.#store.inputs, id)),
      },
      t('mapping.choose'),
    );
    const summary = h('span', { class: 'state' });
    const key = `mapping-${id}`;
    const details = h(
      'details',
      { 'class': 'mapping', 'data-key': key, 'open': wasOpen.get(key) },
      h('summary', {}, t('mapping.title'), ' ', summary),
      h('p', { class: 'note' }, t('mapping.note')),
      back,
      members.map((input) => this.#control(input, false)),
    );
    this.#mappings.set(id, { details, summary, back, isChosen: null });
    return details;
  }

  /** @param {Group} group */
  #group({ id, first, askedBy, mapping = [], load, sheet = [] }, inputs, wasOpen) {
    const open = [...first.flat(), ...mapping, ...sheet.flat(), ...Object.values(load ?? {}).flat(2)];
    const find = (path) => inputs.find((input) => input.path === path);
    const made = (row) =>
      h(
        'div',
        { class: row.length > 1 ? 'pair' : 'single' },
        row.map((path) => find(path) && this.#control(find(path), true)),
      );
    if (load)
      this.#load = loadChoice(
        this.#store,
        Object.fromEntries(Object.entries(load).map(([one, some]) => [one, some.map(made)])),
      );
    const rows = [load && this.#load.element, ...first.map(made)];
    const rest = inputs.filter(
      ({ path, nullable, kind }) =>
        belongs(path, id) && !open.includes(path) && !(path === id && nullable && kind === 'object'),
    );
    const more = rest.length ? this.#more(id, rest, wasOpen) : null;
    const own = { model: ['form.config', this.#onconfig], cluster: ['form.own', this.#ondevice] }[id];
    const extra = own && h('button', { type: 'button', class: 'link', onclick: own[1] }, t(own[0]));
    const turnOn = () => {
      const asking = this.#described.inputs.find(({ path }) => path === askedBy);
      if (asking) this.#store.set(asking.path, inputText(asking.path, asking.default));
      else this.#store.turnOn(id);
    };
    const ask = h(
      'p',
      { class: 'ask' },
      `${t(`absent.${id}`)} `,
      h('button', { type: 'button', class: 'link', onclick: turnOn }, t('absent.ask')),
    );
    const details = h(
      'details',
      { 'class': 'group', 'data-key': `group-${id}`, 'open': wasOpen.get(`group-${id}`) ?? this.#isOpen.get(id) },
      h('summary', {}, h('h3', {}, t(`group.${id}`)), h('span', { class: 'chosen' })),
      ask,
      extra,
      rows,
      sheet.length > 0 &&
        h(
          'details',
          { 'class': 'mapping data-sheet', 'data-key': `sheet-${id}`, 'open': wasOpen.get(`sheet-${id}`) },
          h('summary', {}, t('form.sheet')),
          sheet.map(made),
        ),
      mapping.length > 0 && this.#mapping(id, mapping.map(find).filter(Boolean), wasOpen),
      more,
    );
    this.#groups.set(id, details);
    return details;
  }

  // Everything else of a group, under the objects that it belongs to.
  #more(id, rest, wasOpen) {
    const key = `more-${id}`;
    const title = id === 'model' ? t('form.shape') : t('form.more');
    const details = h(
      'details',
      { 'class': 'more', 'data-key': key, 'ontoggle': () => details.open && this.#fill(id) },
      h('summary', {}, title),
    );
    this.#unmade.set(id, { details, rest });
    this.#rest.set(id, rest);
    details.open = wasOpen.get(key) ?? false;
    return details;
  }

  #sections(id, rest) {
    const parents = [
      ...new Set(
        rest.map(({ path, kind, presets }) =>
          kind === 'object' && !presets ? path : path.split('.').slice(0, -1).join('.'),
        ),
      ),
    ];
    return parents.map((parent) => {
      const own = rest.filter(
        ({ path, kind, presets }) =>
          (kind === 'object' && !presets ? path : path.split('.').slice(0, -1).join('.')) === parent,
      );
      const list = /^(.*)\.(\d+)$/.exec(parent);
      const title =
        parent === id
          ? null
          : h(
              'h4',
              { 'data-list': list ? parent : undefined },
              list
                ? `${labelOf(list[1])} ${Number(list[2]) + 1}`
                : parent
                    .split('.')
                    .slice(1)
                    .map((one, i, all) => labelOf([id, ...all.slice(0, i + 1)].join('.')))
                    .join(' · '),
            );
      return h(
        'div',
        { class: 'section' },
        title,
        h(
          'div',
          { class: 'pairs' },
          own.map((input) => this.#control(input, false)),
        ),
      );
    });
  }

  // Hundreds of inputs that few people open: made on demand.
  #fill(id) {
    const { details, rest } = this.#unmade.get(id) ?? {};
    if (!details || !this.#isDescribed) return;
    this.#unmade.delete(id);
    details.append(...this.#sections(id, rest));
    if (this.#shown) this.show(this.#shown);
  }

  // Opens the groups that affect the scene's answers and closes the others; on Start it opens none of them by itself,
  // as its sentence states them.
  openFor(scene) {
    const narrow = window.matchMedia('(max-width: 760px)').matches;
    for (const { id, scenes } of GROUPS) {
      const isAsked = this.#view.shown?.some((path) => belongs(path, id));
      const isOpen = isAsked || (!narrow && scene !== 'overview' && (!scenes || scenes.includes(scene)));
      this.#isOpen.set(id, isOpen);
      const details = this.#groups.get(id);
      if (details) details.open = isOpen;
      const members = GROUPS.find((group) => group.id === id).mapping;
      if (members?.some((path) => this.#view.shown?.includes(path)))
        this.#mappings.get(id)?.details.setAttribute('open', '');
    }
  }

  // scenario: the resolved one; standard: resolved from the presets alone; issues: of the request.
  show(state) {
    const { inputs, scenario, standard, issues } = state;
    this.#shown = state;
    const places = JSON.stringify(
      this.#described.inputs
        .filter(({ path }) => path.includes('.*'))
        .map(({ path }) => (get(scenario, path.slice(0, path.indexOf('.*'))) ?? []).length),
    );
    if (places !== this.#places || this.#controls.size === 0) {
      this.#places = places;
      this.#build(scenario);
    }
    for (const [id, details] of this.#groups) {
      details.classList.toggle('unasked', scenario?.[id] === null);
      this.#showChosen(id, details, state);
      details.hidden = !this.#view.isShown(id);
      this.#hideMore(id, details);
    }
    this.element.querySelector('.reset').hidden = Object.keys(inputs).length === 0;
    const chosen = new Map(
      ['training', 'serving'].flatMap((part) => state.report?.[part]?.chosen ?? []).map(({ path, why }) => [path, why]),
    );
    this.#load.show({ ...state, isLocked: this.#view.isLocked });
    for (const id of this.#mappings.keys()) this.#showMapping(id, state);
    // Changes on a data sheet are not hidden.
    for (const { id, sheet = [] } of GROUPS)
      if (sheet.flat().some((path) => inputs[path] !== undefined))
        this.#groups.get(id).querySelector('.data-sheet').open = true;
    for (const [path, { show, input, element }] of this.#controls) {
      const at = input.presets ? `${path}.preset` : path;
      const parent = path.split('.').slice(0, -1).join('.');
      const absent = parent && parent.includes('.') && get(scenario, parent) === null;
      element.hidden = Boolean(absent) || !this.#view.isShown(path);
      const locked = this.#view.isLocked(path);
      for (const one of element.querySelectorAll('input, select, button')) one.disabled = locked;
      element.classList.toggle('locked', locked);
      show({
        text: inputs[path],
        value: get(scenario, at),
        standard: standard ? get(standard, at) : undefined,
        issues: issues.filter((issue) => issue.path === path || issue.path === at),
        why: chosen.get(path),
        isHeld: this.#isChosen(path) && inputs[path] !== undefined,
      });
    }
  }

  // Whether the core chooses the mapping that this input belongs to, except written members.
  #isChosen = (path) => GROUPS.some(({ id, mapping }) => mapping?.includes(path) && this.#mappings.get(id)?.isChosen);

  #showMapping(id, { inputs, report }) {
    const one = this.#mappings.get(id);
    const isChosen = (report?.[id]?.chosen ?? []).length > 0;
    const members = GROUPS.find((group) => group.id === id).mapping;
    const held = members.filter((path) => inputs[path] !== undefined).length;
    // A part without results keeps what was said of it.
    if (report?.[id])
      one.summary.textContent = isChosen
        ? held
          ? t('mapping.some', { count: held })
          : t('mapping.all')
        : t('mapping.none');
    one.back.hidden = isChosen && held === 0;
    one.details.hidden = !members.some((path) => this.#view.isShown(path));
    // Inputs that are never chosen automatically are open.
    if (!isChosen && one.isChosen !== false && report?.[id]) one.details.open = true;
    if (report?.[id]) one.isChosen = isChosen;
  }

  // Where every input under "More" is locked there is nothing to open.
  #hideMore(id, details) {
    const more = details.querySelector('.more');
    const { locksAll, isLocked } = this.#view;
    if (more) more.hidden = Boolean(locksAll) && this.#rest.get(id).every(({ path }) => isLocked(path));
  }

  #showChosen(id, details, state) {
    const { lines, isAuto } = chosenIn(id, state);
    const key = JSON.stringify([lines, isAuto]);
    const line = details.querySelector('.chosen');
    if (line.dataset.shown === key) return;
    line.dataset.shown = key;
    line.replaceChildren(
      ...lines.map((one, i) => h('span', {}, i === 0 && isAuto && [h('em', {}, t('chosen.auto')), ' '], one)),
    );
  }

  // The unmade group that holds a path.
  #groupOf(path) {
    return [...this.#unmade].find(([, { rest }]) => rest.some((input) => input.path === path))?.[0];
  }

  // Whether an issue at this path has a field to stand at.
  has(path) {
    const own = path.replace(/\.preset$/, '');
    return [path, own].some((one) => this.#controls.has(one) || this.#groupOf(one) !== undefined);
  }

  focus(path) {
    const own = [path, path.replace(/\.preset$/, '')].find((one) => this.has(one));
    const group = this.#groupOf(own);
    if (group !== undefined) this.#fill(group);
    const control = this.#controls.get(own);
    this.#wanted = control || this.#isDescribed ? null : path;
    if (!control) return false;
    this.#onfocus();
    const part = control.element.closest('.load-part');
    if (part) part.hidden = false; // of a load that is not chosen: writing the input chooses it
    for (let at = control.element.closest('details'); at; at = at.parentElement.closest('details')) at.open = true;
    control.element.querySelector('input, select, .menu')?.focus();
    return true;
  }

  // The whole description of the inputs, which comes after the first view.
  describe(inputs) {
    const whole = new Map(inputs.map((input) => [input.path, input]));
    for (const input of this.#described.inputs) Object.assign(input, whole.get(input.path));
    this.#isDescribed = true;
    for (const { element, input } of this.#controls.values())
      element.querySelector('.help > span').textContent = input.help ?? '';
    for (const [id, { details }] of [...this.#unmade]) if (details.open) this.#fill(id);
    if (this.#wanted) this.focus(this.#wanted);
  }

  // The sources of presets and their years, which come after the first view.
  addSources(catalogue) {
    const whole = new Map(catalogue.map((entry) => [`${entry.kind}/${entry.id}`, entry]));
    for (const entry of this.#catalogue) {
      const { sources, year } = whole.get(`${entry.kind}/${entry.id}`) ?? {};
      Object.assign(entry, { sources, year });
    }
  }

  // Marks the inputs at these paths, as what a figure depends on.
  highlight(paths) {
    for (const [path, { element }] of this.#controls) element.classList.toggle('lit', paths.has(path));
  }
}
