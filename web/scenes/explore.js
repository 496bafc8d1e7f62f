// Explore is loaded when it is first opened, or when the page has nothing else to do: the first view does not pay for it.
/** @import {Context} from '../types.js' */
import { h } from '../dom.js';
import { t } from '../text/strings.js';

const IDLE_MS = 2500;
let view = null;
let failed = null;
let loading = null;

function load() {
  loading ??= import('../explore/view.js').then(
    (module) => (view = module),
    (error) => (failed = error),
  );
  return loading;
}
if (typeof window !== 'undefined') setTimeout(load, IDLE_MS);

export const explore = {
  id: 'explore',
  /** @param {Context} context */
  draw(context) {
    if (view && context.core.isDescribed) return view.draw(context);
    if (!view && !failed) load().then(() => context.stage.draw());
    return [
      h('h1', { class: 'question', tabindex: -1 }, t('scene.explore')),
      h('p', { class: 'lead' }, failed ? t('app.stopped', { message: failed.message }) : t('chart.waiting')),
    ];
  },
};
