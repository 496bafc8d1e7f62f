// A custom device: six fields that most owners know, or device or cluster as JSON in the scenario's format. The core
// checks them before use.
import { h } from '../dom.js';
import { labelOf } from '../form/fields.js';
import { get } from '../state/paths.js';
import { inputText } from '../text/inputs.js';
import { inUnit, parse, show, unitIn } from '../text/measure.js';
import { openDialog } from './dialog.js';
import { t } from './texts.js';

// The members that most owners know, with the open scenario's values.
function template({ name, peak, memory, tdp }) {
  const rates = Object.fromEntries(
    Object.entries(peak)
      .filter(([, rate]) => rate > 0)
      .map(([kind, rate]) => [kind, show(rate, 'TFLOP/s', 1e12)]),
  );
  const device = {
    name: `my ${name}`,
    peak: rates,
    memory: { capacity: show(memory.capacity, 'GB', 1e9), bandwidth: show(memory.bandwidth, 'GB/s', 1e9) },
    tdp: show(tdp, 'W', 1),
  };
  return JSON.stringify({ device }, null, 1);
}

// The six: path, unit and its factor. The link is the innermost network's, the price what a buyer pays.
/** @type {[path: string, unit: string, factor: number][]} */
const FIELDS = [
  ['cluster.device.peak.bf16', 'TFLOP/s', 1e12],
  ['cluster.device.memory.bandwidth', 'GB/s', 1e9],
  ['cluster.device.memory.capacity', 'GB', 1e9],
  ['cluster.device.tdp', 'W', 1],
  ['cluster.networks.0.bandwidth', 'GB/s', 1e9],
  ['cost.device.price', '$', 1],
];
const SCALED = ['fp16', 'tf32', 'fp8', 'int8', 'fp4', 'int4']; // rates of the matrix units, which keep their ratio to bf16

// Fields that were changed, texts by path, as inputs with the device's new name.
export function inputsOfFields(changed, scenario) {
  const inputs = { ...changed };
  const { name, peak } = scenario.cluster.device;
  const faster = parse(inputs['cluster.device.peak.bf16'] ?? '') / peak.bf16;
  if (faster > 0)
    for (const kind of SCALED)
      if (peak[kind] > 0) inputs[`cluster.device.peak.${kind}`] = show(peak[kind] * faster, 'TFLOP/s', 1e12);
  if (Object.keys(changed).length)
    inputs['cluster.device.name'] = t('ownDevice.name', { name: name.replace(/^my /, '') });
  return inputs;
}

// {"device": …}, {"cluster": …} or a bare device as inputs by path; members become paths, so that the preset's others stay.
export function inputsOfOwn(json, below = '') {
  const roots = { device: 'cluster.device', cluster: 'cluster' };
  const wrapped = Object.keys(roots).find(
    (name) => json && typeof json[name] === 'object' && json[name] !== null && !below,
  );
  const root = below || (wrapped ? roots[wrapped] : 'cluster.device');
  const inputs = {};
  for (const [member, value] of Object.entries(wrapped ? json[wrapped] : json)) {
    const path = `${root}.${member}`;
    if (member === 'preset') inputs[root] = String(value);
    else if (value !== null && typeof value === 'object' && !Array.isArray(value))
      Object.assign(inputs, inputsOfOwn(value, path));
    else inputs[path] = inputText(path, value);
  }
  return inputs;
}

const changedIn = (boxes) =>
  Object.fromEntries(
    boxes
      .filter(({ box, was }) => box.value.trim() && box.value !== was)
      .map(({ path, unit, box, was }) => [path, inUnit(box.value.trim(), unitIn(was) || unit)]),
  );

export function ownDevice({ core, store }) {
  const { engine, report } = core;
  const { scenario } = report;
  const boxes = FIELDS.filter(([path]) => get(scenario, path) !== undefined).map(([path, unit, factor]) => {
    const value = get(scenario, path) ?? (path === 'cost.device.price' ? report.cost?.device_price_usd : undefined);
    const box = h('input', { type: 'text', id: `own-${path}`, autocomplete: 'off', spellcheck: 'false' });
    box.value = value == null ? '' : show(value, unit, factor);
    return { path, unit, box, was: box.value };
  });
  const nameIn = (path) =>
    path.startsWith('cluster.networks')
      ? t('ownDevice.link', { name: get(scenario, 'cluster.networks.0.name') })
      : labelOf(path);
  const area = h('textarea', { 'id': 'own-text', 'rows': 14, 'spellcheck': 'false', 'aria-describedby': 'own-faults' });
  area.value = template(report.scenario.cluster.device);
  const faults = h('div', { id: 'own-faults', class: 'faults', role: 'status' });
  async function use() {
    let own;
    try {
      own = json.open ? inputsOfOwn(JSON.parse(area.value)) : inputsOfFields(changedIn(boxes), scenario);
    } catch (error) {
      faults.replaceChildren(h('p', {}, t('ownDevice.bad', { message: error.message })));
      return;
    }
    const inputs = { ...store.inputs, ...own };
    const { issues = [] } = (await engine.call('evaluate', core.requestFor(inputs), '')) ?? {};
    const about = issues.filter(({ path }) => path.startsWith('cluster') || path in own);
    if (about.length) {
      faults.replaceChildren(
        ...about.map(({ path, message }) =>
          h('p', {}, json.open ? h('code', {}, path) : h('b', {}, `${nameIn(path)}:`), ' ', message),
        ),
      );
      return;
    }
    store.setInputs(inputs);
    close();
  }
  const json = h(
    'details',
    { id: 'own-json' },
    h('summary', {}, t('ownDevice.json')),
    h('p', {}, t('ownDevice.lead')),
    h('label', { for: 'own-text' }, t('ownDevice.label')),
    area,
  );
  const { dialog, close } = openDialog(
    t('ownDevice.title'),
    h('p', {}, t('ownDevice.fields', { name: scenario.cluster.device.name })),
    h(
      'div',
      { class: 'own-fields' },
      boxes.map(({ path, box }) => h('label', {}, nameIn(path), box)),
    ),
    json,
    faults,
    h(
      'div',
      { class: 'row' },
      h('button', { type: 'button', class: 'primary', id: 'own-use', onclick: use }, t('ownDevice.use')),
    ),
  );
  dialog.addEventListener('keydown', (event) => event.key === 'Enter' && event.target.matches('input') && use());
}
