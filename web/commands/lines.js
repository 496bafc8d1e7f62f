// The form of a written command: program and version, one flag per line, and comments for settings that it cannot
// express.
import { quoted } from './words.js';

// `dashes`: the beginning of a flag.
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
