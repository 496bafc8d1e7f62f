// The time of a training step by bound against the number of GPUs: halves and doubles of the present number.
/** @import {Context} from '../types.js' */
import { boundParts } from '../charts/parts.js';
import { stepColumns } from '../charts/step_columns.js';
import { scrub } from '../report/scrub.js';
import { trainedOn } from '../report/words.js';
import { placeholder } from './parts.js';
import { t } from './texts.js';

const HEIGHT = 380;
const FACTORS = [1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8];
const BOUNDS = ['compute', 'l1', 'l2', 'memory', 'network', 'latency', 'bubble'];
const FIGURES = ['training.feasible', ...BOUNDS.map((bound) => `training.time_by_bound.${bound}`)];

let counts = []; // that stand while one of them is picked

// The counts around the present one; they stay as long as it is among them.
function countsAbout(now) {
  if (!counts.includes(now))
    counts = FACTORS.map((factor) => now * factor).filter((one) => Number.isInteger(one) && one >= 1);
  return counts;
}

/** @param {Context} context */
export function stepCurve(context) {
  const { inputs, scenario, request } = context;
  const path = inputs['training.devices'] === undefined ? 'cluster.devices' : 'training.devices';
  const own = trainedOn(scenario);
  const asked = countsAbout(own);
  const answer = context.lately(
    'step-columns',
    'sweep',
    { request, axes: [`${path}=${asked.join(',')}`], report: FIGURES },
    0,
    asked.length,
  );
  if (!answer) return placeholder(t('step.title'), HEIGHT);
  const columns = (answer.rows ?? [])
    .filter(({ figures: [fits] }) => fits)
    .map(({ inputs: [devices], figures: [, ...times] }) => ({
      devices,
      parts: boundParts(Object.fromEntries(BOUNDS.map((bound, i) => [bound, times[i]]))),
    }));
  if (columns.length < 2) return null;
  return stepColumns({
    id: 'step-columns',
    title: t('step.title'),
    subtitle: t('step.sub'),
    width: context.width,
    columns,
    own,
    onpick: scrub(context, path, '', { from: own }),
  });
}
