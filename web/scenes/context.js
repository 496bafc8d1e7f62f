// What a scene or a panel draws from, by subject; each takes what it needs.
/** @import {Context, Parts} from '../types.js' */

/**
 * @param {Parts} parts
 * @param {Pick<Context, 'hidden' | 'width' | 'hover' | 'toInput'>} place
 * @returns {Context | null} null while there is no report
 */
export function contextOf(parts, place) {
  const { core, dialogs, store } = parts;
  const { report, issues, faulty, base, request, questions } = core;
  if (!report) return null;
  return {
    ...parts,
    ...place,
    report,
    issues,
    faulty,
    base,
    request,
    scenario: report.scenario,
    inputs: store.inputs,
    ask: (verb, ...args) => questions.ask(verb, ...args),
    lately: (slot, verb, ...args) => questions.lately(slot, verb, ...args),
    why: (path) => dialogs.why(path),
    open: (scene, sub) => store.open(scene, sub),
  };
}
