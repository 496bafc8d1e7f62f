/** @import {Context} from '../types.js' */
import { h } from '../dom.js';
import { t } from '../text/strings.js';

// Why a part of the report is not there, with the way to ask for it.
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
