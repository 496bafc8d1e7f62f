// Asks for a figure that somebody measured on a system like the scenario's.
import { h } from '../dom.js';
import { get } from '../state/paths.js';
import { withMeasured } from '../state/measured.js';
import { parts, text, unitOf, unitSize } from '../text/format.js';
import { parse } from '../text/measure.js';
import { openDialog } from './dialog.js';
import { nameOf } from './names.js';
import { t } from './texts.js';

// What people measure of each answer.
const FIGURES = {
  training: [
    'training.step_time_s',
    'training.time_to_train_s',
    'training.tokens_per_s',
    'training.model_flops_utilization',
    'training.memory_bytes.total',
  ],
  serving: ['serving.tpot_s', 'serving.ttft_s', 'serving.tokens_per_s', 'serving.memory_bytes.total'],
  cost: ['cost.device_hour_usd'],
};
const NUMBER = /^\d[\d,]*(\.\d+)?(e-?\d+)?$/i;
const DIGITS = 12; // of what was typed, in base units

export function openMeasured({ core: { report }, store }) {
  const computed = (path) => get(report, path);
  const groups = Object.entries(FIGURES).map(([id, paths]) => [
    t(`answers.${id}`),
    paths.filter((path) => computed(path) > 0),
  ]);
  const choice = h(
    'select',
    { id: 'measured-figure', onchange: () => say() },
    groups
      .filter(([, paths]) => paths.length > 0)
      .map(([label, paths]) =>
        h(
          'optgroup',
          { label },
          paths.map((path) => h('option', { value: path }, nameOf(path))),
        ),
      ),
  );
  const field = h('input', {
    'type': 'text',
    'id': 'measured-value',
    'inputmode': 'decimal',
    'autocomplete': 'off',
    'aria-describedby': 'measured-hint measured-faults',
  });
  const unit = h('span', { class: 'unit' });
  const hint = h('p', { class: 'note', id: 'measured-hint' });
  const faults = h('p', { class: 'faults', id: 'measured-faults', role: 'status' });

  function say() {
    const [value, base] = [computed(choice.value), unitOf(choice.value)];
    unit.textContent = parts(value, base).unit || base;
    hint.textContent = t('measured.computed', { value: text(value, base) });
  }

  function use(event) {
    event.preventDefault();
    const path = choice.value;
    const typed = field.value.trim();
    // A number is in the unit shown next to the field and goes to the link in base units; the core reads a text with
    // another unit.
    const value = NUMBER.test(typed) ? Number(typed.replace(/,/g, '')) * unitSize(computed(path), unitOf(path)) : typed;
    if (!((typeof value === 'number' ? value : parse(value)) > 0)) {
      faults.textContent = t('measured.wrong');
      field.focus();
      return;
    }
    dialog.close();
    store.setInputs(
      withMeasured(store.inputs, path, typeof value === 'number' ? String(Number(value.toPrecision(DIGITS))) : value),
    );
  }

  const { dialog } = openDialog(
    t('measured'),
    h(
      'form',
      { class: 'measured', onsubmit: use },
      h('p', {}, t('measured.lead')),
      h('label', { for: 'measured-figure' }, t('measured.figure')),
      choice,
      h('label', { for: 'measured-value' }, t('measured.field')),
      h('span', { class: 'row' }, field, unit),
      hint,
      faults,
      h(
        'div',
        { class: 'row' },
        h('button', { type: 'submit', class: 'primary', id: 'measured-use' }, t('measured.use')),
      ),
    ),
  );
  if (choice.value) say();
  field.focus();
}
