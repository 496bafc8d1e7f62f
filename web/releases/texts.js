// What the page says of releases, in English.
import { extend } from '../text/strings.js';

export const texts = {
  'releases.title': 'What moved between releases',
  'releases.this': 'Slipstick {release}',
  'releases.lead':
    'Every link names the release that made it. The answers that former releases gave to {count} scenarios are kept and computed again here; below are those that moved by more than {share}.',
  'releases.waiting': 'Computing {count} scenarios…',
  'releases.none': 'No answer moved.',
  'releases.scenario': 'Scenario',
  'releases.then': 'Then',
  'releases.now': 'Now, {release}',
  'releases.notice': 'This link was made by Slipstick {was}; you see the answers of {now}.',
  'releases.same': 'None of this scenario’s answers moved.',
  'releases.moved': 'Moved in this scenario: {list}.',
  'releases.move': '{name}, {before} → {after}',
  'releases.more': 'See all',
};
export const t = extend(texts);
