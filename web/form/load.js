// The kind of load: a number of clients that wait for their answers, a batch per replica, or arrivals at a rate. Each
// has its own inputs, and choosing one takes back those of the others.
/** @import {Json} from '../types.js' */
import { h } from '../dom.js';
import { t } from '../text/strings.js';

const LOADS = ['concurrency', 'batch', 'rate'];
const BUSY = 0.7; // of what the system now answers: an arrival rate to begin with that leaves it some air

const PATHS = { concurrency: 'serving.concurrency', batch: 'serving.batch', rate: 'serving.requests_per_s' };
const ALL = [...Object.values(PATHS), 'serving.waves'];

export const loadOf = (serving) =>
  serving?.requests_per_s != null ? 'rate' : serving?.concurrency != null ? 'concurrency' : 'batch';

// Requests in flight or waiting, in total.
/** @param {Json} part */
export const requestsIn = ({ requests_in_flight: inFlight, requests_waiting: waiting }) =>
  Math.max(1, Math.round(inFlight + waiting));

// The start value of another load, near the present one.
const START = {
  concurrency: (report) => String(requestsIn(report)),
  batch: ({ batch }) => String(Math.max(1, Math.round(batch))),
  rate: ({ requests_per_s: rate }) => String(Number((rate * BUSY).toPrecision(2))),
};

// The inputs with one load at a value, by default near what the present one comes to.
export function withLoad(inputs, load, report, value = START[load](report)) {
  const others = Object.entries(inputs).filter(([path]) => !ALL.includes(path));
  // The default is a total; a batch replaces it even at the default's value.
  return {
    ...Object.fromEntries(others),
    ...(load === 'batch' && { [PATHS.concurrency]: 'null' }),
    [PATHS[load]]: value,
  };
}

// {element, show(state)}: the choice, and the rows of each load (`rows` by load) of which one load's are shown.
export function loadChoice(store, rows) {
  let report = null;
  const buttons = LOADS.map((load) =>
    h(
      'button',
      {
        'type': 'button',
        'data-load': load,
        'onclick': () => report && store.setInputs(withLoad(store.inputs, load, report)),
      },
      t(`load.${load}`),
    ),
  );
  const parts = LOADS.map((load) => h('div', { class: 'load-part' }, rows[load]));
  const what = h('p', { class: 'note' });
  const element = h(
    'div',
    { class: 'load' },
    h('div', { 'class': 'segments', 'role': 'group', 'aria-label': t('load.title') }, buttons),
    what,
    parts,
  );
  return {
    element,
    show({ scenario, report: answer, isLocked }) {
      report = answer?.serving ?? null;
      const load = loadOf(scenario?.serving);
      what.textContent = t(`load.${load}.what`);
      LOADS.forEach((one, i) => {
        buttons[i].setAttribute('aria-pressed', one === load);
        buttons[i].disabled = isLocked('serving.batch') || isLocked('serving.requests_per_s');
        parts[i].hidden = one !== load;
      });
      // Only the simulation depends on the distribution of arrivals over time.
      rows.rate.slice(2).forEach((row) => (row.hidden = !scenario?.serving?.simulate));
    },
  };
}
