// How a command is written: what was started with which version, a flag a line, and what it cannot say as comments.
import { quoted } from './words.js';

// `dashes` is what a flag begins with.
export function linesOf(start, flags, dashes = '--') {
  return [
    start,
    ...flags.map(([flag, value]) => `  ${dashes}${flag}${value === true ? '' : ` ${quoted(value)}`}`),
  ].join(' \\\n');
}

export const comments = (sentences) =>
  sentences
    .filter(Boolean)
    .map((sentence) => `# ${sentence}\n`)
    .join('');

// The sentences of those rows [whether, sentence] that hold.
export const holding = (rows) => rows.filter(([holds]) => holds).map(([, sentence]) => sentence);
