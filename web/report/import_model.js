// Bring your own: a checkpoint's config.json by paste, drop or file, read by the core, or the command that starts a run. Never sent anywhere.
import { TOOLS, inputsAfter, readCommand } from '../commands/commands.js';
import { h } from '../dom.js';
import { number } from '../text/format.js';
import { openDialog } from './dialog.js';
import { haveSameShape } from './same_shape.js';
import { withTask } from './tasks.js';
import { t } from './texts.js';

// A config.json often has no name: the catalogue's model of the same shape, if there is one.
const modelOfShape = (model, models, inputs) => models.find((entry) => haveSameShape(entry, model, inputs));

export function importModel({ core: { described, engine }, store, notice }) {
  const area = h('textarea', {
    'id': 'config-text',
    'rows': 12,
    'spellcheck': 'false',
    'aria-describedby': 'config-faults',
  });
  const faults = h('div', { id: 'config-faults', class: 'faults', role: 'status' });
  const file = h('input', {
    'type': 'file',
    'accept': '.json,.yaml,.yml,.toml,.sh,.txt',
    'aria-label': t('import.file'),
    'onchange': async () => take(await file.files[0]?.text()),
  });

  const isCommand = (pasted) => !/^\s*\{/.test(pasted);

  async function useCommand() {
    const read = readCommand(area.value, await engine.call('presets', 'model'));
    if (!read) {
      faults.replaceChildren(h('p', {}, t('import.tools', { tools: TOOLS.map(({ title }) => title).join(', ') })));
      return;
    }
    store.setInputs(withTask(inputsAfter(store.inputs, read), read.tool.part));
    close();
    const unread = [!read.model && !read.shape && read.name, ...read.unknown].filter(Boolean);
    /** @type {[string, string[]][]} */
    const listed = [
      ['import.unused', read.unused],
      ['import.unread', unread],
    ];
    notice(
      [
        t('import.read', { tool: read.tool.title }),
        ...listed.filter(([, flags]) => flags.length).map(([key, flags]) => t(key, { flags: flags.join(', ') })),
      ].join(' '),
    );
  }

  async function useConfig() {
    const answer = await engine.call('importModel', area.value);
    if (answer.issues) {
      faults.replaceChildren(
        ...answer.issues.map(({ path, message }) => h('p', {}, path && h('code', {}, path), ' ', message)),
      );
      return;
    }
    const inputs = Object.fromEntries(
      Object.entries(store.inputs).filter(([path]) => path !== 'model' && !path.startsWith('model.')),
    );
    const known =
      answer.model.name === answer.model_type &&
      modelOfShape(answer.model, await engine.call('presets', 'model'), described.inputs);
    const { weights, moe } = answer.model; // of a quantized copy of the catalogue's model
    const isOther = known && weights && weights !== known.weights;
    store.setInputs({
      ...inputs,
      model: known ? known.id : JSON.stringify(answer.model),
      ...(isOther && { 'model.weights': weights }),
      ...(isOther && moe && { 'model.moe.block_scales': `${moe.block_scales}` }),
    });
    close();
    notice(
      t('import.done', {
        name: (known || answer.model).name ?? answer.model_type,
        parameters: `${number(answer.parameters / 1e9)}\u00a0B`,
      }) + (answer.notes?.length ? ` ${answer.notes.join(' ')}` : ''),
    );
  }
  const take = (config) => {
    if (config) area.value = config;
  };
  const { dialog, close } = openDialog(
    t('import.title'),
    h('p', {}, t('import.lead')),
    h('label', { for: 'config-text' }, t('import.label')),
    area,
    faults,
    h(
      'div',
      { class: 'row' },
      file,
      h(
        'button',
        { type: 'button', class: 'primary', onclick: () => (isCommand(area.value) ? useCommand() : useConfig()) },
        t('import.use'),
      ),
    ),
  );
  dialog.addEventListener('dragover', (event) => event.preventDefault());
  dialog.addEventListener('drop', async (event) => {
    event.preventDefault();
    take(await event.dataTransfer.files[0]?.text());
  });
}
