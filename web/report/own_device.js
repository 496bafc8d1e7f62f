// Bring your own device or cluster, as JSON in the words of the scenario. It is checked by the core before it is taken.
import { h } from '../dom.js';
import '../text/later.js';
import { show } from '../text/measure.js';
import { t } from '../text/strings.js';
import { openDialog } from './dialog.js';

// The members that most owners know of their device, as the open scenario has them.
function template({ name, peak, memory, tdp }) {
  const rates = Object.fromEntries(Object.entries(peak).filter(([, rate]) => rate > 0).map(([kind, rate]) => [kind, show(rate, 'TFLOP/s', 1e12)]));
  const device = {
    name: `my ${name}`,
    peak: rates,
    memory: { capacity: show(memory.capacity, 'GB', 1e9), bandwidth: show(memory.bandwidth, 'GB/s', 1e9) },
    tdp: show(tdp, 'W', 1),
  };
  return JSON.stringify({ device }, null, 1);
}

// {"device": …}, {"cluster": …} or a bare device as inputs by path; members become paths, so that the preset's others stay.
export function inputsOfOwn(json, below = '') {
  const roots = { device: 'cluster.device', cluster: 'cluster' };
  const wrapped = Object.keys(roots).find((name) => json && typeof json[name] === 'object' && json[name] !== null && !below);
  const root = below || (wrapped ? roots[wrapped] : 'cluster.device');
  const inputs = {};
  for (const [member, value] of Object.entries(wrapped ? json[wrapped] : json)) {
    const path = `${root}.${member}`;
    if (member === 'preset') inputs[root] = String(value);
    else if (value !== null && typeof value === 'object' && !Array.isArray(value)) Object.assign(inputs, inputsOfOwn(value, path));
    else inputs[path] = typeof value === 'string' ? value : JSON.stringify(value);
  }
  return inputs;
}

export function ownDevice(page) {
  const { store, engine, report } = page;
  const area = h('textarea', { id: 'own-text', rows: 14, spellcheck: 'false', 'aria-describedby': 'own-faults' });
  area.value = template(report.scenario.cluster.device);
  const faults = h('div', { id: 'own-faults', class: 'faults', role: 'status' });
  async function use() {
    let own;
    try {
      own = inputsOfOwn(JSON.parse(area.value));
    } catch (error) {
      faults.replaceChildren(h('p', {}, t('own.bad', { message: error.message })));
      return;
    }
    const inputs = { ...store.inputs, ...own };
    const { issues = [] } = (await engine.call('evaluate', page.requestFor(inputs), '')) ?? {};
    const about = issues.filter(({ path }) => path.startsWith('cluster'));
    if (about.length) {
      faults.replaceChildren(...about.map(({ path, message }) => h('p', {}, h('code', {}, path), ' ', message)));
      return;
    }
    store.setInputs(inputs);
    close();
  }
  const { close } = openDialog(
    t('own.title'),
    h('p', {}, t('own.lead')),
    h('label', { for: 'own-text' }, t('own.label')),
    area,
    faults,
    h('div', { class: 'row' }, h('button', { type: 'button', class: 'primary', id: 'own-use', onclick: use }, t('own.use'))),
  );
}
