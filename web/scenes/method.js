/** @import {Context} from '../types.js' */
import { columnHeads, h, scrolled } from '../dom.js';
import { addStyle } from '../host.js';
import { why } from '../report/figures.js';
import { releases } from '../releases/table.js';
import { text, whole } from '../text/format.js';
import { heading } from './parts.js';
import { validation } from './validation.js';
import { t } from './texts.js';

await Promise.all([addStyle('style/evidence.css'), addStyle('style/method.css')]);

const PARTS = ['products', 'attention', 'collectives', 'training', 'memory', 'serving', 'cost', 'technology'];

// The formulas of a part of the report, each once, with its value here and its source.
/** @param {Context} context */
function part(context, name, list) {
  return h(
    'details',
    { 'class': 'method', 'data-key': `method-${name}` },
    h('summary', {}, h('h2', {}, t('method.part', { part: t(`group.${name}`), count: whole(list.length) }))),
    scrolled(
      t(`group.${name}`),
      h(
        'table',
        { class: 'formulas' },
        columnHeads([t('method.figure'), t('column.value'), t('method.formula'), t('method.source')]),
        h(
          'tbody',
          {},
          list.map((one) =>
            h(
              'tr',
              {},
              h('th', { scope: 'row' }, one.title || one.symbol, why(context, one.path, one.title || one.symbol)),
              h('td', {}, text(one.value, one.unit)),
              h('td', {}, h('code', {}, one.formula)),
              h('td', {}, one.source),
            ),
          ),
        ),
      ),
    ),
  );
}

export const method = {
  id: 'method',
  /** @param {Context} context */
  draw(context) {
    const explained = context.ask('evaluate', context.request, '*')?.explanations ?? [];
    const parts = ['training', 'serving', 'cost'].map((name) => [
      name,
      explained.filter(({ path }) => path.startsWith(`${name}.`)),
    ]);
    return [
      heading(t('method.title'), t('method.lead')),
      h(
        'section',
        { class: 'part' },
        h('h2', {}, t('method.parts')),
        h(
          'dl',
          { class: 'modelled' },
          PARTS.map((id) => [h('dt', {}, t(`modelled.${id}`)), h('dd', {}, t(`modelled.${id}.how`))]),
        ),
      ),
      h('section', { class: 'part' }, validation(context)),
      releases(context),
      parts.filter(([, list]) => list.length).map(([name, list]) => part(context, name, list)),
      h('p', { class: 'note' }, t('method.units')),
    ];
  },
};
