// Texts from a report: names, counts of devices, bottlenecks. They read the report and compute no model figure.
import { t } from '../text/strings.js';

export const modelName = (scenario) => scenario.model.name || scenario.model.preset;

// "H100" of "H100 SXM5 80 GB", "MI300X" of "Instinct MI300X 192 GB": a short name where the sentence has no room for more.
export const shortDevice = (name) =>
  name
    .replace(/^(Instinct|GeForce|Radeon) /, '')
    .replace(/\s(\(one GPU\)|SXM\d?|PCIe|NVL|\d+ ?GB|OAM|HBM\w*)(?=\s|$).*$/i, '');
// A chip with changes is not the device that it began as.
export const deviceName = ({ cluster: { device } }) => shortDevice(device.design?.name ?? device.name);

// The numbers of training and serving devices.
export const trainedOn = (scenario) => scenario.training?.devices ?? scenario.cluster.devices;
export const servedOn = (scenario) => scenario.serving?.devices ?? scenario.cluster.devices;

// The serving replicas, {count, devices: of each}; with pools those that decode, whose mapping it is. Null if not
// resolved.
export function replicasOf({ serving, cluster }) {
  const { replicas: count } = serving?.mapping ?? {};
  if (!(count >= 1)) return null;
  return { count, devices: (serving.disaggregated?.decode_devices ?? servedOn({ serving, cluster })) / count };
}

// Tokens per second of a user, from the time of a token.
export const perUser = (tpot) => 1 / tpot;

const sum = (time, ids) => ids.reduce((all, id) => all + (time[id] ?? 0), 0);

// A training step's time by bound: [[bound, seconds]], 'compute' being the device's own work.
export const trainingShares = ({ time_s: time }) => [
  ['compute', sum(time, ['forward', 'backward', 'recompute', 'optimizer'])],
  ['network', sum(time, ['tp', 'cp', 'ep', 'pp', 'dp'])],
  ['bubble', time.bubble ?? 0],
  ['latency', time.other ?? 0],
];

// The largest bound of a training step.
export function trainingBound(training) {
  const { operators = [] } = training;
  const shares = trainingShares(training);
  const [largest] = shares.reduce((best, one) => (one[1] > best[1] ? one : best));
  if (largest !== 'compute') return largest;
  const waits = new Map();
  for (const { bound, time_s: seconds } of operators) waits.set(bound, (waits.get(bound) ?? 0) + seconds);
  return [...waits].reduce((best, one) => (one[1] > best[1] ? one : best), ['compute', 0])[0];
}

// The largest part of an output token: 'others' are the other users' prefills, which a decode step does not include.
export function tokenBound({ tpot_s: tpot, decode_step_s: step, time_by_bound: times, bound }) {
  return tpot - step > Math.max(...Object.values(times.decode)) ? 'others' : bound.decode;
}

// The reason why a part cannot run; null if it can.
const TROUBLES = { memory: 'memory', kv_cache: 'memory', rate: 'rate', reticle: 'reticle' };
export const troubleOf = (part) =>
  part?.feasible === false ? (TROUBLES[part.infeasible[0]?.reason] ?? 'other') : null;

export const boundText = (bound) => t(`bound.${bound}`);
