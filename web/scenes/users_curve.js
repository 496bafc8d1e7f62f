// Throughput of a GPU against the speed of a user's tokens, as more requests in total are at once: the answer is a point of the line, and
// dragging it changes how many there are.
/** @import {Context} from '../types.js' */
import { operatingCurve } from '../charts/operating_curve.js';
import { measuredPoints } from '../evidence/curve_runs.js';
import { loadOf, requestsIn, withLoad } from '../form/load.js';
import { scrub } from '../report/scrub.js';
import { perUser } from '../report/words.js';
import { readQuestion, valueIn } from '../size/question.js';
import { withChanges, withChoicesHeld } from '../state/scenario.js';
import { text, whole } from '../text/format.js';
import { ghostOf, placeholder } from './parts.js';
import { t } from './texts.js';

const HEIGHT = 450;
const REQUESTS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048];
const FIGURES = ['serving.tpot_s', 'serving.tokens_per_s_per_device', 'serving.feasible', 'serving.requests_waiting'];
const PATH = 'serving.concurrency';

// The request as a closed loop. A layout that was chosen for a batch per replica, or for arrivals, stays while the requests move, so that
// the line passes the answer; one that was chosen for requests in total is chosen at each count.
function closedLoop({ request, scenario, report }) {
  const closed = withChanges(request, { 'serving.requests_per_s': null, 'serving.waves': null });
  return loadOf(scenario.serving) === 'concurrency'
    ? closed
    : withChoicesHeld(closed, scenario, report.serving.chosen ?? []);
}

/** @param {Context} context */
export function usersCurve(context) {
  const { report, scenario, store } = context;
  const { serving } = report;
  const target = valueIn('tpot', readQuestion(store.view.size).tpot);
  const request = closedLoop(context);
  const held = target && context.ask('solve', request, `${PATH}=1:8192`, `serving.tpot_s<=${target} s`);
  const most = held && !held.issues && held.which === 'largest' ? held.value : null;
  const asked = [...new Set([...REQUESTS, most].filter(Boolean))].sort((a, b) => a - b);
  const answer = context.lately(
    'users',
    'sweep',
    { request, axes: [`${PATH}=${asked.join(',')}`], report: FIGURES },
    0,
    asked.length,
  );
  if (!answer) return placeholder(t('serve.users'), HEIGHT);
  // If requests wait for memory, more requests change nothing.
  const rows = (answer.rows ?? []).filter(
    ({ figures: [tpot, device, fits, waiting] }) => tpot > 0 && device > 0 && fits && !(waiting > 0),
  );
  if (rows.length < 2) return null;
  const points = rows.map(({ inputs: [requests], figures: [tpot, device] }) => ({
    x: perUser(tpot),
    y: device,
    batch: requests,
    tpot,
  }));
  const last = points.find(({ batch }) => batch === most);
  const line = points.filter(({ batch }) => batch !== most || REQUESTS.includes(batch));
  const measured = measuredPoints(context);
  const own = { x: perUser(serving.tpot_s), y: serving.tokens_per_s_per_device, batch: requestsIn(serving) };
  const write = (value, goesOn) =>
    store.setInputs(withLoad(store.inputs, 'concurrency', serving, String(value)), store.sub, goesOn);
  return operatingCurve({
    id: 'users-curve',
    title: t('serve.users'),
    subtitle: t('serve.users.sub', {
      prompt: whole(scenario.serving.prompt),
      output: whole(scenario.serving.output),
      devices: whole(scenario.serving.devices ?? scenario.cluster.devices),
    }),
    width: context.width,
    points: line,
    measured: measured.map(({ x, y, name, prompt, output }) => ({
      x,
      y,
      text: t('serve.measured.label', { prompt: whole(prompt), output: whole(output) }),
      label: t('serve.measured.mark', { name, user: text(x, ''), device: text(y, '') }),
    })),
    here: { ...own, text: t('serve.you', { requests: whole(own.batch), tpot: text(serving.tpot_s, 's') }) },
    before: ['serving.tpot_s', 'serving.tokens_per_s_per_device'].some((path) => ghostOf(context, path)) && {
      x: perUser(context.ghost.serving.tpot_s),
      y: context.ghost.serving.tokens_per_s_per_device,
      text: t('serve.before'),
    },
    level: target && { x: perUser(target), text: t('serve.level', { target: text(target, 's') }) },
    last: last && { ...last, text: t('serve.last', { requests: whole(most), target: text(target, 's') }) },
    onbatch: scrub(context, PATH, '', { from: own.batch, write }),
    summary: t('serve.users.summary', {
      device0: text(line[0].y, ''),
      user0: text(line[0].x, ''),
      device1: text(line.at(-1).y, ''),
      user1: text(line.at(-1).x, ''),
    }),
    note: [
      last && t('serve.last.note', { requests: whole(most), target: text(target, 's'), device: text(last.y, '') }),
      measured.length > 0 && t('serve.measured.note', { count: measured.length }),
    ]
      .filter(Boolean)
      .join(' '),
    hint: t('serve.choose'),
    columns: [
      t('column.requests'),
      { name: t('column.tpot'), unit: 's' },
      { name: t('serve.perUser.axis'), unit: 'token/s' },
      { name: t('serve.perDevice.axis'), unit: 'token/s' },
      ...(measured.length ? [t('serve.measured.column')] : []),
    ],
    rows: [...points, ...measured].map(({ batch, tpot, x, y, name }) => [
      batch,
      { value: tpot, unit: 's' },
      { value: x, unit: 'token/s' },
      { value: y, unit: 'token/s' },
      ...(measured.length ? [name ?? ''] : []),
    ]),
  });
}
