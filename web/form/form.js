// The form, made from what the core describes: groups with their first inputs open and all others under "More".
import { h } from '../dom.js';
import { get } from '../state/paths.js';
import { t } from '../text/strings.js';
import { field, labelOf } from './fields.js';
import { GROUPS } from './layout.js';

const belongs = (path, group) => path === group || path.startsWith(`${group}.`);

// Inputs of a list's members, one for each place that the scenario has: "cluster.networks.*.size" -> ".0.size", ".1.size".
function expand(inputs, scenario) {
  return inputs.flatMap((input) => {
    const star = input.path.indexOf('.*');
    if (star < 0) return [input];
    const list = get(scenario, input.path.slice(0, star)) ?? [];
    return Array.from(list, (_, i) => ({ ...input, path: input.path.replace('.*', `.${i}`), advanced: true }));
  });
}

// Inputs that are not for hand entry: presets have their own control, lists of objects their members.
const isEditable = (input, all) =>
  !input.path.endsWith('.preset') &&
  input.path !== 'version' &&
  !(input.kind === 'object' && !input.presets && !input.nullable) &&
  !(input.kind === 'list' && all.some(({ path }) => path.startsWith(`${input.path}.*`)));

export class Form {
  #store;
  #described;
  #catalogue;
  #controls = new Map();
  #groups = new Map();
  #places = '';
  #onconfig;

  constructor(element, { store, described, catalogue, onconfig }) {
    this.element = element;
    this.#store = store;
    this.#described = described;
    this.#catalogue = catalogue;
    this.#onconfig = onconfig;
    element.addEventListener('submit', (event) => event.preventDefault());
  }

  get presetPaths() {
    return this.#described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
  }

  #build(scenario) {
    const wasOpen = new Map([...this.element.querySelectorAll('details')].map((one) => [one.dataset.key, one.open]));
    const focused = document.activeElement?.id;
    const inputs = expand(this.#described.inputs, scenario).filter((input, _, all) => isEditable(input, all));
    this.#controls.clear();
    this.element.replaceChildren(
      h('h2', { class: 'visually-hidden' }, t('form.title')),
      ...GROUPS.map((group) => this.#group(group, inputs, wasOpen)),
    );
    if (focused) document.getElementById(focused)?.focus();
  }

  #control(input, withRule) {
    const firstChild = this.#described.inputs.find(({ path, kind }) => path.startsWith(`${input.path}.`) && kind !== 'object');
    const made = field(input, { store: this.#store, catalogue: this.#catalogue, firstChild, withRule });
    if (made) this.#controls.set(input.path, { ...made, input });
    return made?.element;
  }

  #group({ id, first }, inputs, wasOpen) {
    const open = first.flat();
    const find = (path) => inputs.find((input) => input.path === path);
    const rows = first.map((row) =>
      h(
        'div',
        { class: row.length > 1 ? 'pair' : 'single' },
        row.map((path) => find(path) && this.#control(find(path), true)),
      ),
    );
    const rest = inputs.filter(
      ({ path, nullable, kind }) => belongs(path, id) && !open.includes(path) && !(path === id && nullable && kind === 'object'),
    );
    const more = rest.length ? this.#more(id, rest, wasOpen) : null;
    const extra = id === 'model' ? h('button', { type: 'button', class: 'link', onclick: () => this.#onconfig() }, t('form.config')) : null;
    const ask = h(
      'p',
      { class: 'ask' },
      `${t(`absent.${id}`)} `,
      h('button', { type: 'button', class: 'link', onclick: () => this.#store.reset(id) }, t('absent.ask')),
    );
    const details = h(
      'details',
      { class: 'group', 'data-key': `group-${id}`, open: true },
      h('summary', {}, h('h3', {}, t(`group.${id}`))),
      ask,
      extra,
      rows,
      more,
    );
    this.#groups.set(id, details);
    return details;
  }

  // Everything else of a group, under the objects that it belongs to.
  #more(id, rest, wasOpen) {
    const key = `more-${id}`;
    const parents = [
      ...new Set(rest.map(({ path, kind, presets }) => (kind === 'object' && !presets ? path : path.split('.').slice(0, -1).join('.')))),
    ];
    const sections = parents.map((parent) => {
      const own = rest.filter(
        ({ path, kind, presets }) => (kind === 'object' && !presets ? path : path.split('.').slice(0, -1).join('.')) === parent,
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
    const title = id === 'model' ? t('form.shape') : t('form.more');
    return h('details', { class: 'more', 'data-key': key, open: wasOpen.get(key) ?? false }, h('summary', {}, title), sections);
  }

  // Opens the groups that the scene's answers rest on and closes the others.
  openFor(scene) {
    const narrow = window.matchMedia('(max-width: 760px)').matches;
    for (const { id, scenes } of GROUPS) {
      const details = this.#groups.get(id);
      if (details) details.open = !narrow && (!scenes || scenes.includes(scene));
    }
  }

  // scenario: the resolved one; standard: resolved from the presets alone; issues: of the request.
  show({ inputs, scenario, standard, issues }) {
    const places = JSON.stringify(
      this.#described.inputs
        .filter(({ path }) => path.includes('.*'))
        .map(({ path }) => (get(scenario, path.slice(0, path.indexOf('.*'))) ?? []).length),
    );
    if (places !== this.#places || this.#controls.size === 0) {
      this.#places = places;
      this.#build(scenario);
    }
    for (const [id, details] of this.#groups) details.classList.toggle('unasked', scenario?.[id] === null);
    for (const [path, { show, input, element }] of this.#controls) {
      const at = input.presets ? `${path}.preset` : path;
      const parent = path.split('.').slice(0, -1).join('.');
      const absent = parent && parent.includes('.') && get(scenario, parent) === null;
      element.hidden = Boolean(absent);
      show({
        text: inputs[path],
        value: get(scenario, at),
        standard: standard ? get(standard, at) : undefined,
        issues: issues.filter((issue) => issue.path === path || issue.path === at).map(({ message }) => message),
      });
    }
  }

  // Whether an issue at this path has a field to stand at.
  has(path) {
    return this.#controls.has(path) || this.#controls.has(path.replace(/\.preset$/, ''));
  }

  focus(path) {
    const control = this.#controls.get(path) ?? this.#controls.get(path.replace(/\.preset$/, ''));
    if (!control) return false;
    for (let at = control.element.closest('details'); at; at = at.parentElement.closest('details')) at.open = true;
    control.element.querySelector('input, select')?.focus();
    return true;
  }

  // Marks the inputs at these paths, as what a figure depends on.
  highlight(paths) {
    for (const [path, { element }] of this.#controls) element.classList.toggle('lit', paths.has(path));
  }
}
