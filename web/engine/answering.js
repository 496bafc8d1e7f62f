// The core's last answer to the visitor's inputs: a report, or the nearest one with the issues of the inputs; and other
// questions about it.
/** @import {Described, Entry, Inputs, Issue, Report, Request, Scenario} from '../types.js' */
import { picksOf, requestOf } from '../state/scenario.js';
import { answerFor, nearestAnswer } from './answers.js';
import { Engine } from './engine.js';
import { Questions } from './questions.js';

export class Answering {
  engine = new Engine();
  aside = new Engine(); // for what scenes ask besides: the next report need not wait for it
  /** @type {Report | null} */
  report = null;
  /** @type {Request | null} */
  request = null;
  /** @type {Issue[]} */
  issues = [];
  /** @type {Set<string>} */
  faulty = new Set();
  /** @type {Described} */
  described;
  /** @type {string[]} */
  presetPaths;
  /** @type {Scenario | null} */
  base = null; // the scenario of the presets alone
  isDescribed = false; // whether `described` is whole, and not only what the first view shows
  #catalogue = null;
  #explanations = new Map();
  #picks = '';
  #evaluated = null;

  // `onanswer` is called when a scene's question is answered.
  constructor(onanswer) {
    this.questions = new Questions(this.aside, onanswer);
  }

  // `report` answers the request without changes; presets stand at `presetPaths`.
  /**
   * @param {Described} described
   * @param {string[]} presetPaths
   * @param {Report} report
   */
  know(described, presetPaths, report) {
    this.described = described;
    this.presetPaths = presetPaths;
    this.engine.know(this.requestFor({}), report);
  }

  /**
   * @param {Inputs} inputs
   * @returns {Request}
   */
  requestFor(inputs) {
    return requestOf(this.described.defaults, inputs, this.presetPaths);
  }

  isOf(inputs) {
    return inputs === this.#evaluated;
  }

  // Calls `onreport` when the answer is there and `onbase` when the presets' own scenario has changed; false if a later change of the
  // inputs took its place.
  async evaluate(inputs, { onreport, onbase }) {
    this.engine.dropWaiting();
    this.aside.dropWaiting();
    this.#evaluated = inputs;
    const picks = JSON.stringify(picksOf(inputs, this.presetPaths));
    // Inputs with a fault take a second question, which a later change may have overtaken.
    const isOvertaken = () => inputs !== this.#evaluated;
    const answer = await answerFor(this.engine, this.requestFor(inputs));
    if (!answer || isOvertaken()) return false;
    if (!this.report && answer.report.issues) {
      const nearest = await nearestAnswer(this.engine, (some) => this.requestFor(some), inputs, answer.issues);
      if (isOvertaken()) return false;
      Object.assign(this, nearest);
    }
    this.issues = answer.issues;
    this.faulty = answer.faulty;
    if (!answer.report.issues) {
      this.request = answer.request;
      this.report = answer.report;
      this.#explanations.clear();
      this.questions.clear();
    }
    onreport();
    if (picks !== this.#picks) {
      const base = await answerFor(this.engine, this.requestFor(JSON.parse(picks)));
      if (!base || isOvertaken()) return false;
      this.#picks = picks;
      this.base = base.report.scenario ?? null;
      onbase();
    }
    return true;
  }

  // The catalogue's parts that the first view lacks: years, sizes, sources.
  /** @returns {Promise<Entry[]>} */
  async catalogue() {
    this.#catalogue ??= await this.engine.ask('presets', '');
    return this.#catalogue;
  }

  // The explanations of a figure of the present report and of those that it rests on ("*": all), by path, and the `sources` of the inputs
  // among them; each asked once.
  async explain(path = '*') {
    const request = this.request;
    if (!this.#explanations.has(path) && request) {
      const answer = await this.engine.call('evaluate', request, path);
      if (request !== this.request || !answer) return null;
      const byPath = new Map((answer.explanations ?? []).map((one) => [one.path, one]));
      this.#explanations.set(path, Object.assign(byPath, { sources: answer.sources }));
    }
    return this.#explanations.get(path);
  }
}
