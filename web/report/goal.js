// The question that a count answers, under its field.
import { h } from '../dom.js';
import { withChanges } from '../state/scenario.js';
import { parse, unitIn } from '../text/measure.js';
import { t } from './texts.js';

const DAY = 86400; // s
const HOURS = { s: 1, second: 1, min: 60, minute: 60, h: 3600, hour: 3600 };
const DAYS = { d: DAY, day: DAY, week: 7 * DAY, month: 30.4375 * DAY, year: 365.25 * DAY };
const SUMS = { k: 1e3, m: 1e6, b: 1e9, t: 1e12, thousand: 1e3, million: 1e6, billion: 1e9, trillion: 1e12 };

// A number in one of these units, or in `bare` if it has none; undefined if it has another unit.
function measured(text, units, bare) {
  const unit = unitIn(text);
  const name = unit.toLowerCase();
  const size = unit === '' ? bare : (units[name] ?? units[name.replace(/s$/, '')]);
  const value = parse(text.slice(0, text.length - unit.length));
  return size && value * size;
}

// Dates that mean one day everywhere: 2027-06-30, 30 June 2027, June 30, 2027.
const DATE = /^(\d{4}-\d\d-\d\d|\d{1,2} [a-z]{3,9} \d{4}|[a-z]{3,9} \d{1,2},? \d{4})$/i;

// "30 days", "30", "4 weeks" or a date, as seconds from now.
export function secondsUntil(words) {
  const text = words.trim();
  if (DATE.test(text)) return (Date.parse(text) - Date.now()) / 1000;
  return measured(text, { ...HOURS, ...DAYS }, DAY);
}

// "$2 M", "2 million dollars" or "500k".
export const dollarsOf = (words) => measured(words.replace(/\$|\b(usd|dollars?)\b/gi, '').trim(), SUMS, 1);

const MOST = 65536; // GPUs that are looked for
// Questions that a count may answer: the fewest GPUs for a finish, the most tokens for a budget. `span(cluster)`: the
// range and the steps of the search.
const fewest = (most) => ({
  id: 'finish',
  figure: 'training.time_to_train_s',
  read: secondsUntil,
  span: (cluster) => {
    const server = serverOf(cluster);
    return [server, server * Math.max(2, Math.floor(most(cluster) / server)), server];
  },
});
const GOALS = {
  'cluster.devices': fewest(() => MOST),
  'training.devices': fewest(({ devices }) => devices),
  'training.tokens': {
    id: 'budget',
    figure: 'training.cost_usd',
    read: dollarsOf,
    span: () => [1e9, 1e15],
    digits: 3,
  },
};

// GPUs come in whole servers.
const serverOf = ({ networks = [] }) => Math.max(1, Number(networks[0]?.size) || 1);

// Rounds down to three digits, so that it stays within the budget.
const roundedDown = (value, digits) => {
  const step = 10 ** (Math.floor(Math.log10(value)) - digits + 1);
  return Math.floor(value / step) * step;
};

// A field with a button that sets the count from its target; null if training has no such question.
export function goal({ path, core, take }) {
  const { id, figure, read, span, digits } = GOALS[path] ?? {};
  const { scenario, training } = core.report;
  if (!id || !training) return null;
  const field = h('input', {
    type: 'text',
    id: 'picker-goal',
    autocomplete: 'off',
    placeholder: t(`goal.${id}.example`),
  });
  const said = h('p', { class: 'note', role: 'status' });
  async function find() {
    const bound = read(field.value);
    field.setAttribute('aria-invalid', String(!(bound > 0)));
    if (!(bound > 0)) return (said.textContent = t(`goal.${id}.wrong`));
    said.textContent = t('chart.waiting');
    const [from, ...rest] = span(scenario.cluster);
    const found = await core.engine.call(
      'solve',
      withChanges(core.request, { serving: null }),
      `${path}=${[from, ...rest].join(':')}`,
      `${figure}<=${bound}`,
    );
    if (!found) return;
    const holdsFromLow = ['everywhere', 'ends'].includes(found.which);
    const value = holdsFromLow && id === 'finish' ? from : found.value;
    if (!(value > 0)) return (said.textContent = t(`goal.${id}.none`));
    take(digits ? roundedDown(value, digits) : value, true);
    said.textContent = t(`goal.${id}.found`);
  }
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.stopPropagation();
    find();
  });
  return h(
    'div',
    { class: 'goal' },
    h('label', { for: 'picker-goal' }, t(`goal.${id}`)),
    h(
      'div',
      { class: 'row' },
      field,
      h(
        'button',
        { 'type': 'button', 'class': 'button', 'data-key': 'goal-find', 'onclick': find },
        t(`goal.${id}.find`),
      ),
    ),
    said,
  );
}
