// What a study found: how many of the paper's trends hold, each with its check, and the figures of all points as a table.
// `whole`: the core's answer for all points.
import { h } from '../dom.js';
import { checkWords, foundWords, nameOfFigure, shown } from './study_checks.js';
import { t } from './texts.js';

const MOST_COLUMNS = 4; // of figures in a table; with more each point is a card

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

export function pointsTable(study, answered) {
  const points = answered.filter(Boolean);
  if (!points.length) return '';
  const paths = study.report.filter((path) =>
    points.some(({ figures }) => !Array.isArray(figures[path]) && figures[path] !== null),
  );
  return h(
    'details',
    { 'class': 'ex-box', 'data-key': 'study-points' },
    h('summary', {}, t('explore.study.points')),
    h(
      'div',
      { 'class': 'scroll', 'tabindex': 0, 'role': 'region', 'aria-label': t('explore.study.points') },
      h(
        'table',
        { class: paths.length > MOST_COLUMNS ? 'ex-points' : 'plain by-rows' },
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            [t('column.point'), ...paths.map(nameOfFigure), t('heat.reason')].map((one) =>
              h('th', { scope: 'col' }, one),
            ),
          ),
        ),
        h(
          'tbody',
          {},
          points.map(({ label, figures, issues, reason }) =>
            h(
              'tr',
              {},
              h('th', { scope: 'row' }, label),
              paths.map((path) => h('td', { 'data-name': nameOfFigure(path) }, shown(figures[path], path))),
              h(
                'td',
                { 'class': issues.length || reason ? undefined : 'none', 'data-name': t('heat.reason') },
                issues.length ? issues.map(({ message }) => message).join('; ') : reason,
              ),
            ),
          ),
        ),
      ),
    ),
  );
}
