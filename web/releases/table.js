// Method's list: this release, and the answers that moved since former ones.
/** @import {Context} from '../types.js' */
import { columnHeads, h } from '../dom.js';
import { nameOf } from '../report/names.js';
import { release } from '../state/release.js';
import { number, text, unitOf } from '../text/format.js';
import { MOVED, movesOf, scenarios } from './moved.js';
import { t } from './texts.js';

// The moves, computed once, as they do not depend on the open scenario.
let found = null;
let running = false;

async function compute({ core, store, stage }, known) {
  if (running) return;
  running = true;
  const moves = [];
  try {
    for (const scenario of await scenarios(known, ['method'])) {
      const report = await core.engine.ask('evaluate', core.requestFor(scenario.inputs), '');
      moves.push(...movesOf(scenario, known.figures, report).map((move) => ({ ...move, ...scenario })));
    }
    found = moves;
  } finally {
    running = false;
  }
  if (store.scene === 'method') stage.draw();
}

const share = ({ before, after }) =>
  before === null || after === null
    ? '–'
    : `${after < before ? '▼' : '▲'} ${number(Math.abs(after / before - 1) * 100, 2)}\u00a0%`;
const shown = (value, path) => (value === null ? '–' : text(value, unitOf(path)));

// A row an answer; on a phone too, where the scenario wraps.
function table(moves) {
  const heads = [t('releases.scenario'), t('releases.then'), t('releases.now', { release: release() })];
  return h(
    'table',
    { class: 'moved' },
    h('caption', { class: 'visually-hidden' }, t('releases.title')),
    columnHeads(heads),
    h(
      'tbody',
      {},
      moves.map((move) =>
        h(
          'tr',
          {},
          h(
            'th',
            { scope: 'row' },
            h('a', { href: move.link }, move.title),
            h('br'),
            h('small', {}, nameOf(move.path)),
          ),
          h('td', {}, shown(move.before, move.path), h('br'), h('small', {}, move.release)),
          h('td', {}, shown(move.after, move.path), h('br'), h('small', {}, share(move))),
        ),
      ),
    ),
  );
}

/** @param {Context} context */
export function releases(context) {
  const known = context.files.at('data/releases.json');
  if (known && !found) compute(context, known);
  const count = known?.links.length ?? 0;
  return h(
    'section',
    { class: 'part', id: 'releases' },
    h('h2', {}, t('releases.title')),
    h('p', { class: 'note', id: 'release' }, t('releases.this', { release: release() })),
    known && h('p', { class: 'note' }, t('releases.lead', { count, share: text(MOVED, '%') })),
    !found
      ? h('p', { class: 'note' }, t('releases.waiting', { count }))
      : found.length
        ? table(found)
        : h('p', { class: 'note' }, t('releases.none')),
  );
}
