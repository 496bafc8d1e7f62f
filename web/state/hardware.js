// Another cluster or device in place of the present one: the device count stays, in whole servers, and a written
// parallelism that is no longer valid is dropped, so that the core chooses it again.
/** @import {Inputs} from '../types.js' */
import { whole } from '../text/format.js';
import { get } from './paths.js';
import { withFix, withPick } from './scenario.js';
import { t } from './texts.js';

const PARALLELISM = /^(training|serving)\.(mapping|devices|global_batch)(\.|$)/;
const TRIES = 4;

const isCount = ({ path }) => path === 'cluster.devices';

// The devices that are bought together: those of the innermost network; in a mesh or torus any slice.
const serverOf = ({ networks: [inner] }) => (inner && !inner.dims?.length ? inner.size : 1);

async function reportOf(answering, inputs) {
  for (let i = 0; i < TRIES; i++) {
    const report = await answering.engine.evaluate(answering.requestFor(inputs));
    if (report) return report; // null where a later evaluation took its place
  }
  return { issues: [] };
}

const mappingText = ({ tp = 1, pp = 1, dp = 1, cp = 1, ep = 1 }) =>
  Object.entries({ TP: tp, PP: pp, CP: cp, EP: ep, DP: dp })
    .filter(([name, degree]) => degree > 1 || name === 'TP')
    .map(([name, degree]) => `${name} ${degree}`)
    .join(' · ');

// {inputs, said}: the inputs with the pick, and a text about the other changes.
export async function moved(answering, before, path, id) {
  const now = answering.report.scenario.cluster;
  const counted = withPick(before, path, id);
  if (path !== 'cluster') return { inputs: counted, said: [] };
  const { scenario: { cluster: fresh } = {} } = await reportOf(answering, { cluster: id });
  // A single device stays single; one device is no cluster to keep.
  if (!fresh || fresh.devices === 1 || now.devices === 1) return { inputs: counted, said: [] };
  const server = serverOf(fresh);
  const count = Math.max(server, Math.round(now.devices / server) * server);
  /** @type {Inputs} */
  let inputs = { ...counted, 'cluster.devices': String(count) };
  // As many devices serve as now: a written cluster that only serves would use all of its own.
  const { training, serving } = answering.report.scenario;
  if (!training && serving?.devices < now.devices && !serving.disaggregated)
    inputs['serving.devices'] = String(Math.min(serving.devices, count));
  let report = await reportOf(answering, inputs);
  const said = [];
  const wasWritten = Object.keys(inputs).some((one) => PARALLELISM.test(one));
  if (report.issues?.some((issue) => PARALLELISM.test(issue.path)) && wasWritten) {
    inputs = Object.fromEntries(Object.entries(inputs).filter(([one]) => !PARALLELISM.test(one)));
    report = await reportOf(answering, inputs);
    if (report.scenario?.training)
      said.push(t('pick.mapping', { mapping: mappingText(get(report.scenario, 'training.mapping') ?? {}) }));
  }
  // A torus is not sold in every size: takes the nearest one.
  for (let i = 0; i < TRIES && report.issues?.some(isCount); i++) {
    const fix = report.issues.find(isCount).fixes?.find((one) => one.value !== undefined && isCount(one));
    if (!fix) return { inputs: counted, said: [] };
    inputs = withFix(inputs, fix);
    report = await reportOf(answering, inputs);
  }
  const kept = Number(inputs['cluster.devices']);
  // If only some of the devices serve, the cluster's count is not shown.
  if (kept !== now.devices || report.scenario?.training)
    said.unshift(t(kept === now.devices ? 'pick.kept' : 'pick.rounded', { count: whole(kept), size: server }));
  return { inputs, said };
}
