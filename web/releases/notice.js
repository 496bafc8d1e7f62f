// The notice for a link of another release.
import { h } from '../dom.js';
import { nameOf } from '../report/names.js';
import { release } from '../state/release.js';
import { sayTheSame } from '../state/scenario.js';
import { readJson } from '../host.js';
import { text, unitOf } from '../text/format.js';
import { movesOf, scenarios } from './moved.js';
import { t } from './texts.js';

// For scenarios with recorded answers also what moved.
async function detail(core, state) {
  const known = await readJson('data/releases.json');
  const same = ({ inputs, answers }) =>
    answers[state.release] && sayTheSame(core.described.defaults, inputs, state.inputs, core.presetPaths);
  const found = (await scenarios(known, [state.scene])).find(same);
  if (!found || !core.report) return '';
  const moves = movesOf({ answers: { [state.release]: found.answers[state.release] } }, known.figures, core.report);
  if (!moves.length) return t('releases.same');
  const shown = (value, path) => (value === null ? '–' : text(value, unitOf(path)));
  const list = moves.map(({ path, before, after }) =>
    t('releases.move', { name: nameOf(path), before: shown(before, path), after: shown(after, path) }),
  );
  return t('releases.moved', { list: list.join('; ') });
}

export async function tellMoved({ core, store, notice }, state) {
  const words = [t('releases.notice', { was: state.release, now: release() }), await detail(core, state)];
  const more = h('button', { type: 'button', class: 'link', onclick: () => store.open('method') }, t('releases.more'));
  notice(words.filter(Boolean).join(' '), 0, more);
}
