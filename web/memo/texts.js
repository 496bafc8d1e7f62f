// What the sizing memo says, in English.
import { extend } from '../text/strings.js';

export const texts = {
  'memo.title': 'Sizing memo',
  'memo.print': 'Print',
  'memo.save': 'Save as Markdown',
  'memo.waiting': 'Next best changes are being evaluated…',
  'memo.figure': 'Answer',
  'memo.value': 'Value',
  'memo.interval': 'Interval',
  'memo.more': 'With it',
  'memo.limits': 'What limits each phase',
  'memo.assumptions': 'Assumptions',
  'memo.set': 'Changed inputs',
  'memo.chosen': 'Chosen by auto',
  'memo.assumed': 'Inputs not set by a measurement',
  'memo.warnings': 'Notes',
  'memo.changes': 'Next best changes',
  'memo.alternatives': 'Alternatives: other hardware',
  'memo.change': 'Change',
  'memo.evidence': 'Evidence',
  'memo.sources': 'Sources of the presets',
  'memo.rest': 'and {count} more, in the link',
  'memo.rest.markdown': 'and {count} more, in the Markdown',
  'memo.none': 'No change improves it.',
  'memo.default': 'None: the default scenario.',
  'memo.on': 'on',
  'memo.off': 'off',
  'memo.made': 'Computed by Slipstick {release} on {date}; this link opens the scenario again:',
};
export const t = extend(texts);
