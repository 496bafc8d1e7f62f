// Finds an input by words of its label, path or help, and goes to its field.
import { h } from '../dom.js';
import { t } from '../text/strings.js';
import { labelIn } from './fields.js';
import { GROUPS } from './layout.js';

const MOST = 30;

// Other names by which people call an input.
const ALSO = {
  'serving.precision.weights': 'quantization quantized',
  'serving.engine.memory.share': 'gpu memory utilization',
  'serving.prefix_hit': 'prefix caching',
  'training.mapping.tp': 'parallelism',
  'serving.mapping.tp': 'parallelism',
  'cluster.device.tdp': 'power',
  'cost.device.price': 'price',
  'serving.batch': 'users',
  'serving.concurrency': 'users clients',
  'serving.prompt': 'context length input tokens',
  'serving.output': 'generated tokens',
  'training.sequence': 'context length',
  'serving.engine': 'vllm sglang tensorrt-llm llama.cpp',
  'training.framework': 'megatron fsdp pytorch',
  'cost.rental': 'rent cloud price per hour',
};

// Inputs that are open or one press away, in that order; the rest follows.
const NEAR = GROUPS.flatMap(({ first, mapping = [], sheet = [], load }) =>
  [first, Object.values(load ?? {}), sheet, mapping].flat(4),
);
const nearness = ({ path }) => (NEAR.includes(path) ? NEAR.indexOf(path) : NEAR.length);

// Words match from their beginning: "rent" does not match "concurrent".
const wordsOf = (text) => ` ${text.toLowerCase().replace(/[^a-z0-9/-]+/g, ' ')}`;

// The inputs that hold every word: those of that name ("batch"), other name or choice ("int4") first, then those that hold all in their label, then in their path, then in their
// help; among these those that stand open first, the common before the advanced, and those of a part before those inside its presets. `inputs`: [{path, label, group, help, choices, advanced}].
export function found(inputs, typed) {
  const words = wordsOf(typed).split(' ').filter(Boolean);
  if (!words.length) return [];
  const holds = (text) => words.every((word) => wordsOf(text).includes(` ${word}`));
  const depth = ({ path }) => path.split('.').length;
  const rank = ({ path, label, group, help = '', choices = [] }) => {
    const named = `${label} ${group}`;
    const isCalled =
      path.split('.').at(-1) === words.join('_') || holds(ALSO[path] ?? '') || choices.includes(words.join('_'));
    return [isCalled, holds(named), holds(`${named} ${path}`), holds(`${named} ${path} ${help}`)].indexOf(true);
  };
  return inputs
    .map((one) => ({ ...one, rank: rank(one) }))
    .filter((one) => one.rank >= 0)
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        nearness(a) - nearness(b) ||
        Number(a.advanced ?? false) - Number(b.advanced ?? false) ||
        depth(a) - depth(b),
    );
}

// `inputsNow()` -> {inputs (those that have a field), scenario}; `goTo(path)`.
export function searchBox({ inputsNow, goTo }) {
  const list = h('ul', { 'role': 'listbox', 'id': 'form-found', 'aria-label': t('form.found') });
  const none = h('p', { class: 'note', role: 'status' });
  let shown = [];
  let at = 0;
  const box = h('input', {
    'type': 'text',
    'id': 'form-search',
    'role': 'combobox',
    'aria-expanded': 'false',
    'aria-controls': 'form-found',
    'aria-autocomplete': 'list',
    'aria-label': t('form.search'),
    'placeholder': t('form.search'),
    'autocomplete': 'off',
    'spellcheck': 'false',
    'oninput': () => draw(),
  });
  function mark(next) {
    at = Math.max(0, Math.min(shown.length - 1, next));
    shown.forEach(({ element }, i) => element.setAttribute('aria-selected', i === at));
    if (shown[at]) box.setAttribute('aria-activedescendant', shown[at].element.id);
    else box.removeAttribute('aria-activedescendant');
    shown[at]?.element.scrollIntoView({ block: 'nearest' });
  }
  function clear() {
    box.value = '';
    draw();
  }
  function take({ path }) {
    clear();
    goTo(path);
  }
  function draw() {
    const typed = box.value.trim();
    const { inputs, scenario } = inputsNow();
    const all = typed
      ? found(
          inputs.map(({ path, help, choices, advanced }) => ({
            path,
            help,
            choices,
            advanced,
            label: labelIn(scenario, path),
            group: t(`group.${path.split('.')[0]}`),
          })),
          typed,
        )
      : [];
    shown = all.slice(0, MOST).map((one, i) => ({
      ...one,
      element: h(
        'li',
        { role: 'option', id: `found-${i}`, onclick: () => take(one) },
        h('span', {}, one.label),
        h('small', {}, one.group),
        h('code', {}, one.path),
      ),
    }));
    list.replaceChildren(...shown.map(({ element }) => element));
    none.textContent = !typed
      ? ''
      : all.length === 0
        ? t('form.search.none')
        : all.length > MOST
          ? t('form.search.more', { count: all.length - MOST })
          : '';
    box.setAttribute('aria-expanded', shown.length > 0);
    list.hidden = shown.length === 0;
    mark(0);
  }
  box.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') mark(at + 1);
    else if (event.key === 'ArrowUp') mark(at - 1);
    else if (event.key === 'Enter' && shown[at]) take(shown[at]);
    else if (event.key === 'Escape' && box.value) clear();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  list.hidden = true;
  return h('div', { class: 'find', role: 'search' }, box, list, none);
}
