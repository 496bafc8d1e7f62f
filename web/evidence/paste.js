// A measurement of one's own: pasted or from a file, read here, never sent anywhere.
import { h } from '../dom.js';
import { FORMATS, inputsWith, readMeasurement } from '../measurements/read.js';
import { openDialog } from '../report/dialog.js';
import { keepMeasurement } from './own.js';
import { t } from './texts.js';

export function pasteMeasurement({ core, store }) {
  const faults = h('div', { id: 'measurement-faults', class: 'faults', role: 'status' });
  const area = h('textarea', {
    'id': 'measurement-text',
    'rows': 12,
    'spellcheck': 'false',
    'aria-describedby': 'measurement-faults',
  });
  const file = h('input', {
    'type': 'file',
    'aria-label': t('own.file'),
    'onchange': async () => (area.value = (await file.files[0]?.text()) ?? area.value),
  });

  async function use() {
    const catalogue = await core.catalogue();
    const of = (kind) => catalogue.filter((entry) => entry.kind === kind);
    const read = readMeasurement(area.value, { models: of('model'), clusters: of('cluster') });
    if (!read) {
      faults.replaceChildren(h('p', {}, t('own.unknown', { formats: FORMATS.map(({ title }) => title).join(', ') })));
      return;
    }
    keepMeasurement(read);
    dialog.close();
    store.setInputs(inputsWith(store.inputs, read, core.report.scenario));
    store.open('evidence', 'own');
  }
  const { dialog } = openDialog(
    t('own.paste'),
    h('p', {}, t('own.paste.lead')),
    h('label', { for: 'measurement-text' }, t('own.paste.label')),
    area,
    faults,
    h(
      'div',
      { class: 'row' },
      file,
      h('button', { type: 'button', class: 'primary', id: 'measurement-use', onclick: use }, t('own.use')),
    ),
  );
}
