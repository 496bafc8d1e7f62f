// A scenario's report, as far as it has one.
/** @import {Answer} from '../types.js' */
import { withoutFaulty } from '../state/scenario.js';

const PARTS = ['training', 'serving', 'cost'];

// The report of a request with what is wrong in it: parts that the issues are about are left out, the others still answer. Null
// where a later evaluation took its place.
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

// For inputs that have no answer: that of those which no issue is about, or of none. {request, report}, or null.
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
