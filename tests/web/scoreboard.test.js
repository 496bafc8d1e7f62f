// The scoreboard page from a small handmade input, and the sources of the site's: this build's runs, and the records.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ROOT, slipstickCommand } from '../support/module.js';

const folder = mkdtempSync(join(tmpdir(), 'scoreboard-'));
after(() => rmSync(folder, { recursive: true }));

const scores = (kind, publisher, runs, error, held, half_width) => ({
  kind,
  publisher,
  runs,
  error,
  held,
  half_width,
});
const RECORDS = [
  {
    release: '1.0.0',
    date: '2026-01-02',
    commit: 'abcdef12',
    all: [{ kind: 'output_token', publisher: 'all', runs: 1003, error: 9, unanswered: 2 }],
  },
  {
    release: '1.1.0',
    date: '2026-03-04',
    all: [scores('output_token', 'all', 1005, 7.5, 91.2, 30.5)],
    publishers: [scores('output_token', 'A & B', 2, 5.5, 50.5, 20.5)],
    others: [scores('first_token', 'C', 1, 3.5, 100.5, 90.5)],
  },
];
const TOOLS = [
  {
    tool: 'Other',
    by: 'Somebody',
    group: 'serving',
    states: '<b>4 %</b>',
    measured: 'Two runs',
    known: 'One of them',
    source: 'https://example.org/claim',
    date: 'read 2026-02',
  },
];
const RUN = { source: 'bench', kind: 'output_token', held: true };
const RUNS = [
  {
    ...RUN,
    id: 'time',
    figure: 'serving.tpot_s',
    measured: 0.0225,
    predicted: 0.018,
    low: 0.012,
    high: 0.0301,
    error: -0.2,
  },
  {
    ...RUN,
    id: 'rate',
    figure: 'serving.tokens_per_s',
    measured: 2749,
    predicted: 5498,
    low: 3000,
    high: 6000,
    error: -0.5,
    held: false,
  },
  {
    ...RUN,
    id: 'share',
    figure: 'training.model_flops_utilization',
    measured: 0.43,
    predicted: 0.516,
    low: 0.3,
    high: 0.6,
    error: -0.1667,
  },
  {
    ...RUN,
    id: 'memory',
    figure: 'serving.memory_bytes.total',
    measured: 17.26e9,
    predicted: 9.999e9,
    low: 9e9,
    high: 100e9,
    error: -0.42,
  },
];

function pageOf(records) {
  const [site, board, evidence] = ['site', 'board', 'evidence'].map((name) => join(folder, name));
  for (const one of [site, board, evidence]) mkdirSync(one, { recursive: true });
  writeFileSync(join(board, 'records.json'), JSON.stringify(records));
  writeFileSync(join(board, 'other_tools.json'), JSON.stringify(TOOLS));
  const bench = { publisher: 'A & B', campaign: 'Bench', source: 'https://example.org/bench at 1, table 2', rows: [] };
  writeFileSync(join(evidence, 'bench.json'), JSON.stringify(bench));
  execFileSync('python3', [join(ROOT, 'web/scoreboard_page.py'), site, board, evidence], {
    input: JSON.stringify(RUNS),
  });
  return readFileSync(join(site, 'scoreboard.html'), 'utf8');
}
// The rows of a section as lists of cell texts.
const rowsOf = (page, id) =>
  [
    ...page
      .split(`id="${id}"`)[1]
      .split('<h2')[0]
      .matchAll(/<tr[^>]*>(.*?)<\/tr>/g),
  ].map(([, row]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, cell]) =>
      cell
        .replaceAll('<small>', ' ')
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll('\u00a0', ' '),
    ),
  );

test('releases are listed newest first, missing records are dashes, and unanswered runs are counted', () => {
  assert.deepEqual(rowsOf(pageOf(RECORDS), 'releases'), [
    ['Release', 'Runs', 'Error', 'In the interval', 'Half-width'],
    ['Time per output token'],
    ['1.1.0 4 March 2026', '1,005', '7.5 %', '91.2 %', '30.5 %'],
    ['1.0.0 2 January 2026', '1,003 of 1,005', '9 %', '–', '–'],
  ]);
});

test('publishers of the newest record lead to their runs', () => {
  const page = pageOf(RECORDS);
  assert.deepEqual(rowsOf(page, 'publishers').slice(1), [
    ['Time per output token'],
    ['A &amp; B', '2', '5.5 %', '50.5 %', '20.5 %'],
  ]);
  assert.match(page, /<a href="#runs-a-b">A &amp; B<\/a>/);
  assert.match(page, /<details id="runs-a-b"><summary>A &amp; B: 4 runs</);
  assert.deepEqual(rowsOf(page, 'unseen').slice(1), [['First token'], ['C', '1', '3.5 %', '100.5 %', '90.5 %']]);
});

test('a run has its figure, its source, and values in units that fit', () => {
  const page = pageOf(RECORDS);
  assert.deepEqual(rowsOf(page, 'runs'), [
    ['Run', 'Measured', 'Predicted', 'Error', '90 % interval'],
    ['Bench'],
    ['time time per output token', '22.5 ms', '18.0 ms', '−20.0 %', '12.0 ms to 30.1 ms'],
    ['rate tokens/s', '2,749', '5,498', '−50.0 %', '3,000 to 6,000, measured outside'],
    ['share MFU', '43.0 %', '51.6 %', '−16.7 %', '30.0 % to 60.0 %'],
    ['memory peak memory per device', '17.3 GB', '10.0 GB', '−42.0 %', '9.00 GB to 100 GB'],
  ]);
  assert.match(page, /<a href="https:\/\/example\.org\/bench">Bench<\/a>/);
});

test('statements of other tools are listed below this program’s, with source and date', () => {
  const page = pageOf(RECORDS);
  const [, title, ours, theirs] = rowsOf(page, 'tools');
  assert.deepEqual(title, ['Serving']);
  assert.match(
    ours.join('|'),
    /^Slipstick 1\.1\.0\|In the median: time per output token 7\.5 %, 91\.2 % in the interval/,
  );
  assert.deepEqual(theirs, [
    'Other Somebody',
    '&lt;b&gt;4 %&lt;/b&gt;',
    'Two runs',
    'One of them',
    'example.org, read February 2026',
  ]);
  assert.match(page, /<a href="https:\/\/example\.org\/claim">/);
});

test('without figures that set nothing their section is left out', () => {
  const [first, last] = RECORDS;
  assert.doesNotMatch(pageOf([first, { ...last, others: [] }]), /unseen/);
});

const json = (path) => JSON.parse(readFileSync(`${ROOT}${path}`, 'utf8'));

test('every tool is named with what it states, on what, and where', () => {
  const tools = json('web/scoreboard/other_tools.json');
  assert.ok(tools.length >= 10);
  for (const one of tools) {
    for (const key of ['tool', 'by', 'states', 'measured', 'known']) assert.match(one[key], /\S/, one.tool);
    assert.ok(['training', 'serving'].includes(one.group), one.tool);
    assert.match(one.source, /^https:\/\/\S+$/, one.tool);
    assert.match(one.date, /^(read )?20\d\d-\d\d(-\d\d)?$/, one.tool);
  }
});

test('a release has one record, beside those that a commit holds, and none is older than the one before', () => {
  const records = json('web/scoreboard/records.json');
  const own = records.filter(({ commit }) => !commit).map(({ release }) => release);
  assert.deepEqual(own, [...new Set(own)]);
  assert.deepEqual(
    records.map(({ date }) => date),
    records.map(({ date }) => date).sort(),
  );
});

// "| training step | 345 | 9 | 96 | 37 |", with or without "all" after the title, in whole percent.
for (const readme of ['README.md', 'tests/validation/README.md']) {
  test(`the table of ${readme} is the newest record`, () => {
    const lines = new Map(
      readFileSync(`${ROOT}${readme}`, 'utf8')
        .split('\n')
        .map((line) => /^\| ([a-z ]+) \| (?:all \| )?(\d+) \| (\d+) \| (\d+) \| (\d+) \|$/.exec(line))
        .filter(Boolean)
        .map(([, title, ...scored]) => [title, scored.map(Number)])
        .reverse(), // other tables of the file follow
    );
    const titles = {
      training_step: 'training step',
      training_memory: 'training memory',
      output_token: 'time per output token',
      first_token: 'first token',
      throughput: 'serving throughput',
      static_batch: 'latency of a static batch',
      serving_memory: 'serving memory',
      image_or_clip: 'image or clip by diffusion',
    };
    const { all } = json('web/scoreboard/records.json').at(-1);
    assert.deepEqual(all.map(({ kind }) => kind).sort(), Object.keys(titles).sort());
    for (const { kind, runs, error, held, half_width } of all) {
      const [count, ...percents] = lines.get(titles[kind]);
      assert.equal(count, runs, kind);
      for (const [i, recorded] of [error, held, half_width].entries())
        assert.ok(Math.abs(percents[i] - recorded) <= 0.55, `${kind}: ${percents[i]}, recorded ${recorded}`);
    }
  });
}

const runsOfBuild = () =>
  JSON.parse(
    execFileSync(`${ROOT}tests/validation/left_out`, [`${ROOT}build/native/evidence`, '--runs'], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    }),
  );

// The first run of a source. llama.cpp and XLA have no stand-in from another publisher; LMDeploy and torchtitan have.
test('a prediction is what the command line answers, with the software of another publisher', () => {
  const runs = runsOfBuild();
  for (const [source, part, software] of [
    ['llamacpp-benchmarks', 'serving', { engine: 'llamacpp' }],
    ['lmdeploy', 'serving', { engine: 'vllm' }],
    ['maxtext', 'training', { framework: 'xla' }],
    ['torchtitan', 'training', { framework: 'megatron' }],
  ]) {
    const { models, rows, tuning } = json(`core/presets/evidence/${source}.json`);
    const [row] = rows;
    const request = {
      version: 1,
      model: models[row.model],
      cluster: row.cluster,
      training: null,
      serving: null,
      cost: null,
      [part]: { ...row[part], ...software, ...(part === 'serving' && { tuning }) },
    };
    const report = JSON.parse(slipstickCommand(['evaluate', '-'], JSON.stringify(request)));
    const answer = row.figure.split('.').reduce((at, name) => at[name], report);
    const { predicted } = runs.find((run) => run.source === source && run.id === row.id);
    assert.ok(Math.abs(answer / predicted - 1) < 1e-9, `${source}: ${answer}, on the scoreboard ${predicted}`);
  }
});

test('the runs of this build give the scores of the newest record', () => {
  const runs = runsOfBuild();
  const publishers = new Map();
  const groups = new Map();
  for (const run of runs) {
    const isRate = /tokens_per_s|utilization/.test(run.figure);
    const error = isRate ? run.measured / run.predicted - 1 : run.predicted / run.measured - 1;
    assert.ok(Math.abs(error - run.error) < 1e-9, run.id);
    assert.equal(run.held, run.low <= run.measured && run.measured <= run.high, run.id);
    assert.ok(run.low < run.predicted && run.predicted < run.high, run.id);
    if (!publishers.has(run.source)) publishers.set(run.source, json(`core/presets/evidence/${run.source}.json`));
    const key = `${run.kind}, ${publishers.get(run.source).publisher}`;
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  const recorded = json('web/scoreboard/records.json').at(-1).publishers;
  assert.equal(groups.size, recorded.length);
  for (const { kind, publisher, runs: count, error, held } of recorded) {
    const group = groups.get(`${kind}, ${publisher}`);
    assert.equal(group.length, count, publisher);
    const sorted = group.map((run) => Math.abs(run.error)).sort((a, b) => a - b);
    const middle = (sorted[(count - 1) >> 1] + sorted[count >> 1]) / 2;
    assert.ok(Math.abs(100 * middle - error) < 0.5, `${kind}, ${publisher}: ${100 * middle}, recorded ${error}`);
    const share = (100 * group.filter((run) => run.held).length) / count;
    assert.ok(Math.abs(share - held) < 0.5, `${kind}, ${publisher}: ${share}, recorded ${held}`);
  }
});
