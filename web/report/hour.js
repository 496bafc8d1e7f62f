// What a device costs to own or to rent, in the answer about cost.
import { text } from '../text/format.js';
import { parse } from '../text/measure.js';
import { t } from '../text/strings.js';

// `date`: a year, or year-month-day.
export const isOld = (date, now = new Date()) => {
  const [year, month = 12, day = 31] = String(date).split('-').map(Number);
  return year > 0 && new Date(year + 1, month - 1, day) < now;
};

// The date of a price, and a remark if it is more than a year old. The hyphens of a date do not break.
const aged = (date) => {
  const whole = String(date).replaceAll('-', '\u2011');
  return isOld(date) ? t('answers.old', { date: whole }) : whole;
};

function priceOf({ device_price_usd: price }, { price_year: year }) {
  if (price == null) return '';
  if (year == null) return t('answers.price', { price: text(price, '$') });
  return t('answers.price.of', { price: text(price, '$'), year: aged(year) });
}

// The cost of a GPU-hour, and the alternative: the cheapest on-demand rent, or owning. A chip of another design cannot
// be rented.
export function hourOf({ scenario, cost, store, rentals = [] }) {
  const { rental } = scenario.cost;
  const hour = text(cost.device_hour_usd, '$');
  if (rental)
    return {
      line: t('answers.rented', { hour, ...rental, date: aged(rental.date) }),
      offer: store && { name: t('answers.own'), onclick: () => store.reset('cost.rental') },
    };
  const { preset, design } = scenario.cluster.device;
  const [cheapest] = rentals
    .filter(({ device, term }) => !design && device === preset && term === 'on_demand')
    .sort((a, b) => parse(a.price) - parse(b.price));
  const offer = cheapest &&
    store && {
      name: t('answers.rent', {
        hour: cheapest.price.replace(/^([\d.]+) \$\/h$/, (_, price) => text(Number(price), '$')),
        ...cheapest,
        date: aged(cheapest.date),
      }),
      onclick: () => store.pick('cost.rental', cheapest.id),
    };
  const price = priceOf(cost, scenario.cost.device);
  return { line: [t('answers.hour', { hour }), price].filter(Boolean).join(', '), offer };
}
