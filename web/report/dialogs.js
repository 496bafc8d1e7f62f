// Everything that opens over the page; each is fetched on demand.
import { FETCHED } from '../modules.js';
import { linkOf } from '../state/address.js';
import { tellUndoable } from './notice.js';

export class Dialogs {
  #parts;
  #form;
  #sheet = null;
  isOpening = false; // a picker is on its way, and keys are meant for it

  // `parts` as scenes have them; `form` has the inputs to go to.
  constructor(parts, form) {
    this.#parts = parts;
    this.#form = form;
  }

  get #hasReport() {
    return this.#parts.core.report !== null;
  }

  // How a figure is made.
  async why(path) {
    const { Sheet } = await FETCHED.sheet();
    this.#sheet ??= new Sheet(document.getElementById('sheet'), {
      explain: (one) => this.#parts.core.explain(one),
      toInput: (one) => this.#form.focus(one),
      hasInput: (one) => this.#form.has(one),
    });
    this.#sheet.open(path);
  }

  // The report has changed under an open derivation.
  refresh() {
    if (this.#sheet?.path) this.#sheet.refresh();
  }

  async help() {
    (await FETCHED.help()).openHelp();
  }

  async export() {
    if (this.#hasReport) (await FETCHED.export_menu()).openExport(this.#parts, await linkOf(this.#parts.store.state));
  }

  async importModel() {
    (await FETCHED.import_model()).importModel(this.#parts);
  }

  async ownDevice() {
    (await FETCHED.own_device()).ownDevice(this.#parts);
  }

  // A single number measured on the visitor's system.
  async measured() {
    if (this.#hasReport) (await FETCHED.measured_dialog()).openMeasured(this.#parts);
  }

  // A log or a benchmark of it.
  async paste() {
    if (this.#hasReport) (await import('../evidence/paste.js')).pasteMeasurement(this.#parts);
  }

  // An input as the unknown.
  async solve(path) {
    const { openSolve } = await import('../form/solve.js');
    if (this.#hasReport) openSolve(this.#parts, path);
  }

  // The picker of a noun in the sentence.
  async picker(noun) {
    this.isOpening = true;
    try {
      const { openPicker } = await FETCHED.picker();
      if (this.#hasReport) await openPicker(this.#parts, noun);
    } finally {
      this.isOpening = false;
    }
  }

  // Another catalogue entry. Another cluster or device keeps the device count; if the written mapping is no longer
  // valid, it is chosen again. The notice says what changed, with undo.
  async pick(path, id) {
    const { core, store } = this.#parts;
    if (store.isLocked(path)) return;
    if (path !== 'cluster' && path !== 'cluster.device') {
      store.pick(path, id);
      return;
    }
    const { moved } = await FETCHED.hardware();
    const { inputs, said } = await moved(core, store.inputs, path, id);
    store.setInputs(inputs);
    if (said.length) tellUndoable(this.#parts, said.join(' '));
  }
}
