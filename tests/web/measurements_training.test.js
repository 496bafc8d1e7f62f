// Logs of training as people paste them, in the programs' own formats: from public issues and pull requests.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputsWith } from '../../web/measurements/read.js';
import { loadSlipstick } from '../support/module.js';
import { measurementReader } from '../support/pasted.js';

const { slipstick } = await loadSlipstick();
const read = measurementReader(slipstick);
const scenario = { model: { preset: 'llama-3.1-70b' }, cluster: { preset: 'dgx-h100' } };

// github.com/NVIDIA/Megatron-LM/issues/756: Mixtral 8x7B on 16 H100.
const MEGATRON = ` [2024-04-06 02:59:36] iteration       43/     100 | consumed samples:         5504 | elapsed time per iteration (ms): 5444.9 | throughput per GPU (TFLOP/s/GPU): 239.8 | learning rate: 8.600000E-06 | global batch size:   128 | lm loss: 1.825991E+00 | loss scale: 1.0 | grad norm: 1.426 | number of skipped iterations:   0 | number of nan iterations:   0 |
 [2024-04-06 02:59:41] iteration       44/     100 | consumed samples:         5632 | elapsed time per iteration (ms): 5533.8 | throughput per GPU (TFLOP/s/GPU): 236.0 | learning rate: 8.800000E-06 | global batch size:   128 | lm loss: 1.875063E+00 | loss scale: 1.0 | grad norm: 1.327 | number of skipped iterations:   0 | number of nan iterations:   0 |
 [2024-04-06 02:59:47] iteration       45/     100 | consumed samples:         5760 | elapsed time per iteration (ms): 5718.6 | throughput per GPU (TFLOP/s/GPU): 228.4 | learning rate: 9.000000E-06 | global batch size:   128 | lm loss: 1.834162E+00 | loss scale: 1.0 | grad norm: 1.611 | number of skipped iterations:   0 | number of nan iterations:   0 |`;

test('lines of a Megatron-LM log: the step without the first, which warms up', () => {
  const found = read(MEGATRON);
  assert.equal(found.format.id, 'megatron-log');
  assert.deepEqual(
    found.measured.map(({ figure }) => figure),
    ['training.step_time_s'],
  );
  assert.ok(Math.abs(found.measured[0].value - (5.5338 + 5.7186) / 2) < 1e-9);
  assert.deepEqual(found.inputs, { 'training.global_batch': '128' });
  assert.deepEqual(found.unread, []);
  assert.deepEqual(inputsWith({ 'training.sequence': '4096' }, found, scenario), {
    'training.sequence': '4096',
    'training.global_batch': '128',
  });
});

test('a log with its table of arguments sets the whole run, and what was not understood is listed', () => {
  const dump = `using world size: 16, data-parallel size: 4, context-parallel size: 1, tensor-model-parallel size: 1, pipeline-model-parallel size: 4
------------------------ arguments ------------------------
  bf16 ............................................ True
  expert_model_parallel_size ...................... 4
  ffn_hidden_size ................................. 14336
  fp16 ............................................ False
  global_batch_size ............................... 128
  group_query_attention ........................... True
  hidden_size ..................................... 4096
  micro_batch_size ................................ 1
  moe_router_topk ................................. 2
  num_attention_heads ............................. 32
  num_experts ..................................... 8
  num_layers ...................................... 32
  num_query_groups ................................ 8
  pipeline_model_parallel_size .................... 4
  seq_length ...................................... 4096
  swiglu .......................................... True
  tensor_model_parallel_size ...................... 1
  use_distributed_optimizer ....................... True
  world_size ...................................... 16
-------------------- end of arguments ---------------------
[Rank 0] (after 10 iterations) memory (MB) | allocated: 60210.1 | max allocated: 65010.4 | reserved: 70000.0 | max reserved: 71680.0
a stray line
${MEGATRON}`;
  const found = read(dump);
  const after = inputsWith(
    { 'training.mapping.tp': '8', 'training.tokens': '1T', 'serving.batch': '4' },
    found,
    scenario,
  );
  assert.equal(after.model, 'mixtral-8x7b');
  for (const [path, value] of Object.entries({
    'training.mapping.tp': '1',
    'training.mapping.pp': '4',
    'training.mapping.ep': '4',
    'training.mapping.micro_batch': '1',
    'training.global_batch': '128',
    'training.sequence': '4096',
    'training.devices': '16',
    'cluster.devices': '16',
    'training.framework': 'megatron',
    'training.tokens': '1T',
    'serving.batch': '4',
  })) {
    assert.equal(after[path], value, path);
  }
  assert.deepEqual(found.measured[1], { figure: 'training.memory_bytes.total', value: 71680 * 2 ** 20 });
  assert.deepEqual(
    found.unread.map((line) => line.trim()),
    ['a stray line'],
  );
});

// Megatron-Core 0.13 prints defaults of flags that the run does not use: a dense GPT-2 medium in fp16, without grouped
// KV heads.
test('the table of arguments: defaults of what the run does not use set nothing', () => {
  const table = {
    expert_model_parallel_size: 1,
    ffn_hidden_size: 4096,
    fp16: 'True',
    fp8: 'None',
    fp8_recipe: 'delayed',
    global_batch_size: 16,
    group_query_attention: 'False',
    hidden_size: 1024,
    kv_channels: 64,
    kv_lora_rank: 32,
    micro_batch_size: 1,
    moe_layer_freq: 1,
    moe_router_topk: 2,
    multi_latent_attention: 'False',
    normalization: 'LayerNorm',
    num_attention_heads: 16,
    num_experts: 'None',
    num_layers: 24,
    num_query_groups: 1,
    optimizer_cpu_offload: 'False',
    optimizer_offload_fraction: '1.0',
    padded_vocab_size: 50304,
    pipeline_model_parallel_size: 1,
    position_embedding_type: 'learned_absolute',
    qk_head_dim: 128,
    qk_pos_emb_head_dim: 64,
    seq_length: 512,
    swiglu: 'False',
    tensor_model_parallel_size: 1,
    v_head_dim: 128,
    virtual_pipeline_model_parallel_size: 2,
    world_size: 8,
  };
  const dump = (change = {}) =>
    Object.entries({ ...table, ...change })
      .map(([name, value]) => `  ${name} ${'.'.repeat(48 - name.length)} ${value}`)
      .join('\n');
  const found = read(`${dump()}\n${MEGATRON}`);
  assert.equal(found.model.id, 'gpt2-medium');
  const { inputs } = found;
  assert.deepEqual(
    ['training.precision', 'training.offload.optimizer', 'training.mapping.virtual_stages', 'training.devices'].map(
      (path) => inputs[path],
    ),
    ['fp16', undefined, '2', '8'],
  );
  // A shape of no known model: no experts, no latent attention, the vocabulary as padded.
  const { shape } = read(`${dump({ num_layers: 13 })}\n${MEGATRON}`);
  assert.deepEqual(
    Object.keys(shape).filter((path) => /moe|mla/.test(path)),
    [],
  );
  assert.deepEqual([shape['model.kv_heads'], shape['model.vocab']], ['16', '50304']);
});

// github.com/pytorch/torchtitan/pull/2389 (every rank prints its line), 533 ("wps" of 2024), and the start of a run of
// docs/performance.md.
const TITAN = `[titan] 2026-02-24 19:46:15,508 - root - INFO - step:  1  loss:  8.62585  grad_norm: 26.6250  memory: 60.91GiB(34.51%)  tps: 1,050  tflops: 31.71  mfu: 1.99%
[titan] 2026-02-24 19:46:17,508 - root - INFO - step:  4  loss:  7.62585  grad_norm: 26.6250  memory: 66.91GiB(37.51%)  tps: 10,050  tflops: 314.71  mfu: 13.99%
[titan] 2026-02-24 19:46:19,145 - root - INFO - step:  5  loss:  7.07623  grad_norm: 46.5000  memory: 66.91GiB(37.51%)  tps: 10,007  tflops: 313.36  mfu: 13.93%`;
const TITAN_STARTS = `[rank0]:[titan] - root - INFO - Building 3-D device mesh with ['pp', 'dp_shard', 'tp'], [2, 4, 8]
[rank0]:[titan] - root - INFO - Model llama3 70B size: 70,553,706,496 total parameters
[rank0]:[titan] - root - INFO - Applied full activation checkpointing to the model
[rank0]:[titan] - root - INFO - Compiling each TransformerBlock with torch.compile
[rank0]:[titan] - root - INFO - Training starts at step 1, with local batch size 8, global batch size 32, sequence length 8192, total steps 100 (warmup 200)
`;

test('a log of torchtitan: the rate of a device, its memory, and the run where the log begins', () => {
  const found = read(TITAN);
  assert.equal(found.format.id, 'torchtitan-log');
  assert.deepEqual(found.measured, [
    { figure: 'training.tokens_per_s_per_device', value: (10050 + 10007) / 2, count: 2 },
    { figure: 'training.memory_bytes.total', value: 66.91 * 2 ** 30 },
  ]);
  assert.deepEqual([found.inputs, found.missing], [{}, ['model', 'devices']]);
  const whole = read(TITAN_STARTS + TITAN.replaceAll('tps', 'wps').replaceAll('INFO', '\u001B[32mINFO\u001B[39m'));
  assert.equal(whole.model.id, 'llama-3.1-70b');
  assert.deepEqual(whole.inputs, {
    'training.global_batch': '32',
    'training.sequence': '8192',
    'training.mapping.pp': '2',
    'training.mapping.shard_within': '4',
    'training.mapping.tp': '8',
    'cluster.devices': '64',
    'training.recompute': 'full',
    'training.framework': 'fsdp',
  });
  assert.equal(whole.measured[0].value, found.measured[0].value);
  assert.deepEqual(read(TITAN_STARTS.replace('70B', 'debugmodel') + TITAN).unread, ['llama3 debugmodel']);
});

test('a step without a time is left out; where nothing else was measured, there is no measurement', () => {
  const line = (time) => ` iteration 2/ 10 | elapsed time per iteration (ms): ${time} |`;
  for (const time of ['.', '1.2.3', '0']) assert.equal(read(line(time)), null, time);
  assert.deepEqual(read([line('1.2.3'), line('12.5')].join('\n')).measured, [
    { figure: 'training.step_time_s', value: 0.0125, count: 1 },
  ]);
});
