// The end of every scene: its assumptions, and a link to the measured runs most similar to the scenario.
/** @import {Context} from '../types.js' */
import { h } from '../dom.js';
import { t } from '../text/strings.js';

const FIGURES = {
  train: 'training.step_time_s',
  serve: 'serving.tpot_s',
  memory: 'training.memory_bytes.total',
  overview: 'training.step_time_s',
};

/** @param {Context} context */
export function footnote(context, scene, assumed = null) {
  const figure = FIGURES[scene];
  return h(
    'p',
    { class: 'note footnote' },
    assumed && [assumed, ' '],
    figure && [
      h(
        'a',
        {
          href: `#/evidence/${figure}`,
          onclick: (event) => (event.preventDefault(), context.open('evidence', figure)),
        },
        t('assume.sure'),
      ),
      ' ',
    ],
    h(
      'a',
      { href: '#/method', onclick: (event) => (event.preventDefault(), context.open('method')) },
      t('assume.more'),
    ),
  );
}
