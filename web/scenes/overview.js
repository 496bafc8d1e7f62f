/** @import {Context} from '../types.js' */
import { findingOf, limits, widthOf } from '../report/limits.js';
import { h } from '../dom.js';
import { NEWEST } from '../state/scenario.js';
import { t } from '../text/strings.js';
import { absence } from './absence.js';
import { footnote } from './footnote.js';

// Other questions to begin with, as links.
export const EXAMPLES = [
  ['big', 'cluster.devices=16384&model=llama-3.1-405b&serving=null'],
  ['moe', 'cluster=dgx-b200&model=deepseek-v3&serving.devices=8&training=null'],
  [
    'lora',
    'cluster=single-rtx-4090&model=llama-3.1-8b&serving=null&training.framework=fsdp&training.frozen_precision=nf4&training.global_batch=16&training.recompute=full&training.sequence=2048&training.tokens=10+Mtoken&training.trainable=lora',
  ],
];

// Example devices: a card, a laptop, a desktop, a server.
export const CARDS = ['single-rtx-4090', 'single-m4-max', 'single-dgx-spark', 'dgx-h100'];

// Models that run on the visitor's device, a press away.
const cards = ({ open }) =>
  h(
    'section',
    { class: 'part span' },
    h('h2', {}, t('overview.fits')),
    h(
      'ul',
      { class: 'examples' },
      CARDS.map((id) =>
        h(
          'li',
          {},
          h(
            'button',
            {
              'type': 'button',
              'class': 'button',
              'data-key': `card-${id}`,
              'onclick': () => open('explore', `fits/${id}`),
            },
            t(`overview.fits.${id}`),
          ),
        ),
      ),
    ),
  );

// Scrolls to the answer of another question; the browser alone would keep the position of the link.
const toTop = () => setTimeout(() => window.scrollTo(0, 0));

const others = () =>
  h(
    'section',
    { class: 'part span', onclick: ({ target }) => target.closest('a') && toTop() },
    h('h2', {}, t('overview.others')),
    h(
      'ul',
      { class: 'examples' },
      EXAMPLES.map(([id, query]) =>
        h('li', {}, h('a', { class: 'button', href: `#/overview?${query}&v=${NEWEST}` }, t(`overview.example.${id}`))),
      ),
      h('li', {}, h('a', { class: 'button', href: '#/lessons' }, t('overview.example.lessons'))),
    ),
  );

// The chart to move: for training the step against the number of GPUs, for serving the speed of a token against the
// users. `height`: its px in a wide window, so that nothing moves when it comes.
const MOVERS = {
  training: { module: 'step_curve', draw: 'stepCurve', height: 388 },
  serving: { module: 'users_curve', draw: 'usersCurve', height: 530 },
};

/** @param {Context} context */
function mover(context, part) {
  const { module: name, draw, height } = MOVERS[part];
  const module = context.modules.late(name);
  return h(
    'div',
    { style: { 'min-height': `${height}px` } },
    module && module[draw]({ ...context, width: widthOf(context) }),
  );
}

// A button that switches to the other part and back.
const otherPart = ({ stage }, parts, shown) => {
  const other = parts.find((part) => part !== shown);
  return (
    other &&
    h(
      'button',
      { 'type': 'button', 'class': 'button', 'data-key': 'other-part', 'onclick': () => stage.choose('part', other) },
      t(`overview.show.${other}`),
    )
  );
};

// Its title is shown until the module that draws the rest has loaded.
/** @param {Context} context */
function nextChanges(context) {
  const module = context.modules.late('advice');
  return module
    ? module.advice(context)
    : h(
        'section',
        { 'class': 'part advice', 'id': 'advice', 'aria-busy': 'true' },
        h('div', { class: 'headrow' }, h('h2', {}, t('advice.title'))),
      );
}

export const overview = {
  id: 'overview',
  /** @param {Context} context */
  draw(context) {
    const { report, faulty, hidden } = context;
    const parts = ['training', 'serving'].filter((part) => report[part]?.feasible);
    const shown = parts.find((part) => part === context.stage.chosen('part')) ?? parts[0];
    return [
      h(
        'section',
        { class: 'part' },
        h(
          'div',
          { class: 'headrow' },
          h('h1', { class: 'question', tabindex: -1 }, (!hidden && findingOf(context, shown)) || t('overview.none')),
          otherPart(context, parts, shown),
        ),
        ['training', 'serving']
          .filter((part) => faulty.has(part))
          .slice(0, 1)
          .map((part) => absence(context, part)),
        shown && !hidden && mover(context, shown),
        limits(context, shown),
      ),
      nextChanges(context),
      cards(context),
      others(),
      footnote(context, 'overview'),
    ];
  },
};
