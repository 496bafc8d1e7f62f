// What the visitor chose. Views call its methods; every change is one "change" event, with `push` where Back should undo it.
/** @import {Inputs, LinkFault, State, ViewWords} from '../types.js' */
import { withMeasuredKept } from './measured.js';
import { withPick } from './scenario.js';

const MAX_UNDO = 50;

export class Store extends EventTarget {
  /** @type {string} */
  scene;
  /** @type {string} */
  sub;
  /** @type {Inputs} */
  inputs;
  /** @type {Inputs[]} */
  others;
  /** @type {ViewWords} */
  view;
  /** @type {LinkFault[]} */
  faults;
  /** @type {{inputs: Inputs, others: Inputs[]}[]} */
  #past = [];
  /** @type {(path: string) => boolean} */
  isLocked = () => false; // inputs that the link locks stay as they are
  #choices;

  // `choices()`: the core's choices for the scenario, by path.
  /**
   * @param {State} state
   * @param {() => Inputs} choices
   */
  constructor(state, choices = () => ({})) {
    super();
    this.#choices = choices;
    this.#take(state);
  }

  /** @param {State} state */
  #take({ scene, sub = '', inputs = {}, others = [], view = {}, faults = [] }) {
    Object.assign(this, { scene, sub, inputs, others, view, faults });
  }

  get state() {
    return { scene: this.scene, sub: this.sub, inputs: this.inputs, others: this.others, view: this.view };
  }

  #tell(push = false, source = 'edit') {
    this.dispatchEvent(new CustomEvent('change', { detail: { push, source } }));
  }

  #remember() {
    this.#past.push({ inputs: this.inputs, others: this.others });
    if (this.#past.length > MAX_UNDO) this.#past.shift();
  }

  #edit(inputs) {
    this.inputs = withMeasuredKept(this.inputs, inputs, this.#choices());
  }

  // An input's text; "" takes it back to its preset or default. `goesOn`: for undo one with the edit before, as of a drag.
  // False where that is no change.
  set(path, text, goesOn = false) {
    if ((this.inputs[path] ?? '') === text || this.isLocked(path)) return false;
    if (!goesOn) this.#remember();
    const { [path]: _, ...rest } = this.inputs;
    this.#edit(text === '' ? rest : { ...rest, [path]: text });
    this.#tell();
    return true;
  }

  // Another catalogue entry.
  pick(path, id) {
    if (this.isLocked(path)) return;
    this.#remember();
    this.#edit(withPick(this.inputs, path, id));
    this.#tell(true);
  }

  // Takes back a path and everything below it.
  reset(path) {
    if (this.isLocked(path)) return;
    this.#remember();
    /** @type {(input: [string, string]) => boolean} */
    const isKept = ([one]) => this.isLocked(one) || (path !== '' && one !== path && !one.startsWith(`${path}.`));
    this.#edit(Object.fromEntries(Object.entries(this.inputs).filter(isKept)));
    this.#tell(true);
  }

  // Takes back the input that turns a part of the default scenario off: its own, or a question about images only.
  turnOn(part) {
    this.reset(part in this.inputs ? part : 'diffusion');
  }

  // All inputs at once: a lesson's start or step (then with the place in the lesson), an import, a scenario of the comparison.
  // `goesOn` as for `set`.
  setInputs(inputs, sub = this.sub, goesOn = false) {
    if (!goesOn) this.#remember();
    this.sub = sub;
    const entries = (all, wanted) => Object.entries(all).filter(([path]) => this.isLocked(path) === wanted);
    this.#edit(Object.fromEntries([...entries(inputs, false), ...entries(this.inputs, true)]));
    this.#tell(!goesOn);
  }

  setOthers(others) {
    this.#remember();
    this.others = others;
    this.#tell(true);
  }

  // Drops inputs without effect, without a history step.
  tidy(inputs) {
    this.inputs = inputs;
  }

  // Swaps the open scenario with one of the comparison.
  setBoth(inputs, others) {
    this.#remember();
    this.inputs = inputs;
    this.others = others;
    this.#tell(true);
  }

  // An input is to be the unknown: nothing changes until an answer is accepted.
  solve(path) {
    this.dispatchEvent(new CustomEvent('solve', { detail: path }));
  }

  open(scene, sub = '') {
    if (scene === this.scene && sub === this.sub) return;
    this.scene = scene;
    this.sub = sub;
    this.#tell(true, 'scene');
  }

  setView(view) {
    this.view = view;
    this.#tell(true, 'view');
  }

  // The paths in which a former state differs; those of the comparison are one.
  #changesTo({ inputs, others }) {
    const paths = Object.keys({ ...inputs, ...this.inputs }).filter((path) => inputs[path] !== this.inputs[path]);
    return paths.length || JSON.stringify(others) === JSON.stringify(this.others) ? paths : ['compare'];
  }

  // The paths that undo would change; none if there is nothing to undo. A link or Back may have led to the last state already.
  get undoes() {
    return this.#past.map((one) => this.#changesTo(one)).findLast((paths) => paths.length > 0) ?? [];
  }

  undo() {
    let last;
    do last = this.#past.pop();
    while (last && this.#changesTo(last).length === 0);
    if (!last) return false;
    this.inputs = last.inputs;
    this.others = last.others;
    this.#tell(true, 'undo');
    return true;
  }

  // From the address bar.
  load(state) {
    this.#take(state);
    this.#tell(false, 'link');
  }
}
