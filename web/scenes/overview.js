import { tornado } from '../charts/tornado.js';
import { labelIn } from '../form/fields.js';
import { figures } from '../report/figures.js';
import { nameOf } from '../report/names.js';
import { t } from '../text/strings.js';
import { footnote } from './footnote.js';
import { absence, bill, heading, placeholder, servingMemory, timeBar } from './parts.js';

const MOST = 8;
const HEIGHT = 380; // of a tornado of that many rows with its caption and key

// What an owner of the system could change: hardware, mapping and load; not the model, nor what software and kernels were measured to do.
const isLever = (path) =>
  /^(cluster|training|serving|cost)\./.test(path) && !/\.(efficiency|design|framework|engine|tokens)(\.|$)/.test(path);

const reach = ({ down, up }) => Math.max(Math.abs(down), Math.abs(up));

function sensitivity(context) {
  const figure = context.report.training?.feasible ? 'training.time_to_train_s' : 'serving.tpot_s';
  if (!context.report[figure.split('.')[0]]) return null;
  const answer = context.lately(figure, 'sensitivity', context.request, figure, 0.2);
  if (!answer) return placeholder(t('overview.tornado'), HEIGHT);
  const rows = (answer.inputs ?? [])
    .filter((one) => isLever(one.path) && one.low_figure !== null && one.high_figure !== null)
    .map((one) => ({
      path: one.path,
      label: labelIn(context.scenario, one.path),
      down: one.low_figure / answer.value - 1,
      up: one.high_figure / answer.value - 1,
    }))
    .filter((row) => reach(row) > 1e-3)
    .sort((a, b) => reach(b) - reach(a))
    .slice(0, MOST);
  if (!rows.length) return null;
  const drawn = tornado({
    id: 'tornado',
    title: t('overview.tornado'),
    subtitle: t('overview.tornado.sub', { figure: nameOf(figure).toLowerCase() }),
    width: context.width,
    rows,
    onrow: (path) => context.toInput(path),
  });
  drawn.style.setProperty('min-height', `${HEIGHT}px`); // as its place was kept
  return drawn;
}

export const overview = {
  id: 'overview',
  draw(context) {
    const { training, serving, cost } = context.report;
    const shown = [
      training && ['training.time_to_train_s', 'training.model_flops_utilization'],
      serving && ['serving.tpot_s', 'serving.max_batch'],
      cost && ['cost.device_hour_usd'],
      serving?.cost_usd_per_million_tokens != null && ['serving.cost_usd_per_million_tokens'],
    ]
      .filter(Boolean)
      .flat();
    return [
      heading(t('overview.title'), t('overview.lead')),
      sensitivity(context),
      figures(context, shown),
      training ? timeBar(context, { title: t('overview.step') }) : absence(context, 'training'),
      serving ? servingMemory(context, { title: t('overview.token') }) : absence(context, 'serving'),
      cost ? bill(context, { id: 'device-bill', title: t('overview.bill'), lines: cost.device_usd_parts }) : absence(context, 'cost'),
      footnote(context, 'overview'),
    ];
  },
};
