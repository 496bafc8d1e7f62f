// A report path in words: the title that the core gives it; of what a report does not hold, the path's last member.
import { outputOf } from '../text/outputs.js';

export const nameOf = (path) =>
  outputOf(path)?.title ??
  path
    .split('.')
    .at(-1)
    .replace(/_(s|usd|j|bytes)$/, '')
    .replaceAll('_', ' ');
