// The memo as a dialog to read, to print as one page, or to save as Markdown.
import { save } from '../charts/lib/export.js';
import { h } from '../dom.js';
import { knownRuns } from '../evidence/known_runs.js';
import { namesOf } from '../evidence/names.js';
import { runWords } from '../evidence/runs.js';
import { addStyle } from '../host.js';
import { adviceQuestion } from '../report/advice.js';
import { openDialog } from '../report/dialog.js';
import { linkOf } from '../state/address.js';
import { release } from '../state/release.js';
import { memoMarkdown, memoOf } from './memo.js';
import { t } from './texts.js';

await addStyle('style/memo.css');

// What fits one page; the rest is in the link and in the Markdown.
const MOST = { changed: 5, chosen: 3, warnings: 3, citations: 5, source: 90, note: 150, why: 330, value: 60 };

const clipped = (words, letters) =>
  words.length > letters ? `${words.slice(0, letters).replace(/[\s,;:]+\S*$/, '')} …` : words;

// A heading with the first of a list, and how many are left out.
function listed(title, rows, most, where, kind) {
  if (!rows.length) return null;
  const left = rows.length - most;
  return h(
    'section',
    {},
    h('h3', {}, t(title)),
    h(
      'ul',
      { class: kind },
      rows.slice(0, most).map((row) => h('li', {}, row)),
      left > 0 && h('li', {}, t(where, { count: left })),
    ),
  );
}

const named = (name, words) => [h('b', {}, name), ` ${words}`];

// An arrow stays on the line of its two values, a sign on that of its number.
const held = (words) => words.replace(/ → /g, '\u00a0→\u00a0').replace(/([▼▲]) /g, '$1\u00a0');

function answers({ answers: rows }) {
  const heads = ['memo.figure', 'memo.value', 'memo.interval', 'memo.more'].map((key) =>
    h('th', { scope: 'col' }, t(key)),
  );
  return h(
    'table',
    { class: 'memo-answers' },
    h('thead', {}, h('tr', {}, heads)),
    h(
      'tbody',
      {},
      rows.map(({ name, value, interval, note }) =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, name),
          h('td', {}, h('b', {}, value)),
          h('td', { class: 'interval' }, interval),
          h('td', {}, note),
        ),
      ),
    ),
  );
}

// Both kinds of changes in one table, so that their columns line up.
function changes({ changes: same, alternatives, columns }) {
  if (!same) return h('section', {}, h('h3', {}, t('memo.changes')), h('p', {}, t('memo.waiting')));
  const group = (title, rows) =>
    rows.length > 0 &&
    h(
      'tbody',
      {},
      h('tr', {}, h('th', { scope: 'rowgroup', colspan: columns.length + 1 }, h('h3', {}, t(title)))),
      rows.map((row) =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, held(row.title)),
          row.effects.map((effect, i) => h('td', { 'data-l': columns[i] }, held(effect))),
        ),
      ),
    );
  if (!same.length && !alternatives.length)
    return h('section', {}, h('h3', {}, t('memo.changes')), h('p', {}, t('memo.none')));
  const heads = [t('memo.change'), ...columns].map((name) => h('th', { scope: 'col' }, name));
  return h(
    'table',
    { class: 'memo-changes' },
    h('thead', {}, h('tr', {}, heads)),
    group('memo.changes', same),
    group('memo.alternatives', alternatives),
  );
}

function pageOf(memo) {
  const { changed, chosen, settings, limits, assumed, warnings, citations } = memo;
  const notes = [
    ...(assumed.length ? [named(`${t('memo.assumed')}:`, clipped(assumed.join(', '), MOST.note))] : []),
    ...warnings.map((one) => clipped(one, MOST.note)),
  ];
  return [
    h('p', { class: 'memo-question' }, memo.question),
    answers(memo),
    listed(
      'memo.limits',
      limits.map(({ title, value, bound }) => named(`${title}, ${value}:`, bound)),
      limits.length,
    ),
    h(
      'div',
      { class: 'memo-two' },
      listed(
        'memo.assumptions',
        settings.map(({ part, lines }) => named(`${part}:`, lines.join(' · '))),
        settings.length,
      ),
      listed(
        'memo.set',
        changed.length
          ? changed.map(({ label, value }) => named(`${label}:`, clipped(value, MOST.value)))
          : [t('memo.default')],
        MOST.changed,
        'memo.rest',
      ),
    ),
    listed(
      'memo.chosen',
      chosen.map(({ label, value, why }) => named(`${label} ${value}.`, why)),
      MOST.chosen,
      'memo.rest.markdown',
    ),
    changes(memo),
    listed('memo.warnings', notes, MOST.warnings, 'memo.rest.markdown'),
    listed(
      'memo.evidence',
      memo.evidence.map(({ name, why }) => named(`${name}:`, clipped(why, MOST.why))),
      memo.evidence.length,
    ),
    listed(
      'memo.sources',
      citations.map(({ name, sources }) =>
        named(`${name}:`, clipped(sources.map(([, source]) => source).join('; '), MOST.source)),
      ),
      MOST.citations,
      'memo.rest.markdown',
      'columns',
    ),
    h(
      'p',
      { class: 'memo-made' },
      t('memo.made', { release: memo.release, date: memo.date }),
      ' ',
      h('a', { href: memo.link }, memo.link),
    ),
  ];
}

export async function openMemo({ core, store, stage, advice: asked }) {
  const [catalogue, link] = await Promise.all([core.catalogue(), linkOf(store.state)]);
  const date = new Intl.DateTimeFormat('en', { dateStyle: 'long' }).format(new Date());
  const sheet = h('article', { class: 'memo' });
  let memo;
  const button = (name, run) => h('button', { type: 'button', onclick: run }, t(name));
  const buttons = [
    button('memo.print', () => window.print()),
    button('memo.save', () => save(new Blob([memoMarkdown(memo)], { type: 'text/markdown' }), 'sizing-memo.md')),
  ];
  const show = () => {
    const context = stage.context();
    const runNamed = (figure, id) => {
      const run = context
        .lately(`memo-${figure}`, 'evidence', context.request, figure)
        ?.runs?.find((one) => one.id === id);
      const known = run && knownRuns(context, [run]);
      return known ? Object.values(runWords(known(run), run.setting, namesOf(context))).join(', ') : undefined;
    };
    const { report, faulty, inputs } = context;
    const { question } = adviceQuestion(context) ?? {};
    const { report: advice, isFresh } = question ? asked.on(question) : { report: { changes: [] }, isFresh: true };
    memo = memoOf({
      report,
      faulty,
      inputs,
      described: core.described,
      catalogue,
      advice: isFresh ? advice : null,
      runNamed,
      link,
      release: release(),
      date,
    });
    sheet.replaceChildren(...pageOf(memo).filter(Boolean));
    sheet.setAttribute('aria-busy', String(!isFresh));
    for (const one of buttons) one.disabled = !isFresh;
  };
  const { dialog } = openDialog(t('memo.title'), h('div', { class: 'row memo-tools' }, buttons), sheet);
  dialog.classList.add('memo-dialog');
  dialog.addEventListener('close', stage.follow(show));
  show();
}
