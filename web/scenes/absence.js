/** @import {Context} from '../types.js' */
import { h } from '../dom.js';
import { t } from '../text/strings.js';

// The reason why a part of the report is missing, with a way to turn it on.
/** @param {Context} context */
export function absence(context, part) {
  if (context.faulty.has(part)) return h('p', { class: 'absent' }, t('absent.faulty'));
  if (context.scenario[part] === null)
    return h(
      'p',
      { class: 'absent' },
      `${t(`absent.${part}`)} `,
      h('button', { type: 'button', class: 'link', onclick: () => context.store.turnOn(part) }, t('absent.ask')),
    );
  return h('p', { class: 'absent' }, t('absent.part'));
}
