// Texts that a field accepts or refuses: the page passes them to the core, which alone reads them.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestOf } from '../../web/state/scenario.js';
import { sizeOf, spelled, unitIn } from '../../web/text/measure.js';
import { loadSlipstick } from '../support/module.js';

const { slipstick } = await loadSlipstick();
const { defaults, inputs } = JSON.parse(slipstick.describe());
const presetPaths = inputs.filter(({ presets }) => presets).map(({ path }) => path);

// Fields of every kind.
const BATCH = 'serving.batch';
const PROMPT = 'serving.prompt';
const MEMORY = 'cluster.device.memory.capacity';
const BANDWIDTH = 'cluster.device.memory.bandwidth';
const RATE = 'cluster.device.peak.bf16';
const LINK = 'cluster.networks.1.bandwidth';
const LATENCY = 'cluster.networks.1.latency';
const TOKENS = 'training.tokens';
const SHARE = 'serving.prefix_hit';
const POWER = 'cluster.device.tdp';
const LIFETIME = 'cost.lifetime';
const ELECTRICITY = 'cost.electricity';
const AREA = 'cluster.device.die.area';
const PRICE = 'cost.device.price';

const ACCEPTED = [
  [BATCH, '64', 64],
  [BATCH, ' 64 ', 64],
  [BATCH, '+64', 64],
  [BATCH, '64.0', 64],
  [BATCH, '1,024', 1024],
  [BATCH, '1_024', 1024],
  [BATCH, '1e2', 100],
  [BATCH, '1k', 1000],
  [BATCH, '4*16', 64],
  [BATCH, '2^6', 64],
  [BATCH, '(8 + 8) * 4', 64],
  [BATCH, '128/2', 64],
  [BATCH, '2^2^2', 16],
  [BATCH, '100 - 36', 64],
  [PROMPT, '2048', 2048],
  [PROMPT, '2k', 2048],
  [PROMPT, '8k', 8192],
  [PROMPT, '8Ki', 8192],
  [PROMPT, '4K', 4096],
  [PROMPT, '1.5k', 1536],
  [PROMPT, '8,192', 8192],
  [PROMPT, '8*1024', 8192],
  [PROMPT, '2^15', 32768],
  [PROMPT, '8k tokens', 8192],
  [PROMPT, '8192 tokens', 8192],
  [PROMPT, '0.125M', 131072],
  [MEMORY, '80 GB', 80e9],
  [MEMORY, '80GB', 80e9],
  [MEMORY, '80 GiB', 80 * 2 ** 30],
  [MEMORY, '80GiB', 80 * 2 ** 30],
  [MEMORY, '80\u00a0GB', 80e9],
  [MEMORY, '80\u202fGB', 80e9],
  [MEMORY, '8e10 B', 80e9],
  [MEMORY, '80,000 MB', 80e9],
  [MEMORY, '640 Gb', 80e9],
  [MEMORY, '5 * 16 GB', 80e9],
  [MEMORY, '0.08 TB', 80e9],
  [MEMORY, '80 Gbyte', 80e9],
  [BANDWIDTH, '3.35 TB/s', 3.35e12],
  [BANDWIDTH, '3.35TB/s', 3.35e12],
  [BANDWIDTH, '3350 GB/s', 3.35e12],
  [BANDWIDTH, '3,350 GB/s', 3.35e12],
  [BANDWIDTH, '26.8 Tb/s', 3.35e12],
  [RATE, '989 TFLOP/s', 989e12],
  [RATE, '989 TFLOPS', 989e12],
  [RATE, '989TFLOPS', 989e12],
  [RATE, '0.989 PFLOP/s', 989e12],
  [LINK, '400 Gb/s', 50e9],
  [LINK, '400 Gbit/s', 50e9],
  [LINK, '50 GB/s', 50e9],
  [LATENCY, '2 us', 2e-6],
  [LATENCY, '2us', 2e-6],
  [LATENCY, '2 µs', 2e-6],
  [LATENCY, '0.002 ms', 2e-6],
  [LATENCY, '2000 ns', 2e-6],
  [TOKENS, '15T', 15e12],
  [TOKENS, '15T tokens', 15e12],
  [TOKENS, '15 T tokens', 15e12],
  [TOKENS, '15 Ttoken', 15e12],
  [TOKENS, '300B', 300e9],
  [TOKENS, '300 B', 300e9],
  [TOKENS, '300B tokens', 300e9],
  [TOKENS, '70G', 70e9],
  [SHARE, '50%', 0.5],
  [SHARE, '50 %', 0.5],
  [SHARE, '0.5', 0.5],
  [SHARE, '.5', 0.5],
  [SHARE, '1/2', 0.5],
  [SHARE, '0', 0],
  [POWER, '700 W', 700],
  [POWER, '0.7 kW', 700],
  [LIFETIME, '4 year', 4 * 31557600],
  [LIFETIME, '4 years', 4 * 31557600],
  [LIFETIME, '1461 days', 1461 * 86400],
  [LIFETIME, '48 months', 48 * 2629800],
  [ELECTRICITY, '0.08 $/kWh', 0.08 / 3.6e6],
  [ELECTRICITY, '$0.08/kWh', 0.08 / 3.6e6],
  [ELECTRICITY, '80 $/MWh', 0.08 / 3.6e6],
  [AREA, '814 mm^2', 814],
  [AREA, '814 mm²', 814],
  [AREA, '8.14 cm^2', 814],
  [AREA, '26x33 mm', 858],
  [AREA, '26 x 33 mm', 858],
  [PRICE, '$30,000', 30000],
  [PRICE, '30000 $', 30000],
  [PRICE, '$30k', 30000],
  [PRICE, '30 k$', 30000],
];

// Numbers without a unit.
const BARE = [
  [MEMORY, '141'],
  [BANDWIDTH, '4'],
  [RATE, '1000'],
  [LATENCY, '0.5'],
  [POWER, '700'],
  [LIFETIME, '5'],
  [ELECTRICITY, '0.12'],
  [PRICE, '30000'],
  [AREA, '814'],
  [MEMORY, '80e9', 'base'],
  [BANDWIDTH, '3.35e12', 'base'],
  [RATE, '989e12', 'base'],
];

const REFUSED = [
  [BATCH, '1,5', /comma/],
  [BATCH, '1.5', /whole number/],
  [BATCH, '1,24', /comma/],
  [BATCH, '1,0245', /comma/],
  [BATCH, '-3', /whole number from 1 to 16,777,216/],
  [BATCH, '0', /whole number from 1 to/],
  [BATCH, 'many', /whole number/],
  [BATCH, '--3', /whole number/],
  [BATCH, '4 GB', /without a unit|whole number/],
  [BATCH, '3 +', /whole number/],
  [BATCH, '(3', /whole number/],
  [BATCH, '1/0', /whole number/],
  [BATCH, 'NaN', /whole number/],
  [BATCH, 'Infinity', /whole number/],
  [BATCH, '1e999', /whole number/],
  [BATCH, '0x10', /whole number/],
  [BATCH, '12 34', /whole number/],
  [PROMPT, '8,19', /comma/],
  [PROMPT, '8 kB', /without a unit|whole number/],
  [PROMPT, '8kk', /whole number/],
  [MEMORY, '80 GX', /^(Enter|Must|Too)/],
  [MEMORY, 'GB', /^(Enter|Must|Too)/],
  [MEMORY, '80 W', /quantity in B/],
  [MEMORY, '80 GB/s', /quantity in B/],
  [MEMORY, '-80 GB', /^(Enter|Must|Too)/],
  [MEMORY, '80 gigabytes', /^(Enter|Must|Too)/],
  [MEMORY, '80 G B B', /^(Enter|Must|Too)/],
  [BANDWIDTH, '3.35 TB', /B\/s/],
  [BANDWIDTH, '3,35 TB/s', /comma/],
  [BANDWIDTH, '0', /^(Enter|Must|Too)/],
  [RATE, '989 TB/s', /FLOP/],
  [LATENCY, '2 GB', /quantity in s/],
  [SHARE, '150 %', /^(Enter|Must|Too)/],
  [SHARE, '0,5', /comma/],
  [ELECTRICITY, '0.08 kWh', /^(Enter|Must|Too)/],
  [AREA, '26x33', /^(Enter|Must|Too)/],
  [AREA, '26x33 kg', /^(Enter|Must|Too)/],
  [AREA, '814 mm', /^(Enter|Must|Too)/],
  [POWER, '<b>700</b>', /^(Enter|Must|Too)/],
  [LIFETIME, '4 fortnights', /^(Enter|Must|Too)/],
];

const evaluate = (path, text, version = {}) =>
  JSON.parse(slipstick.evaluate(JSON.stringify(requestOf(defaults, { [path]: text, ...version }, presetPaths)), ''));
const valueAt = (json, path) => path.split('.').reduce((at, member) => at?.[member], json);

test('there are at least 120 rows of typed texts', () => assert.ok(ACCEPTED.length + REFUSED.length >= 120));

test('every accepted spelling has the right value', () => {
  const wrong = ACCEPTED.flatMap(([path, text, expected]) => {
    const report = evaluate(path, text);
    const found = valueAt(report.scenario, path);
    // An issue elsewhere (a batch that the mapping cannot divide) does not concern the reading.
    const refused = report.issues?.find((issue) => issue.path === path);
    return !refused && Math.abs(found - expected) <= 1e-9 * Math.abs(expected)
      ? []
      : [`${path}=${text}: ${refused?.message ?? found}`];
  });
  assert.deepEqual(wrong, []);
});

test('a number without a unit is in base units in links of the first two versions, in the input’s own unit since', () => {
  const factor = (path) => inputs.find((input) => input.path === path.replace(/\.\d+\./, '.*.')).unit_factor;
  for (const version of Object.keys(defaults))
    for (const [path, text] of BARE.filter((one) => (one[2] === 'base') === Number(version) < 3)) {
      const expected = Number(text) * (Number(version) < 3 ? 1 : factor(path));
      const found = valueAt(evaluate(path, text, { version }).scenario, path);
      assert.ok(Math.abs(found / expected - 1) < 1e-9, `${path}=${text}, version ${version}: ${found}`);
    }
});

test('every refused spelling is an issue at its path that names valid input', () => {
  const wrong = REFUSED.flatMap(([path, text, says]) => {
    const issue = evaluate(path, text).issues?.find((one) => one.path === path);
    return issue && says.test(issue.message) ? [] : [`${path}=${text}: ${issue?.message ?? 'accepted'}`];
  });
  assert.deepEqual(wrong, []);
});

test('the page reads every unit that the core describes, also as it spells it, as the core does', () => {
  const { inputs } = JSON.parse(slipstick.describe());
  const quantities = inputs.filter(({ kind }) => kind === 'quantity');
  assert.ok(quantities.length > 100);
  for (const { path, unit, unit_factor: factor } of quantities)
    for (const one of [unit, unitIn(spelled(`3 ${unit}`))])
      assert.ok(Math.abs(sizeOf(one) / factor - 1) < 1e-12, `${path}: ${one}`);
});

test('every input has a label that differs from its neighbors’', () => {
  const { inputs } = JSON.parse(slipstick.describe());
  const places = new Map();
  for (const { path, label } of inputs.filter((one) => !one.path.endsWith('.*'))) {
    assert.ok(label?.length >= 2 && label.length <= 75, `${path}: ${label}`);
    const place = `${path.split('.').slice(0, -1).join('.')}: ${label}`;
    assert.equal(places.get(place), undefined, `${path} is called as ${places.get(place)} is: ${label}`);
    places.set(place, path);
  }
  assert.equal(
    inputs.find(({ path }) => path === 'serving.engine.expert_exchange.*.units').label,
    'SMs that a normal kernel occupies',
  );
});
