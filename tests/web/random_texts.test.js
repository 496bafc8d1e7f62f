// Pasted texts and links, broken at random: commands, measurements and links are read or refused. Every run uses the
// same texts, and a failure prints the one that caused it.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WRITERS, commandFor, inputsAfter, readCommand } from '../../web/commands/commands.js';
import { inputsWith, readMeasurement } from '../../web/measurements/read.js';
import { read, writeShort } from '../../web/state/link.js';
import { measurementsIn } from '../../web/state/measured.js';
import { requestOf } from '../../web/state/scenario.js';
import { loadSlipstick } from '../support/module.js';

const { slipstick } = await loadSlipstick();
const described = JSON.parse(slipstick.describe());
const presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
const catalogue = {
  models: JSON.parse(slipstick.presets('model')),
  clusters: JSON.parse(slipstick.presets('cluster')),
};
const SCENES = ['overview', 'train', 'serve'];
const LONGEST = 2000; // ms to read one text on a busy machine; most take less than one

function random(seed) {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

const HARD = [
  '',
  '0',
  '-1',
  '1e999',
  'NaN',
  'Infinity',
  '1.2.3',
  '99999999999999999999',
  '4294967294',
  'null',
  'true',
  '{}',
  '[]',
  '[[',
  '"',
  "'",
  '\\',
  '%',
  '%zz',
  '%00',
  '\0',
  '\n',
  '\r\n',
  ' ',
  '=',
  '&',
  '#',
  '--',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'é',
  '😀',
  '\u202e',
  '\ud800',
  'x'.repeat(3000),
  ' '.repeat(3000),
  '9'.repeat(400),
];

/** The text, broken in one to three places. */
function broken(text, pick) {
  let changed = text;
  for (let changes = 1 + pick(3); changes > 0; changes--) {
    const [from, length] = [pick(changed.length + 1), pick(12)];
    const hard = HARD[pick(HARD.length)];
    const words = [...changed.matchAll(pick(2) ? /[\w.-]+/g : /\w+/g)];
    const word = words[pick(words.length || 1)];
    const lines = changed.split('\n');
    const line = pick(lines.length);
    changed = [
      () => changed.slice(0, from) + changed.slice(from + length),
      () => changed.slice(0, from) + hard + changed.slice(from),
      () => (word ? changed.slice(0, word.index) + hard + changed.slice(word.index + word[0].length) : hard),
      () => (word ? changed.slice(0, word.index) + hard + changed.slice(word.index + word[0].length) : hard),
      () => lines.filter((_, i) => i !== line).join('\n'),
      () => [...lines, lines[line]].join('\n'),
      () => changed.slice(0, from),
    ][pick(7)]();
  }
  return changed;
}

const answerTo = (inputs) =>
  JSON.parse(slipstick.evaluate(JSON.stringify(requestOf(described.defaults, inputs, presetPaths)), ''));
const scenarioOf = (inputs) => answerTo(inputs).scenario;

/**
 * Reads `count` broken texts of the samples; says which one was not read as it must be. `check` gives the sets of inputs that it found; the core,
 * which has fuzzers of its own, answers every fiftieth.
 */
async function readBroken(samples, count, seed, check) {
  const pick = random(seed);
  for (let i = 0; i < count; i++) {
    const text = i < samples.length ? samples[i] : broken(samples[pick(samples.length)], pick);
    const began = performance.now();
    try {
      const found = await check(text);
      assert.ok(performance.now() - began < LONGEST, `${Math.round(performance.now() - began)} ms`);
      for (const inputs of found) {
        for (const [path, value] of Object.entries(inputs)) assert.equal(typeof value, 'string', `${path}: ${value}`);
        if (i % 50 > 0) continue;
        const answer = answerTo(inputs);
        assert.ok(answer.issues?.length > 0 || answer.scenario, JSON.stringify(answer).slice(0, 300));
      }
    } catch (error) {
      throw new Error(`${error.message}\nof the text ${JSON.stringify(text).slice(0, 1500)}`, { cause: error });
    }
  }
  assert.equal(Object.keys(Object.prototype).length, 0);
}
const ASKED = [
  {},
  { 'model': 'deepseek-v3', 'serving.mapping.ep': '8', 'serving.devices': '8' },
  { 'model': 'qwen3-30b-a3b', 'serving.engine': 'llamacpp', 'cluster': 'single-rtx-4090' },
];
const COMMANDS = [
  ...ASKED.flatMap((inputs) => WRITERS.map((tool) => commandFor(tool, answerTo(inputs), catalogue.models))).filter(
    Boolean,
  ),
  `docker run --gpus all vllm/vllm-openai:latest --model meta-llama/Llama-3.1-8B --speculative-config '{"num_speculative_tokens": 3}' --eplb-config '{"num_redundant_experts": 2}' --kv-cache-dtype fp8 -q awq`,
  'llama-server -m Qwen3-30B-A3B-Q4_K_M.gguf -ngl 99 --n-cpu-moe 12 -ot "exps=CPU" -ctk q8_0 -c 8192 -np 4',
];

test('commands', async () => {
  await readBroken(COMMANDS, 3000, 1, (text) => {
    const command = readCommand(text, catalogue.models);
    if (!command) return [];
    for (const flag of [...(command.unused ?? []), ...(command.unknown ?? [])]) assert.equal(typeof flag, 'string');
    return [inputsAfter({ 'serving.prompt': '100', 'training.mapping.tp': '2' }, command)];
  });
});

const MEASURED = [
  ` [2024-04-06 02:59:36] iteration       43/     100 | consumed samples:         5504 | elapsed time per iteration (ms): 5444.9 | global batch size:   128 | lm loss: 1.8E+00 |
 [2024-04-06 02:59:41] iteration       44/     100 | consumed samples:         5632 | elapsed time per iteration (ms): 5533.8 | global batch size:   128 | lm loss: 1.8E+00 |
[Rank 0] (after 10 iterations) memory (MB) | allocated: 60210.1 | max allocated: 65010.4 | reserved: 70000.0 | max reserved: 71680.0`,
  `using world size: 16, data-parallel size: 4, context-parallel size: 1, tensor-model-parallel size: 1, pipeline-model-parallel size: 4
------------------------ arguments ------------------------
  hidden_size ..................................... 4096
  num_experts ..................................... 8
  num_layers ...................................... 32
  moe_layer_freq .................................. ([0]*3+[1]*29)
  num_attention_heads ............................. 32
  swiglu .......................................... True
  world_size ...................................... 16
-------------------- end of arguments ---------------------
 iteration 2/ 10 | elapsed time per iteration (ms): 12.5 |`,
  `accelerate launch --num_processes 8 -m axolotl.cli.train a.yaml
base_model: NousResearch/Meta-Llama-3.1-8B
adapter: qlora
load_in_4bit: true
lora_target_modules:
  - q_proj
  - down_proj
micro_batch_size: 2
gradient_accumulation_steps: 4
deepspeed: deepspeed_configs/zero3_bf16_cpuoffload_all.json
fsdp_config:
  reshard_after_forward: false
optimizer: paged_adamw_8bit`,
  `vllm bench serve --model meta-llama/Llama-3.1-8B-Instruct --endpoint-type openai-chat
============ Serving Benchmark Result ============
Backend:                                 sglang
Successful requests:                     1000
Max request concurrency:                 64
Total input tokens:                      229711
Total generated tokens:                  203068
Output token throughput (tok/s):         6582.87
Mean TTFT (ms):                          9626.13
Mean TPOT (ms):                          77.86
A row of tomorrow:                       3`,
  JSON.stringify({
    backend: 'vllm',
    model_id: 'RedHatAI/Meta-Llama-3.1-70B-Instruct-FP8',
    num_prompts: 640,
    tensor_parallel_size: '8',
    request_rate: 'inf',
    max_concurrency: 64,
    completed: 640,
    total_input_tokens: 655360,
    total_output_tokens: 655360,
    output_throughput: 6521,
    mean_ttft_ms: 180.5,
    mean_tpot_ms: 9.61,
  }),
  JSON.stringify({
    backend: 'sglang',
    server_info: { model_path: 'x', tp_size: 4 },
    request_rate: 4.0,
    max_concurrency: null,
    completed: 100,
    total_input_tokens: 102400,
    total_output_tokens: 25600,
    mean_ttft_ms: 90,
    mean_itl_ms: 12,
  }),
  `# nThread 1 nGpus 8 minBytes 1048576 maxBytes 1073741824 step: 32(factor)
#  Rank  0 Group  0 Pid  18416 on    node-1 device  0 [0x07] NVIDIA H200
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
     1048576        262144     float     sum      -1    40.20   26.08   45.65      0    39.50   26.55   46.46      0
  1073741824     268435456     float     sum      -1  3950.00  271.83  475.71      0   3949.0  271.90  475.83      0`,
];

test('measurements', async () => {
  const scenario = scenarioOf({});
  await readBroken(MEASURED, 5000, 2, (text) => {
    const found = readMeasurement(text, catalogue);
    if (!found) return [];
    for (const { figure, collective, value } of found.measured) {
      assert.ok(Number.isFinite(value) && value > 0, `${figure}: ${value}`);
      assert.ok(
        figure ? described.outputs.some(({ path }) => path === figure) : collective.bytes > 0 && collective.ranks > 0,
        `${figure}`,
      );
    }
    for (const line of [...found.unread, ...found.missing]) assert.equal(typeof line, 'string');
    if (found.format.id === 'serving-benchmark')
      assert.doesNotMatch(JSON.stringify(found.inputs), /NaN|Infinity|undefined/);
    return [inputsWith({ 'serving.batch': '8', 'training.sequence': '4096' }, found, scenario)];
  });
});

test('links', async () => {
  const inputs = {
    'model': 'deepseek-v3',
    'serving.batch': '64',
    'cost.electricity': '0.08 $/kWh',
    'cluster.networks.1.bandwidth': '25 GB/s',
    'measured.0.path': 'serving.tpot_s',
    'measured.0.value': '21 ms',
  };
  const state = {
    scene: 'serve',
    sub: 'bubble/2',
    inputs,
    others: [{ version: '2' }, { 'training.tokens': '1T' }],
    view: { embed: '1', size: '{"rate":2}', explore: 'a,b' },
  };
  const long = { ...state, inputs: { ...inputs, 'model.name': 'x'.repeat(1500) } };
  const samples = [
    await writeShort(state),
    await writeShort(long),
    '#/train?serving.batch=64&v=1',
    '#/serve?b:=&c:v=2&d:model=llama-3.1-8b&v=3',
  ];
  await readBroken(samples, 3000, 3, async (text) => {
    const found = await read(text, SCENES);
    assert.ok(SCENES.includes(found.scene));
    for (const { path, kind } of found.faults)
      assert.ok(typeof path === 'string' && path.length <= 120 && kind, JSON.stringify(found.faults));
    for (const { path } of measurementsIn(found.inputs)) assert.equal(typeof path, 'string');
    // The result written as a link reads back unchanged; view words without effect are not written.
    const { faults: _, ...before } = found;
    before.view = Object.fromEntries(Object.entries(before.view).filter(([, value]) => value));
    const { faults, ...after } = await read(await writeShort(found), SCENES);
    assert.deepEqual([faults, after], [[], before]);
    return [found.inputs, ...found.others];
  });
});
