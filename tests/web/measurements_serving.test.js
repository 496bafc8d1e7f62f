// Results of serving benchmarks as people paste them, in the programs' own formats: from public issues and pull requests.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputsWith } from '../../web/measurements/read.js';
import { loadSlipstick } from '../support/module.js';
import { measurementReader } from '../support/pasted.js';

const { slipstick } = await loadSlipstick();
const read = measurementReader(slipstick);
const scenario = { model: { preset: 'llama-3.1-70b' }, cluster: { preset: 'dgx-h100' } };

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
