// An input as the unknown: its largest or smallest value that keeps a figure within a bound. Loaded on demand.
import { fillSelect, figureGroups, figureName, select, textBox } from '../explore/controls.js';
import { nameOfValue } from '../explore/sweep_values.js';
import { h } from '../dom.js';
import { addStyle } from '../host.js';
import { openDialog } from '../report/dialog.js';
import { get } from '../state/paths.js';
import { withOverrides } from '../state/scenario.js';
import { text, unitOf } from '../text/format.js';
import { inUnit, show, unitIn } from '../text/measure.js';
import { pieces } from '../text/strings.js';
import { labelOf } from './fields.js';
import { t } from './texts.js';

await addStyle('style/dialogs.css');

const FITS = ['serving.feasible', 'training.feasible'];

// The search range: four binary orders below the present value, eight above, within the input's range.
export function rangeOf({ kind, low = 0, high = Infinity, unit, unit_factor: factor }, value) {
  const size = typeof value === 'number' && value > 0 ? value : 8;
  const counted = kind === 'count' || kind === 'length';
  const from = Math.max(size / 16, low);
  const to = Math.min(size * 256, high);
  const write = (one) => (kind === 'quantity' ? show(one, unit, factor) : String(one));
  return counted ? [write(Math.max(1, Math.floor(from))), write(Math.floor(to))] : [write(from), write(to)];
}

const labelled = (words, control) => h('label', { class: 'solve-field' }, words, control);

// In the description, a place in a list is "*".
const described = (inputs, path) => inputs.find((input) => input.path === path.replace(/\.\d+(?=\.|$)/g, '.*'));

export function openSolve({ core, store }, path) {
  const input = { ...described(core.described.inputs, path), path };
  const { report, request, engine } = core;
  const [low, high] = rangeOf(input, get(report.scenario, path));
  const unit = unitIn(low);
  const from = textBox(low, { id: 'solve-from' });
  const to = textBox(high, { id: 'solve-to' });
  const figure = select([], '', suggest);
  const how = select([
    { value: '<=', name: t('explore.atMost') },
    { value: '>=', name: t('explore.atLeast') },
  ]);
  const bound = textBox('');
  const answer = h('div', { role: 'status', class: 'solved' });
  const fits = FITS.filter((one) => get(report, one) !== undefined);
  const first = fits.find((one) => one.startsWith(path.split('.')[0])) ?? fits[0];
  fillSelect(figure, [...fits.map((one) => ({ value: one, name: t(`solve.${one}`) })), ...figureGroups(report)], first);
  const bounds = h('span', { class: 'solve-bound' }, labelled(t('solve.how'), how), labelled(t('solve.bound'), bound));

  function suggest() {
    const isFit = FITS.includes(figure.value);
    bounds.hidden = isFit;
    const value = get(report, figure.value);
    how.value = isFit ? '>=' : '<=';
    bound.value = isFit ? '1' : typeof value === 'number' ? String(Number(value.toPrecision(3))) : '';
  }
  suggest();

  function said({ value, again, which, reason, figure: reached, held, issues }) {
    const name = labelOf(path);
    if (issues) return issues.map(({ message }) => h('p', { class: 'faulty' }, message));
    if (value === null || value === undefined) return [h('p', {}, t('explore.answer.none', { input: name, reason }))];
    const fits = FITS.includes(figure.value);
    const words = pieces(`${fits ? 'explore.fits' : 'explore.answer'}.${which}`, {
      input: name,
      value: h('b', {}, nameOfValue(value, input)),
      again: nameOfValue(again, input),
      figure: figureName(figure.value),
      result: h('b', {}, text(reached.value, unitOf(figure.value))),
    });
    const use = () => {
      store.setInputs(withOverrides(store.inputs, { ...held, [path]: value }));
      close();
    };
    return [
      h('p', { class: 'lead' }, words),
      h(
        'div',
        { class: 'row' },
        h('button', { type: 'button', id: 'solve-take', onclick: use }, t('explore.answer.use')),
      ),
    ];
  }

  async function solve() {
    answer.replaceChildren(h('p', {}, t('chart.waiting')));
    const range = `${path}=${[from, to].map((box) => inUnit(box.value.trim(), unit)).join(':')}`;
    const found = await engine.call('solve', request, range, `${figure.value}${how.value}${bound.value.trim()}`);
    if (found) answer.replaceChildren(...said(found));
  }
  const { dialog, close } = openDialog(
    t('solve.title', { input: labelOf(path) }),
    h('p', {}, t('solve.lead', { input: labelOf(path) })),
    h('div', { class: 'solve-row' }, labelled(t('solve.from'), from), labelled(t('solve.to'), to)),
    h('div', { class: 'solve-row' }, labelled(t('solve.until'), figure), bounds),
    h(
      'div',
      { class: 'row' },
      h('button', { type: 'button', class: 'primary', id: 'solve-run', onclick: solve }, t('explore.run')),
    ),
    answer,
  );
  dialog.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && event.target.matches('input')) solve();
  });
}
