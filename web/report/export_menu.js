// Export and import: scenario, report, tables, other tools' flags.
import { save, saveCsv } from '../charts/lib/export.js';
import { WRITERS, commandFor } from '../commands/commands.js';
import { h } from '../dom.js';
import { release } from '../state/release.js';
import { NEWEST, withVersion } from '../state/scenario.js';
import { bibtex, csvRows, markdown } from './copy_as.js';
import { openDialog } from './dialog.js';
import { openExercise } from './exercise_dialog.js';
import { t } from './texts.js';

const json = (value) => new Blob([JSON.stringify(value, null, 1)], { type: 'application/json' });

// The scenario as a file: what was set, and the whole request for other tools.
export const FORMAT = 3;
// The default scenario under the inputs of earlier formats that state none.
const OVER = { 1: '1', 2: '2' };
export const scenarioFile = ({ store, request }, link) => ({
  slipstick: FORMAT,
  link,
  inputs: store.inputs,
  scenario: request,
});

// A file as inputs by path: those that it was saved with, or those of a bare request or report.
export function inputsOf(read) {
  const isText = (one) =>
    one && typeof one === 'object' && Object.values(one).every((value) => typeof value === 'string');
  if (isText(read.inputs)) return withVersion(read.inputs, read.inputs.version ?? OVER[read.slipstick] ?? NEWEST);
  const request = read.scenario ?? read;
  const inputs = withVersion({}, String(request.version ?? NEWEST));
  for (const part of ['model', 'cluster', 'training', 'serving', 'cost'])
    if (part in request) inputs[part] = JSON.stringify(request[part]);
  return inputs;
}

export function openExport(parts, link) {
  const { core, store } = parts;
  const { report } = core;
  const shown = h('textarea', { 'rows': 10, 'readonly': true, 'aria-label': t('export.text'), 'hidden': true });
  const status = h('p', { role: 'status', class: 'note' });
  const copy = async (text) => {
    shown.hidden = false;
    shown.value = text;
    try {
      await navigator.clipboard.writeText(text);
      status.textContent = t('header.copied');
    } catch {
      shown.select();
      status.textContent = t('export.select');
    }
  };
  const file = h('input', {
    'type': 'file',
    'accept': '.json',
    'aria-label': t('export.import'),
    'onchange': async () => {
      try {
        const read = JSON.parse(await file.files[0].text());
        store.setInputs(inputsOf(read));
        close();
      } catch {
        status.textContent = t('export.bad');
      }
    },
  });
  const button = (name, run) => h('button', { type: 'button', onclick: run }, name);
  const commandText = async (tool) => commandFor(tool, report, await core.engine.call('presets', 'model'));
  const { close } = openDialog(
    t('export.title'),
    h('h3', {}, t('export.files')),
    h(
      'div',
      { class: 'row' },
      button(t('export.scenario'), () =>
        save(json(scenarioFile({ store, request: core.request }, link)), 'scenario.json'),
      ),
      button(t('export.report'), () => save(json({ link, ...report }), 'report.json')),
      button(t('export.figures'), () =>
        saveCsv(['path', 'value', 'unit'], csvRows(report, store.inputs, link), 'slipstick'),
      ),
      button(t('export.print'), () => (close(), window.print())),
      button(t('export.memo'), async () => (close(), (await import('../memo/view.js')).openMemo(parts))),
    ),
    h('h3', {}, t('export.as')),
    h(
      'div',
      { class: 'row' },
      WRITERS.filter((tool) => report.scenario[tool.part]).map((tool) =>
        button(tool.title, async () => copy(await commandText(tool))),
      ),
      button('Markdown', () => copy(markdown(report, link))),
      button('BibTeX', async () =>
        copy(bibtex((await core.explain()) ?? new Map(), { link, release: release(), year: new Date().getFullYear() })),
      ),
    ),
    shown,
    status,
    h('h3', {}, t('export.import')),
    h('div', { class: 'row' }, file),
    h('h3', {}, t('exercise.teach')),
    h(
      'div',
      { class: 'row' },
      button(t('exercise.make'), () => (close(), openExercise(parts))),
    ),
  );
}
