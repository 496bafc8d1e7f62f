// A tuned step, which is the answer, next to whole production runs with their own rows.
/** @import {Context} from '../types.js' */
import { h } from '../dom.js';
import { text } from '../text/format.js';
import { errorCell, evidenceTable, loadButton, sourceLink } from './parts.js';
import { t } from './texts.js';

// `runsOf(list)`: the texts of runs, null until they come.
/** @param {Context} context */
export function typical(context, runsOf) {
  const { training } = context.report;
  const evidence = context.lately('evidence-typical', 'evidence', context.request, 'training.typical');
  const runs = evidence?.runs && runsOf(evidence.runs);
  if (!training.typical || !runs) return null;
  const { typical: whole } = training;
  const most = Math.max(...evidence.runs.map(({ measured, computed }) => measured / computed - 1));
  return h(
    'section',
    { class: 'ev-part', id: 'typical' },
    h('h2', {}, t('evidence.typical')),
    h(
      'p',
      { class: 'ev-lead' },
      h(
        'b',
        {},
        t('evidence.typical.lead', {
          step: text(training.step_time_s, 's'),
          mfu: text(training.model_flops_utilization, '%'),
        }),
      ),
      ' ',
      t('evidence.typical.more', {
        count: evidence.runs.length,
        typical: text(whole.step_time_s, 's'),
        typicalMfu: text(whole.model_flops_utilization, '%'),
        share: text(Math.round((evidence.gap - 1) * 100) / 100, '%'),
        days: text(training.time_to_train_s * evidence.gap, 's'),
        tuned: text(training.time_to_train_s, 's'),
      }),
    ),
    h(
      'details',
      { 'data-key': 'typical-runs' },
      h('summary', {}, t('evidence.typical.show')),
      evidenceTable({
        caption: t('evidence.typical.runs'),
        note: t('evidence.typical.runs.sub'),
        columns: [
          { name: t('evidence.column.run') },
          { name: t('evidence.column.measured') },
          { name: t('evidence.column.computed') },
          { name: t('evidence.typical.column') },
          { name: t('evidence.load') },
        ],
        rows: evidence.runs.map((run) => {
          const { what, how } = runs.words(run);
          return [
            [what, h('small', {}, how, ' · ', sourceLink(runs.known(run).source))],
            text(run.measured, 's'),
            text(run.computed, 's'),
            errorCell(run.measured / run.computed - 1, most),
            loadButton(context, runs, run),
          ];
        }),
      }),
    ),
  );
}
