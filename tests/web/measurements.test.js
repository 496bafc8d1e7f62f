// Measurements as people paste them, in the programs' own formats: from public issues and pull requests, and with
// nccl-tests' columns.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputsWith, readMeasurement } from '../../web/measurements/read.js';
import { loadSlipstick } from '../support/module.js';

const { slipstick } = await loadSlipstick();
const catalogue = {
  models: JSON.parse(slipstick.presets('model')),
  clusters: JSON.parse(slipstick.presets('cluster')),
};
const read = (text) => readMeasurement(text, catalogue);
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

// github.com/vllm-project/vllm/pull/18566
const VLLM = `vllm bench serve --model meta-llama/Llama-3.1-8B-Instruct --endpoint-type openai-chat --dataset-name hf
============ Serving Benchmark Result ============
Successful requests:                     1000      
Benchmark duration (s):                  30.85     
Total input tokens:                      229711    
Total generated tokens:                  203068    
Request throughput (req/s):              32.42     
Output token throughput (tok/s):         6582.87   
Total Token throughput (tok/s):          14029.44  
---------------Time to First Token----------------
Mean TTFT (ms):                          9626.13   
Median TTFT (ms):                        9459.70   
P99 TTFT (ms):                           12666.73  
-----Time per Output Token (excl. 1st token)------
Mean TPOT (ms):                          77.86     
Median TPOT (ms):                        48.84     
P99 TPOT (ms):                           211.21    
---------------Inter-token Latency----------------
Mean ITL (ms):                           38.13     
Median ITL (ms):                         25.44     
P99 ITL (ms):                            214.35    
==================================================`;

test('the table of vllm bench serve: means, lengths by request, all requests at once', () => {
  const found = read(VLLM);
  assert.equal(found.model.id, 'llama-3.1-8b');
  assert.deepEqual(found.measured, [
    { figure: 'serving.tpot_s', value: 0.07786 },
    { figure: 'serving.ttft_s', value: 9.62613 },
    { figure: 'serving.tokens_per_s', value: 6582.87 },
  ]);
  assert.equal(found.inputs['serving.prompt'], '230');
  assert.equal(found.inputs['serving.output'], '203');
  assert.equal(found.inputs['serving.concurrency'], '1000');
  assert.equal(found.inputs['serving.waves'], '1');
  assert.deepEqual(found.unread, []);
  assert.deepEqual(found.missing, ['engine', 'precision', 'devices']);
  // The command before it, or the arguments that it prints, name the engine.
  for (const started of ['--endpoint-type openai-chat', "Namespace(backend='openai-chat')"])
    assert.equal(read(VLLM.replace('--endpoint-type openai-chat', started)).inputs['serving.engine'], undefined);
  for (const started of ['--backend vllm', "Namespace(backend='vllm')"])
    assert.equal(read(VLLM.replace('--endpoint-type openai-chat', started)).inputs['serving.engine'], 'vllm');
  const after = inputsWith(
    { 'serving.batch': '64', 'serving.requests_per_s': '3', 'cluster': 'dgx-h200' },
    found,
    scenario,
  );
  assert.deepEqual(
    [after.model, after['serving.batch'], after['serving.requests_per_s'], after.cluster],
    ['llama-3.1-8b', undefined, undefined, 'dgx-h200'],
  );
});

test('the JSON of vllm bench serve, with its concurrency and rounds', () => {
  const found = read(
    JSON.stringify({
      date: '20260301-120000',
      backend: 'vllm',
      model_id: 'RedHatAI/Meta-Llama-3.1-70B-Instruct-FP8',
      tokenizer_id: 'x',
      num_prompts: 640,
      tensor_parallel_size: '8',
      request_rate: 'inf',
      burstiness: 1.0,
      max_concurrency: 64,
      duration: 100.5,
      completed: 640,
      total_input_tokens: 655360,
      total_output_tokens: 655360,
      request_throughput: 6.37,
      output_throughput: 6521,
      mean_ttft_ms: 180.5,
      median_ttft_ms: 170.1,
      mean_tpot_ms: 9.61,
      mean_itl_ms: 9.6,
    }),
  );
  assert.deepEqual(found.inputs, {
    'serving.prompt': '1024',
    'serving.output': '1024',
    'serving.concurrency': '64',
    'serving.waves': '10',
    'serving.engine': 'vllm',
    'serving.mapping.tp': '8',
    'serving.devices': '8',
    'serving.precision.weights': 'fp8',
    'serving.precision.activations': 'fp8',
  });
  assert.equal(found.model.id, 'llama-3.1-70b');
  assert.deepEqual(found.missing, []);
  assert.equal(found.measured[0].value, 9.61 / 1000);
});

// github.com/sgl-project/sglang/issues/2805, whose version prints inter-token latency in place of TPOT.
test('the table of sglang.bench_serving, its spelling of the concurrency too', () => {
  const found = read(`============ Serving Benchmark Result ============
Backend:                                 sglang    
Traffic request rate:                    inf       
Max reqeuest concurrency:                not set   
Successful requests:                     1648      
Benchmark duration (s):                  170.41    
Total input tokens:                      369103    
Total generated tokens:                  326408    
Total generated tokens (retokenized):    326356    
Request throughput (req/s):              9.67      
Input token throughput (tok/s):          2165.94   
Output token throughput (tok/s):         1915.40   
Total token throughput (tok/s):          4081.34   
----------------End-to-End Latency----------------
Mean E2E Latency (ms):                   80126.93  
---------------Time to First Token----------------
Mean TTFT (ms):                          44294.80  
-----Inter-token Latency------
Mean ITL (ms):                           181.2
A row of tomorrow:                       3`);
  assert.equal(found.inputs['serving.engine'], 'sglang');
  assert.equal(found.inputs['serving.concurrency'], '1648');
  assert.equal(found.inputs['serving.prompt'], '224');
  assert.equal(found.measured[0].value, 0.1812);
  assert.deepEqual(found.unread, ['A row of tomorrow:                       3']);
  assert.deepEqual(found.missing, ['model', 'precision', 'devices']);
});

test('a line of JSON of sglang.bench_serving among others', () => {
  const found = read(
    `INFO starting\n${JSON.stringify({ backend: 'sglang', dataset_name: 'random', request_rate: 4.0, max_concurrency: null, random_input_len: 1024, completed: 100, total_input_tokens: 102400, total_output_tokens: 25600, output_throughput: 900, mean_ttft_ms: 90, mean_tpot_ms: 12 })}\n`,
  );
  assert.deepEqual(found.inputs, {
    'serving.prompt': '1024',
    'serving.output': '256',
    'serving.requests_per_s': '4',
    'serving.engine': 'sglang',
  });
});

const NCCL = (
  head,
  rows,
) => `# nThread 1 nGpus 8 minBytes 1048576 maxBytes 1073741824 step: 32(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
${Array.from({ length: 8 }, (_, i) => `#  Rank  ${i} Group  0 Pid  18416 on    node-1 device  ${i} [0x${i}7] NVIDIA H200`).join('\n')}
#
#                                                              out-of-place                       in-place          
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       
${rows}
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 300.1`;

test('a table of nccl-tests: which collective by its bandwidths, ranks and device by its head', () => {
  const found = read(
    NCCL(
      '',
      `     1048576        262144     float     sum      -1    40.20   26.08   45.65      0    39.50   26.55   46.46      0
    33554432       8388608     float     sum      -1   180.00  186.41  326.23      0   179.10  187.35  327.86      0
  1073741824     268435456     float     sum      -1  3950.00  271.83  475.71      0   3949.0  271.90  475.83      0`,
    ),
  );
  assert.equal(found.format.id, 'nccl-tests');
  assert.equal(found.cluster.id, 'dgx-h200');
  assert.deepEqual(
    found.measured.map(({ collective, value }) => [collective.kind, collective.bytes, collective.ranks, value]),
    [
      ['all_reduce', 1073741824, 8, 0.00395], // the largest and the smallest first
      ['all_reduce', 1048576, 8, 0.0000402],
      ['all_reduce', 33554432, 8, 0.00018],
    ],
  );
  assert.deepEqual(found.unread, []);
  const gathers = read(
    NCCL(
      '',
      '  1073741824     16777216     float    none      -1  2100.00  511.31  447.39      0  2100.00  511.31  447.39      0',
    ),
  );
  assert.equal(gathers.measured[0].collective.kind, 'all_gather');
  const scatters = read(
    NCCL(
      '',
      '  1073741824     16777216     float     sum      -1  2100.00  511.31  447.39      0  2100.00  511.31  447.39      0',
    ),
  );
  assert.equal(scatters.measured[0].collective.kind, 'reduce_scatter');
});

test('other texts are not measurements', () => {
  for (const text of [
    '',
    'hello',
    '{"a": 1}',
    '{',
    'vllm serve meta-llama/Llama-3.1-8B',
    'iteration 3',
    '============ Serving Benchmark Result ============',
  ])
    assert.equal(read(text), null, text);
});

test('a step without a time and a size of nothing are left out; where nothing else was measured, there is no measurement', () => {
  const line = (time) => ` iteration 2/ 10 | elapsed time per iteration (ms): ${time} |`;
  for (const time of ['.', '1.2.3', '0']) assert.equal(read(line(time)), null, time);
  assert.deepEqual(read([line('1.2.3'), line('12.5')].join('\n')).measured, [
    { figure: 'training.step_time_s', value: 0.0125, count: 1 },
  ]);
  const row =
    '  1048576        262144     float     sum      -1    40.20   26.08   45.65      0    39.50   26.55   46.46      0';
  assert.equal(read(NCCL('', row.replace('1048576', '0'))), null);
  assert.equal(read(NCCL('', row.replace('40.20', '1e999'))), null);
  assert.equal(read(NCCL('', `${row}\n${row.replace('40.20', '1e999')}`)).measured.length, 1);
});

test('JSON with unexpected members is read as far as possible', () => {
  const result = { completed: 100, total_input_tokens: 51200, mean_tpot_ms: 12 };
  assert.deepEqual(
    read(JSON.stringify({ ...result, model_id: 7, backend: null, unread: 'a', max_concurrency: 0, request_rate: -1 }))
      .inputs,
    { 'serving.prompt': '512', 'serving.concurrency': '100', 'serving.waves': '1' },
  );
  assert.deepEqual(read(JSON.stringify({ ...result, unread: 'ab' })).unread, []);
  assert.deepEqual(read(JSON.stringify({ completed: null, mean_tpot_ms: 12, max_concurrency: 64 })).inputs, {
    'serving.concurrency': '64',
  });
});

test('a table row named like an Object member is not understood', () => {
  const table = (row) => `============ Serving Benchmark Result ============\nMean TPOT (ms): 12\n${row}`;
  for (const row of ['constructor: 5', 'toString: 5']) assert.deepEqual(read(table(row)).unread, [row]);
});

// github.com/ggml-org/llama.cpp/pull/4766: RTX 4090; pull/15616: M2 Ultra, without a column of parameters.
const LLAMA_BENCH = `  Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes
| model                          |       size |     params | backend    | ngl | test       |              t/s |
| ------------------------------ | ---------: | ---------: | ---------- | --: | ---------- | ---------------: |
| llama 7B F16                   |  12.55 GiB |     6.74 B | CUDA       |  99 | pp 512     | 11048.22 ± 269.74 |
| llama 7B F16                   |  12.55 GiB |     6.74 B | CUDA       |  99 | tg 128     |     61.03 ± 0.07 |
| llama 7B Q8_0                  |   6.67 GiB |     6.74 B | CUDA       |  99 | tg 128     |     98.13 ± 0.07 |`;
const ON_METAL = `| model                          |       size | backend    | n_ubatch | fa |            test |                  t/s |
| ------------------------------ | ---------: | ---------- | -------: | -: | --------------: | -------------------: |
| qwen3moe 30B.A3B Q8_0          |  30.25 GiB | Metal      |     2048 |  1 |           pp512 |      2045.19 ± 10.70 |
| qwen3moe 30B.A3B Q8_0          |  30.25 GiB | Metal      |     2048 |  1 |          pp2048 |       2272.56 ± 3.49 |
| qwen3moe 30B.A3B Q8_0          |  30.25 GiB | Metal      |     2048 |  1 |           tg128 |         76.31 ± 0.06 |`;

test('llama-bench: the first model, its prompt and its tokens', () => {
  const found = read(LLAMA_BENCH);
  assert.equal(found.format.id, 'llama-bench');
  assert.equal(found.model.layers, 32);
  assert.deepEqual(found.measured, [
    { figure: 'serving.tpot_s', value: 1 / 61.03 },
    { figure: 'serving.prefill_s', value: 512 / 11048.22 },
  ]);
  assert.deepEqual(found.inputs, {
    'serving.engine': 'llamacpp-2025',
    'serving.batch': '1',
    'serving.prompt': '512',
    'serving.output': '128',
    'serving.precision.weights': 'fp16',
    'serving.precision.activations': 'fp16',
  });
  assert.deepEqual(found.unread, []);
  const metal = read(ON_METAL);
  assert.equal(metal.model.id, 'qwen3-30b-a3b');
  assert.equal(metal.inputs['serving.precision.weights'], 'q8_0');
  assert.equal(metal.measured[0].value, 1 / 76.31);
  assert.equal(metal.inputs['serving.prefill_chunk'], '2048');
  // Columns for settings that were not the default: an 8-bit KV cache, experts of 60 layers on the processor, and no
  // device.
  const columns = (names, values) =>
    read(`| model | size | params | backend | ngl | ${names} | test | t/s |
| --- | ---: | ---: | --- | --: | --: | ---: | ---: |
| qwen3moe 235B.A22B Q4_K - Medium | 132.39 GiB | 235.09 B | ${values[0]} | 99 | ${values[1]} | tg128 | 12.12 ± 0.20 |`);
  assert.equal(columns('type_k', ['CUDA', 'q8_0']).inputs['serving.precision.kv_cache'], 'q8_0');
  assert.deepEqual(columns('type_k', ['CUDA', 'q4_0']).unread, ['type_k q4_0']);
  assert.equal(columns('n_cpu_moe', ['CUDA', '60']).inputs['serving.host_experts.layers'], '60');
  assert.deepEqual(columns('sm', ['CUDA', 'row']).unread, ['sm row']);
  assert.deepEqual(columns('threads', ['CPU', '16']).unread, ['backend CPU']);
  // At a depth the token sees the context, but a prompt behind one has no figure here. Layers on the host are not
  // supported.
  const deep = read(
    LLAMA_BENCH.replace('tg 128 ', 'tg128 @ d4096').replace('pp 512 ', 'pp512 @ d4096').replaceAll('99', '10'),
  );
  assert.equal(deep.inputs['serving.prompt'], '4096');
  assert.deepEqual(
    deep.measured.map(({ figure }) => figure),
    ['serving.tpot_s'],
  );
  assert.deepEqual(deep.unread, ['ngl 10']);
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

// github.com/NVIDIA/TensorRT-LLM/pull/7104.
const TRTLLM = `===========================================================
= PYTORCH BACKEND
===========================================================
Model:   deepseek-ai/DeepSeek-R1
Model Path:  /lustre/fsw/coreai_devtech_all/dastokes/DeepSeek-R1-0528-FP4
TensorRT-LLM Version: 1.1.0rc1
Dtype:   bfloat16
KV Cache Dtype:  FP8
Quantization:  NVFP4

= REQUEST DETAILS
Number of requests:             6144
Number of concurrent requests:  1018.8281
Average Input Length (tokens):  1024.0000
Average Output Length (tokens): 1024.0000
= WORLD + RUNTIME INFORMATION
TP Size:                4
PP Size:                1
EP Size:                4
Max Runtime Batch Size: 1024
Max Runtime Tokens:     2176
Scheduling Policy:      GUARANTEED_NO_EVICT
KV Memory Percentage:   70.00%
Issue Rate (req/sec):   1.1684E+17
= PERFORMANCE OVERVIEW
Request Throughput (req/sec):                     7.3411
Total Output Throughput (tokens/sec):             7517.2584`;

test('the report of trtllm-bench', () => {
  const found = read(TRTLLM);
  assert.equal(found.format.id, 'trtllm-bench');
  assert.equal(found.model.id, 'deepseek-r1');
  assert.deepEqual(found.measured, [{ figure: 'serving.tokens_per_s', value: 7517.2584 }]);
  assert.deepEqual(found.inputs, {
    'serving.engine': 'trtllm',
    'serving.prompt': '1024',
    'serving.output': '1024',
    'serving.concurrency': '1019',
    'serving.max_requests': '1024',
    'serving.prefill_chunk': '2176',
    'serving.mapping.tp': '4',
    'serving.devices': '4',
    'serving.mapping.pp': '1',
    'serving.mapping.ep': '4',
    'serving.precision.kv_cache': 'fp8',
    'serving.precision.weights': 'nvfp4',
    'serving.precision.activations': 'nvfp4',
  });
  assert.deepEqual([found.unread, found.missing], [[], []]);
  const other = read(TRTLLM.replace('NVFP4', 'W4A8_AWQ').replace('EP Size:                4', 'EP Size: None'));
  assert.deepEqual([other.unread, other.inputs['serving.mapping.ep']], [['Quantization: W4A8_AWQ'], '1']);
});

// github.com/ovg-project/kvcached/issues/136: a rate with its unit, and a limit that a hundred requests keep.
test('a rate of requests and a limit of their number: whichever bounds the load', () => {
  const started = (rate, most) => read(`Traffic request rate: ${rate}\nMaximum request concurrency: ${most}\n${VLLM}`);
  const load = ({ inputs }) => [inputs['serving.requests_per_s'], inputs['serving.concurrency']];
  assert.deepEqual(load(started('15.0 RPS.', 1000)), ['15', undefined]);
  assert.deepEqual(load(started('15.0 RPS.', 'None')), ['15', undefined]);
  assert.deepEqual(load(started('inf RPS.', 64)), [undefined, '64']);
  const both = started('15.0', 64);
  assert.deepEqual([load(both), both.unread], [[undefined, '64'], ['request rate 15']]);
});
