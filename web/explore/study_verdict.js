// What a study found: how many of the paper's trends hold, and each with its check. `whole`: the core's answer for all
// points.
import { h } from '../dom.js';
import { checkWords, foundWords } from './study_checks.js';
import { t } from './texts.js';

export function verdictOf(whole) {
  const list = whole?.expectations;
  if (!list?.length) return null;
  const held = list.filter(({ holds }) => holds).length;
  const missed = list.filter(({ holds, missed: why }) => !holds && why).map(({ missed: why }) => why);
  const score = t(held === list.length ? 'explore.study.allHold' : 'explore.study.score', { held, all: list.length });
  return missed.length ? `${score} ${t('explore.study.known', { list: missed.join('; ') })}` : score;
}

export function expectationsOf(whole) {
  const list = whole?.expectations;
  if (!list?.length) return '';
  return h(
    'section',
    {},
    h('h2', { class: 'ex-sub' }, t('explore.study.expect')),
    h(
      'ul',
      { class: 'ex-verdicts' },
      list.map(({ text: words, holds, found, source, missed }, at) =>
        h(
          'li',
          { class: holds ? 'good' : missed ? 'known' : 'bad' },
          h('b', {}, holds ? `✓ ${t('explore.study.holds')}` : `✗ ${t('explore.study.fails')}`),
          checkWords(whole.expect?.[at]) || words,
          h('small', {}, foundWords(whole.expect?.[at], found)),
          source && h('small', {}, t('explore.study.source', { source })),
          missed && h('small', {}, t('explore.study.missed', { why: missed })),
        ),
      ),
    ),
  );
}
