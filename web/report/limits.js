// The bottleneck of each phase: a bar of its time by component, with the largest component named next to the title.
/** @import {Report, Scenario} from '../types.js' */
import { boundParts, timeParts } from '../charts/parts.js';
import { textWidth } from '../charts/lib/scale.js';
import { h } from '../dom.js';
import { number, text, whole } from '../text/format.js';
import { t } from '../text/strings.js';
import { why } from './figures.js';
import { boundText, tokenBound, trainingBound, trainingShares } from './words.js';

const ROOM = 14; // px of a label besides its text

// A wide window has two columns in the scene (media.css), with this gap in px.
const COLUMN_GAP = 40;
export const widthOf = ({ width }) =>
  window.matchMedia('(min-width: 1600px)').matches ? (width - COLUMN_GAP) / 2 : width;

const total = (parts) => parts.reduce((sum, { value }) => sum + value, 0);
const share = (value, all) => `${number((value / all) * 100, 2)}\u00a0%`;

// The components of a phase without those that take no time.
const present = (parts) => parts.filter(({ value }) => value > 0);

// The largest component, and the next one if it is almost as large.
const CLOSE = 0.85;
function largest(parts) {
  const [first, second] = [...parts].sort((a, b) => b.value - a.value);
  const all = total(parts);
  const near = second && second.value > first.value * CLOSE;
  return t(near ? 'limits.close' : 'limits.largest', {
    share: share(first.value, all),
    second: second && second.name,
    next: second && share(second.value, all),
  });
}

function training(context) {
  const report = context.report.training;
  const [, most] = trainingShares(report).reduce((best, one) => (one[1] > best[1] ? one : best));
  const bound = trainingBound(report);
  const kind = ['network', 'bubble', 'latency'].includes(bound) ? bound : 'compute';
  const parts = present(timeParts(report.time_s));
  if (!parts.length) return null;
  return {
    id: 'training',
    path: 'training.step_time_s',
    title: t('limits.training'),
    bound: boundText(bound),
    detail: t(`limits.of.${kind}`, { share: share(most, total(parts)) }),
    parts,
  };
}

const byBound = (times) => present(boundParts(times)).map((one) => ({ ...one, name: t(`limits.bound.${one.id}`) }));

function prefill({ report, scenario }) {
  const { time_by_bound: times, bound } = report.serving;
  const parts = byBound(times.prefill);
  if (!parts.length) return null;
  return {
    id: 'prefill',
    path: 'serving.prefill_s',
    title: t('limits.prefill', { tokens: whole(scenario.serving.prompt) }),
    bound: boundText(bound.prefill),
    detail: largest(parts),
    parts,
  };
}

const NOTICED = 0.005; // share of a token below which other users' prefills are not drawn

function token({ report }) {
  const { time_by_bound: times, bound, tpot_s: tpot, decode_step_s: step } = report.serving;
  const own = byBound(times.decode);
  if (!own.length) return null;
  const waits = tpot - step;
  const others =
    waits > tpot * NOTICED ? [{ id: 'others', name: t('limits.others'), value: waits, color: 'var(--c-others)' }] : [];
  const longest = tokenBound(report.serving);
  return {
    id: 'token',
    path: 'serving.tpot_s',
    title: t('limits.token'),
    bound: boundText(longest),
    detail:
      longest === 'others'
        ? t('limits.step', { share: share(waits, tpot), bound: boundText(bound.decode) })
        : largest([...own, ...others]),
    parts: [...own, ...others],
  };
}

const NAMED = 0.003; // of a bar: what is thinner than a pixel or two has its name in the title alone

// The parts with their labels and their positions: at the start of a wide part, or at the right end of the last part if
// it is visible and there is room.
function placedIn(width, parts) {
  const all = total(parts);
  let at = 0;
  let free = 0; // px, right of the last label
  return parts.map((part, i) => {
    const from = (at / all) * width;
    at += part.value;
    const label = `${part.name} ${text(part.value, 's')}`;
    const size = textWidth(label) + ROOM;
    const fits = (part.value / all) * width > size;
    const isEnd = !fits && i === parts.length - 1 && part.value >= NAMED * all && width - size > free;
    if (fits) free = from + size;
    const place = isEnd ? { right: '0' } : { left: `${((from / width) * 100).toFixed(2)}%` };
    return { ...part, label, place, isEnd, isLabelled: fits || isEnd };
  });
}

// Labels with room are under the bar, the others follow as text.
function bar(context, { id, path, title, bound, detail, parts }, isSaid) {
  const all = total(parts);
  const placed = placedIn(widthOf(context), parts);
  const value = text(all, 's');
  const label = ({ name, value: seconds }) => [name, ' ', h('b', {}, text(seconds, 's'))];
  const swatch = ({ color, hatch }) =>
    h('i', { class: hatch ? 'swatch hatched' : 'swatch', style: hatch ? undefined : { background: color } });
  return h(
    'div',
    { 'class': 'stack', 'data-figure': path, 'id': `limit-${id}` },
    h(
      'div',
      { class: 'ttl' },
      h('h2', {}, title),
      h('span', { class: 'bound' }, isSaid ? '' : [h('b', {}, bound), `: ${detail}`]),
      h('span', { class: 'v' }, value),
      why(context, path, title),
    ),
    h(
      'div',
      {
        'class': 'bar',
        'role': 'img',
        'aria-label': t('limits.bar', { title, value, parts: placed.map((one) => one.label).join(', ') }),
      },
      placed.map(({ value: seconds, color, hatch, label: name }) =>
        h('i', {
          class: hatch ? 'hatched' : undefined,
          title: name,
          style: { flex: `${((seconds / all) * 1000).toFixed(2)} 0 0`, ...(!hatch && { background: color }) },
        }),
      ),
    ),
    h(
      'div',
      { 'class': 'labs', 'aria-hidden': 'true' },
      placed
        .filter((one) => one.isLabelled)
        .map((one) => h('span', { class: one.isEnd ? 'end' : undefined, style: one.place }, label(one))),
    ),
    h(
      'div',
      { 'class': 'rest', 'aria-hidden': 'true' },
      placed
        .filter((one) => !one.isLabelled && one.value >= NAMED * all)
        .map((one) => h('span', {}, swatch(one), label(one))),
    ),
  );
}

// The phases that have times, each with its bottleneck; infinite times are left out.
/** @param {{report: Report, scenario: Scenario}} context */
export function phasesOf(context) {
  const { training: trained, serving } = context.report;
  const phases = [trained?.feasible && training, serving?.feasible && prefill, serving?.feasible && token].filter(
    Boolean,
  );
  return phases.map((phase) => phase(context)).filter(Boolean);
}

// The phase whose bottleneck is the finding of a part.
const FOUND = { training: 'training', serving: 'token' };

// The finding as a sentence, null if the part has none.
export function findingOf(context, part) {
  const phase = phasesOf(context).find(({ id }) => id === FOUND[part]);
  return phase ? t(`finding.${part}`, { bound: phase.bound, detail: phase.detail }) : null;
}

// `said`: the part whose finding is above.
export const limits = (context, said) =>
  phasesOf(context).map((phase) => bar(context, phase, phase.id === FOUND[said]));
