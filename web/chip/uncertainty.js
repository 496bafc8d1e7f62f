// The uncertainty of the price per hour: samples over the ranges of the uncertain inputs, in steps that a change
// cancels, and the sensitivities.
/** @import {Context} from '../types.js' */
import { spread } from '../charts/spread.js';
import { tornado } from '../charts/tornado.js';
import { h } from '../dom.js';
import { labelOf } from '../form/fields.js';
import { nameOf } from '../report/names.js';
import { inSentence } from '../explore/sweep_values.js';
import { get } from '../state/paths.js';
import { number, text, whole } from '../text/format.js';
import { choose, chosen, pick, press, row } from './choices.js';
import { study } from './dies.js';
import { t } from './texts.js';

const STEPS = [1000, 3000, 10000];
const FIGURES = ['device_usd', 'device_hour_usd']; // first what the answer above has the interval of
const MOST = 12;

/** @param {Context} context */
const inputName = (context, path) => {
  const [, die] = /^cost\.device\.dies\.(\d+)\./.exec(path) ?? [];
  const [, step] = /^cost\.device\.package\.steps\.(\d+)\./.exec(path) ?? [];
  const bill = context.scenario.cost.device;
  const of = die !== undefined ? bill.dies[die].name : step !== undefined ? bill.package.steps[step].name : '';
  const name = labelOf(path);
  return of
    ? `${name}, ${of}`
    : path === 'cost.device.memory.price'
      ? t('chip.memoryPrice')
      : path === 'cost.device.package.price'
        ? t('chip.packagePrice')
        : name;
};

/** @param {Context} context */
function draws(context, figure) {
  const running = chosen(context, 'draws', STEPS.at(-1));
  let last = null;
  let waiting = false;
  for (const size of STEPS.filter((one) => one <= running)) {
    const answer = study(context, 'monte_carlo', { last: size, draws: false, seed: 1 });
    if (!answer) {
      waiting = true;
      break;
    }
    last = answer;
  }
  if (!last) return h('p', { class: 'summary', role: 'status' }, t('chart.waiting'));
  const done = last.last;
  return spread({
    id: 'spread',
    title: t(`chip.spread.${figure}`),
    subtitle: t('chip.spread.sub'),
    width: context.width,
    unit: '$',
    counts: last[`${figure}_counts`],
    quantiles: last[`${figure}_quantiles`],
    here: context.report.cost[figure],
    draws: done,
    controls: [
      row(
        pick(
          'chip-spread-figure',
          t('chip.spread.of'),
          FIGURES.map((value) => ({ value, name: nameOf(`cost.${value}`) })),
          figure,
          choose(context, 'figure'),
        ),
        h('progress', { 'max': STEPS.at(-1), 'value': done, 'aria-label': t('chip.spread.progress') }),
        h('span', { class: 'quiet' }, t('chip.spread.done', { done: whole(done), all: whole(STEPS.at(-1)) })),
        waiting && press('chip-spread-stop', t('chip.spread.stop'), () => choose(context, 'draws')(done)),
        !waiting &&
          done < STEPS.at(-1) &&
          press('chip-spread-go', t('chip.spread.go'), () => choose(context, 'draws')(STEPS.at(-1))),
      ),
    ],
  });
}

/** @param {Context} context */
export function uncertainty(context) {
  const figure = chosen(context, 'figure', FIGURES[0]);
  const swings = study(context, 'tornado')?.swings;
  const now = context.report.cost[figure];
  const value = (path) => get(context.scenario, path);
  const isOfLoss = (path) => typeof value(path) !== 'number' || path.endsWith('yield_each');
  const shown = (path, share) => (isOfLoss(path) ? t('chip.loss', { share: number(share) }) : `× ${number(share)}`);
  const named = (path) => {
    const name = inputName(context, path);
    return isOfLoss(path) ? t('chip.loss.of', { name: inSentence(name) }) : name;
  };
  return [
    draws(context, figure),
    figure === FIGURES[0] && h('p', { class: 'note' }, t('chip.spread.fewer')),
    swings?.length
      ? tornado({
          id: 'cost-tornado',
          title: t('chip.tornado', { figure: inSentence(nameOf(`cost.${figure}`)) }),
          subtitle: t('chip.tornado.sub', { value: text(now, '$') }),
          width: context.width,
          ends: [t('chip.tornado.low'), t('chip.tornado.high')],
          rows: [...swings]
            .map((one) => ({ ...one, ends: one[figure].map((end) => end / now - 1) }))
            .sort((a, b) => Math.abs(b.ends[1] - b.ends[0]) - Math.abs(a.ends[1] - a.ends[0]))
            .filter(({ ends: [low, high] }) => low !== high)
            .slice(0, MOST)
            .map(({ path, low, high, ends: [down, up] }) => ({
              path,
              label: named(path),
              down,
              up,
              names: [shown(path, low), shown(path, high)],
            })),
          onrow: (path) => context.toInput(path),
        })
      : null,
  ];
}
