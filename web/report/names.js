// A report path in words: its title in the core; for paths that a report does not have, the last member.
import { outputOf } from '../text/outputs.js';

export const nameOf = (path) =>
  outputOf(path)?.title ??
  path
    .split('.')
    .at(-1)
    .replace(/_(s|usd|j|bytes)$/, '')
    .replaceAll('_', ' ');
