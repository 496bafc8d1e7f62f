import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { text, unitOf, unitSize } from '../../web/text/format.js';
import {
  allInUnit,
  countIn,
  inUnit,
  isBare,
  parse,
  show,
  showIn,
  snap,
  spelledIn,
  unitIn,
} from '../../web/text/measure.js';
import { t as inCharts } from '../../web/charts/texts.js';
import { t as inScenes } from '../../web/scenes/texts.js';
import { extend, has, pieces, t } from '../../web/text/strings.js';

test('figures have three digits and a fitting prefix', () => {
  const cases = [
    [6.814, 's', '6.81 s'],
    [0.01407, 's', '14.1 ms'],
    [2.1e-6, 's', '2.1 µs'],
    [252 * 86400, 's', '252 days'],
    [0, 's', '0 s'],
    [5400, 's', '90 min'],
    [80e9, 'B', '74.5 GiB'],
    [85040352460.8, 'B', '79.2 GiB'],
    [327680, 'B/token', '320 KiB/token'],
    [3.35e12, 'B/s', '3.35 TB/s'],
    [989e12, 'FLOP/s', '989 TFLOP/s'],
    [0.418, '%', '41.8 %'],
    [3320, '$', '$3,320'],
    [6.5e6, '$', '$6.5 M'],
    [2.1, '$', '$2.10'],
    [0.41, '$', '$0.41'],
    [2.81e9 * 3600, 'J', '2.81 GWh'],
    [3.6e6, 'J', '1 kWh'],
    [1.2734e6, 'J', '1,270 kJ'],
    [562e3, 'J', '562 kJ'],
    [0.76, 'J', '760 mJ'],
    [0.8, 'J/token', '800 mJ/token'],
    [197, 'token/s', '197 tokens/s'],
    [2.5e6, 'token/$', '2.5 M tokens/$'],
    [412, 'count', '412'],
    [0.0012, '/mm^2', '0.12/cm²'],
    [0.05, '/s', '0.05/s'],
    [8.01e6, 'g', '8.01 t'],
    [187e3, 'g', '187 kg'],
    [2.5e9, 'g', '2.5 kt'],
    [262144, 'count', '262,144'],
    [Number.NaN, 's', '–'],
    [undefined, 's', '–'],
  ];
  for (const [value, unit, expected] of cases) assert.equal(text(value, unit).replaceAll('\u00a0', ' '), expected);
});

test('the unit that a figure is written in is known by its size', () => {
  const cases = [
    [4.27 * 31557600, 's', 31557600],
    [252 * 86400, 's', 86400],
    [9 * 3600, 's', 3600],
    [180, 's', 60],
    [0.0141, 's', 1e-3],
    [80 * 2 ** 30, 'B', 2 ** 30],
    [0.418, '%', 0.01],
    [6.5e6, '$', 1e6],
  ];
  for (const [value, unit, expected] of cases) assert.equal(unitSize(value, unit), expected, text(value, unit));
});

test('a bare number has the shown unit; a number with a unit or a multiple keeps its own', () => {
  const cases = [
    ['0.12', '0.08 $/kWh', '0.12 $/kWh'],
    ['5', '4 years', '5 years'],
    ['4', '3.35 TB/s', '4 TB/s'],
    ['2', '15 T tokens', '2 T tokens'],
    ['1e3', '814 mm²', '1e3 mm²'],
    ['1,024', '80 GB', '1,024 GB'],
    ['1e3', '80 GB', '1e3 GB'],
    ['1e12', '15 T tokens', '1e12 tokens'],
    ['80e9', '80 GB', '80e9 B'],
    ['-1', '80 GB', '-1 GB'],
    ['0.', '80 GB', '0. GB'],
    ['900 GB/s', '3.35 TB/s', '900 GB/s'],
    ['8k', '80 GB', '8k'],
    ['2^15', '80 GB', '2^15'],
    ['1,5', '80 GB', '1,5'],
    ['.', '80 GB', '.'],
    ['', '80 GB', ''],
    ['64', '32', '64'],
  ];
  for (const [typed, shown, meant] of cases)
    assert.equal(inUnit(typed, unitIn(shown)), meant, `${typed} over ${shown}`);
  assert.equal(allInUnit('1, 2 GB/s,4', 'TB/s'), '1 TB/s, 2 GB/s,4 TB/s');
  assert.equal(allInUnit('1:4:9:log', 'TB/s'), '1 TB/s:4 TB/s:9:log');
  assert.equal(allInUnit('1:64', ''), '1:64');
  assert.deepEqual(['1', '1e-300', '1 GB', 'x', ''].map(isBare), [true, true, false, false, false]);
});

test('units in a sentence of the core are spelled as elsewhere', () => {
  assert.equal(spelledIn('Enter a number from 1 Gtoken to 9 Gtoken'), 'Enter a number from 1 G tokens to 9 G tokens');
  assert.equal(spelledIn('0.01 mm^2'), '0.01 mm²');
});

test('a value keeps the unit in which it is shown', () => {
  assert.equal(showIn(9e11, 'TB/s'), '0.9 TB/s');
  assert.equal(showIn(5 * 31557600, 'years'), '5 years');
  assert.equal(showIn(2e12, 'T tokens'), '2 T tokens');
  assert.equal(showIn(1, 'bananas'), undefined);
});

test('a report path tells its unit', () => {
  const cases = {
    'training.step_time_s': 's',
    'training.time_s.bubble': 's',
    'serving.memory_bytes.total': 'B',
    'serving.kv_cache_bytes_per_token': 'B/token',
    'serving.tokens_per_s_per_user': 'token/s',
    'training.model_flops_utilization': '%',
    'cost.device_hour_usd': '$',
    'cost.dies.0.yield': '%',
    'cost.dies.0.area_mm2': 'mm^2',
    'serving.max_batch': 'count',
    'training.energy_j': 'J',
    'serving.energy_j_per_token': 'J/token',
    'serving.cost_usd_per_million_tokens': '$',
  };
  for (const [path, unit] of Object.entries(cases)) assert.equal(unitOf(path), unit, path);
});

test('what people type is read as the core reads it', () => {
  const cases = [
    ['80 GB', 80e9],
    ['80GB', 80e9],
    ['80 GiB', 80 * 2 ** 30],
    ['3.35 TB/s', 3.35e12],
    ['400 Gb/s', 50e9],
    ['989 TFLOP/s', 989e12],
    ['989 TFLOPS', 989e12],
    ['15 Ttoken', 15e12],
    ['15 T tokens', 15e12],
    ['300 tokens', 300],
    ['2 µs', 2e-6],
    ['814 mm²', 814],
    ['4 year', 4 * 31557600],
    ['1,024', 1024],
    ['1e-6', 1e-6],
    ['2 us', 2e-6],
    ['85 %', 0.85],
    ['1.2 M tokens/s', 1.2e6],
    ['0.1 /cm^2', 0.001],
    ['814 mm^2', 814],
    ['0.08 $/kWh', 0.08 / 3.6e6],
    ['70B', 70e9],
    ['.5', 0.5],
    ['4k', 4000],
  ];
  for (const [typed, value] of cases)
    assert.ok(Math.abs(parse(typed) / value - 1) < 1e-12, `${typed}: ${parse(typed)}`);
  assert.equal(parse('8k', 1024), 8192);
  assert.equal(unitIn('1,024'), '');
  assert.equal(unitIn('1e12'), '');
  assert.equal(parse('2.5 million'), 2.5e6);
  assert.equal(parse('15 trillion tokens'), 15e12);
  for (const typed of ['', 'abc', '1,5', '80 GX', '--1', '1e999', 'GB']) assert.equal(parse(typed), undefined, typed);
});

test('a count is typed as a number with or without a multiple, never with another unit', () => {
  for (const [typed, value] of [
    ['8', 8],
    ['1,024', 1024],
    ['2k', 2000],
    ['3 thousand', 3000],
  ])
    assert.equal(countIn(typed), value, typed);
  for (const typed of ['', '0', '-3', 'abc', '7.5', '8 GB', '8 tokens', '5 s'])
    assert.equal(countIn(typed), undefined, typed);
  for (const [typed, value] of [
    ['5', 5e12],
    ['2.5', 2.5e12],
    ['10 M', 10e6],
    ['10M tokens', 10e6],
    ['2 billion', 2e9],
    ['15 trillion tokens', 15e12],
    ['1e10 tokens', 1e10],
  ])
    assert.equal(countIn(typed, 'T tokens'), value, typed);
  for (const typed of ['0', '-1', 'foo', '5 GB', '5 s']) assert.equal(countIn(typed, 'T tokens'), undefined, typed);
});

test('a field shows its value in its own unit with a readable prefix', () => {
  assert.equal(show(3.35e12, 'GB/s', 1e9), '3.35 TB/s');
  assert.equal(show(80e9, 'GB', 1e9), '80 GB');
  assert.equal(show(1.5e-6, 'us', 1e-6), '1.5 µs');
  assert.equal(show(15e12, 'Gtoken', 1e9), '15 T tokens');
  assert.equal(show(500, 'token', 1), '500 tokens');
  assert.equal(show(0.08 / 3.6e6, '$/kWh', 1 / 3.6e6), '0.08 $/kWh');
  assert.equal(show(814, 'mm^2', 1), '814 mm²');
  assert.equal(show(2.1e-8, 'um^2', 1e-6), '0.021 µm²');
});

test('a slide rule rests on powers of two for counts and on round decimals otherwise', () => {
  assert.equal(snap(100, true), 128);
  assert.equal(snap(0.3, true), 1);
  assert.equal(snap(3.41e12, false), 3e12);
  assert.equal(snap(4.4e12, false), 4e12);
});

test('texts are filled in, and an unknown key shows itself', () => {
  assert.equal(inScenes('train.title', { time: '6.8 s' }), 'Where does a training step of 6.8 s go?');
  assert.equal(has('no.such.key'), false);
  assert.equal(t('no.such.key'), 'no.such.key');
});

test('every algorithm of the core has a name in words', () => {
  const folder = new URL('../../core/collectives/', import.meta.url);
  const rows = readdirSync(folder)
    .filter((name) => name.endsWith('.cc'))
    .flatMap((name) => [...readFileSync(new URL(name, folder), 'utf8').matchAll(/^ +\{"(\w+)", "[^"]+",\s/gm)]);
  assert.ok(rows.length > 30, `${rows.length} rows`);
  for (const [, id] of rows) assert.notEqual(inCharts(`algorithm.${id}`), `algorithm.${id}`);
});

test('no two tables of texts share a key: the later one would change the texts', async () => {
  const web = new URL('../../web/', import.meta.url);
  const tables = readdirSync(web, { recursive: true }).filter((file) => /(^|\/)(english|texts)\.js$/.test(file));
  assert.ok(tables.length >= 12);
  const seen = new Map();
  for (const file of tables) {
    for (const [, key] of readFileSync(new URL(file, web), 'utf8').matchAll(/(?:^|[,{] ?)\s*'([\w.]+)':\s*['"`]/gm)) {
      assert.equal(seen.get(key), undefined, `${key} in ${seen.get(key)} and ${file}`);
      seen.set(key, file);
    }
  }
});

test('an element stands at each place of its name', () => {
  extend({ 'test.twice': 'up to {value}: at {value} it is {result}' });
  const value = { cloneNode: () => 'copy' };
  assert.deepEqual(pieces('test.twice', { value, result: 3 }), ['up to ', value, ': at ', 'copy', ' it is ', 3, '']);
});
