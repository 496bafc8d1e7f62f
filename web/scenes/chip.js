// The Chip scene is loaded when it is first opened, or when the page has nothing else to do: the first view does not pay for it.
/** @import {Context} from '../types.js' */
import { h } from '../dom.js';
import { t } from '../chip/texts.js';

const IDLE_MS = 1500;
let view = null;
let failed = null;
let loading = null;

function load() {
  loading ??= import('../chip/view.js').then(
    (module) => (view = module),
    (error) => (failed = error),
  );
  return loading;
}
// A link to the scene starts it at once, beside the module.
if (typeof window !== 'undefined') setTimeout(load, /^#\/chip/.test(location.hash) ? 0 : IDLE_MS);

export const chip = {
  id: 'chip',
  /** @param {Context} context */
  draw(context) {
    if (view) return view.draw(context);
    if (!failed) load().then(() => context.stage.draw());
    return [
      h('h1', { class: 'question', tabindex: -1 }, t('chip.title')),
      h('p', { class: 'lead' }, failed ? t('app.stopped', { message: failed.message }) : t('chart.waiting')),
    ];
  },
};
