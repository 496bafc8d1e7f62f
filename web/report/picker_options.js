// What the pickers offer of the catalogue: [{id, name, note, group, words}], `words` to search in.
/** @import {Entry} from '../types.js' */
import { text } from '../text/format.js';
import { parse } from '../text/measure.js';
import { t } from './texts.js';

// Families by their newest member, members newest first. A family is the part of a name before the first digit.
const familyOf = (name) =>
  /^[A-Za-z]+(?: [A-Za-z]+(?=[ -]?\d))?/.exec(name)?.[0].replace(/^(Code)(Llama)$/, '$2') ?? name;

function newestFirst(entries, yearOf) {
  const newest = new Map();
  for (const one of entries) newest.set(one.group, Math.max(newest.get(one.group) ?? 0, yearOf(one)));
  return [...entries].sort(
    (a, b) =>
      newest.get(b.group) - newest.get(a.group) ||
      a.group.localeCompare(b.group) ||
      yearOf(b) - yearOf(a) ||
      b.size - a.size,
  );
}

export function modelOptions(catalogue) {
  const families = new Map(); // spelled as their first member is
  const entries = catalogue
    .filter(({ kind }) => kind === 'model')
    .map(({ id, name = id, published, moe }) => {
      const family = familyOf(name);
      if (!families.has(family.toLowerCase())) families.set(family.toLowerCase(), family);
      const { parameters, year } = published ?? {};
      const size = parameters ? parametersText(parameters) : '';
      return {
        id,
        name,
        group: families.get(family.toLowerCase()),
        year: year ?? 0,
        size: parameters ?? 0,
        note: [year, t(moe ? 'picker.moe' : 'picker.dense'), size].filter(Boolean).join(' · '),
        words: `${id} ${name} ${family} ${year ?? ''} ${moe ? 'moe mixture experts' : 'dense'}`.toLowerCase(),
      };
    });
  return newestFirst(entries, ({ year }) => year);
}

const rounded = (value) => String(Number(value.toPrecision(3)));
const parametersText = (count) => (count >= 1e12 ? `${rounded(count / 1e12)} T` : `${rounded(count / 1e9)} B`);

export function clusterOptions(catalogue) {
  const devices = new Map(catalogue.filter(({ kind }) => kind === 'device').map((one) => [one.id, one]));
  const entries = catalogue
    .filter(({ kind }) => kind === 'cluster')
    .map(({ id, name = id, device, devices: count = 1 }) => {
      const { name: chip = '', vendor = '', year, memory = {} } = devices.get(device?.preset) ?? {};
      const isSingle = count === 1;
      return {
        id,
        name,
        group: t(isSingle ? 'picker.single' : 'picker.clusters'),
        year: year ?? 0,
        size: 0,
        note: [isSingle ? memory.capacity : chip, memory.bandwidth && text(parse(memory.bandwidth), 'B/s'), year]
          .filter(Boolean)
          .join(' · '),
        words: `${id} ${name} ${chip} ${vendor} ${year ?? ''}`.toLowerCase(),
      };
    });
  const order = [t('picker.clusters'), t('picker.single')];
  return entries.sort(
    (a, b) => order.indexOf(a.group) - order.indexOf(b.group) || b.year - a.year || a.name.localeCompare(b.name),
  );
}

// Devices by vendor.
/** @param {Entry[]} catalogue */
export function deviceOptions(catalogue) {
  const entries = catalogue
    .filter(({ kind }) => kind === 'device')
    .map(({ id, name = id, vendor = '', year, memory }) => ({
      id,
      name,
      group: vendor,
      year: year ?? 0,
      size: 0,
      note: [memory?.capacity, memory?.bandwidth && text(parse(memory.bandwidth), 'B/s'), year]
        .filter(Boolean)
        .join(' · '),
      words: `${id} ${name} ${vendor} ${year ?? ''}`.toLowerCase(),
    }));
  return newestFirst(entries, ({ year }) => year);
}
