// A scenario's report, if it has one.
/** @import {Answer} from '../types.js' */
import { withoutFaulty } from '../state/scenario.js';

const PARTS = ['training', 'serving', 'cost'];

// The report of a request with errors: the parts with issues are left out, the others are still answered. Null if a
// later evaluation replaced this one.
/** @returns {Promise<Answer | null>} */
export async function answerFor(engine, asked) {
  let request = asked;
  let report = await engine.evaluate(request);
  const issues = report?.issues ?? [];
  const faulty = new Set();
  if (issues.length) {
    const rest = withoutFaulty(request, issues);
    if (rest) {
      for (const part of PARTS) if (rest[part] === null && request[part] !== null) faulty.add(part);
      request = rest;
      report = await engine.evaluate(rest);
    }
  }
  return report && { request, report, issues, faulty };
}

// For inputs without an answer: that of the inputs without issues, or of none. {request, report}, or null.
/** @returns {Promise<Pick<Answer, 'request' | 'report'> | null>} */
export async function nearestAnswer(engine, requestFor, inputs, issues) {
  const faulty = (path) =>
    issues.some(
      (issue) => issue.path === path || issue.path.startsWith(`${path}.`) || path.startsWith(`${issue.path}.`),
    );
  const sound = Object.fromEntries(Object.entries(inputs).filter(([path]) => !faulty(path)));
  for (const some of [sound, {}]) {
    const request = requestFor(some);
    const report = await engine.evaluate(request);
    if (report && !report.issues) return { request, report };
  }
  return null;
}
