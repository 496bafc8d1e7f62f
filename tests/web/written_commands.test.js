// Commands that the page writes, and what it reads back from them.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TOOLS, WRITERS, commandFor, inputsAfter } from '../../web/commands/commands.js';
import { loadSlipstick } from '../support/module.js';
import { commandReader } from '../support/pasted.js';

const { slipstick } = await loadSlipstick();
const { models, read, reportOf } = commandReader(slipstick);
// Commands from version 1's default scenario, whose mapping is TP 8, PP 4.
const commandOf = (id, inputs) =>
  commandFor(
    TOOLS.find((tool) => tool.id === id),
    reportOf({ ...inputs, version: '1' }),
    models,
  );

test('each engine writes its share of memory by its own flag', () => {
  const share = { 'serving.engine.memory.share': '0.83' };
  assert.match(commandOf('vllm', { 'serving.engine': 'vllm', ...share }), /--gpu-memory-utilization 0\.83/);
  assert.match(commandOf('sglang', { 'serving.engine': 'sglang', ...share }), /--mem-fraction-static 0\.83/);
});

test('every flag of a tool stands once', () => {
  for (const tool of WRITERS)
    for (const inputs of [
      {},
      {
        'model': 'deepseek-v3',
        'training.mapping.ep': '8',
        'serving.mapping.tp': '1',
        'serving.mapping.attention_dp': '16',
        'serving.mapping.ep': '16',
        'serving.devices': '16',
      },
    ]) {
      const flags = commandOf(tool.id, inputs).match(/(?<= )--[\w.-]+/g);
      assert.equal(new Set(flags).size, flags.length, tool.id);
      assert.doesNotMatch(commandOf(tool.id, inputs), /undefined|null|NaN|\[object/);
    }
});

// Megatron-LM's argument names (megatron/training/arguments.py); a Llama recipe has no biases, DeepSeek-V3 has latent
// attention.
test('Megatron-LM: shape, degrees, batch, and settings without a flag', () => {
  const llama = commandOf('megatron', {});
  for (const flag of [
    '--num-layers 80',
    '--hidden-size 8192',
    '--num-query-groups 8',
    '--disable-bias-linear',
    '--swiglu',
    '--tensor-model-parallel-size 8',
    '--pipeline-model-parallel-size 4',
    '--num-layers-per-virtual-pipeline-stage 4',
    '--global-batch-size 512',
    '--use-distributed-optimizer',
    '--nproc-per-node 8',
    '--nnodes 64',
  ])
    assert.ok(llama.includes(flag), flag);
  const deepseek = commandOf('megatron', { 'model': 'deepseek-v3', 'training.mapping.ep': '8' });
  for (const flag of [
    '--multi-latent-attention',
    '--q-lora-rank 1536',
    '--kv-lora-rank 512',
    '--qk-head-dim 128',
    '--qk-pos-emb-head-dim 64',
    '--v-head-dim 128',
    "--moe-layer-freq '([0]*3+[1]*58)'",
    '--moe-shared-expert-intermediate-size 2048',
    '--num-experts 256',
    '--mtp-num-layers 1',
  ])
    assert.ok(deepseek.includes(flag), flag);
  assert.doesNotMatch(deepseek, /--kv-channels|--num-query-groups/);
  assert.match(
    commandOf('megatron', {
      'training.mapping.schedule': 'zb-v',
      'training.mapping.virtual_stages': '2',
      'training.mapping.zero': '2',
    }),
    /# not in Megatron-LM: schedule zb-v[^]*# not written: ZeRO stage 2/,
  );
});

// Megatron-LM supports full and selective recomputation; torchtitan none, selective and full.
test('recomputation that the core chooses per stage is written in the tool’s terms, with a comment', () => {
  const auto = { 'training.recompute': 'auto', 'model': 'llama-3.1-405b' };
  assert.match(
    commandOf('megatron', auto),
    /# recomputation here is the least that fits[^]*--recompute-granularity selective/,
  );
  assert.match(
    commandOf('torchtitan', auto),
    /# recomputation here is the least that fits[^]*--activation_checkpoint\.mode selective/,
  );
  for (const tool of ['megatron', 'torchtitan']) assert.doesNotMatch(commandOf(tool, auto), /(granularity|mode) auto/);
});

test('engines: repositories of Hugging Face, degrees, precisions, and settings without a flag', () => {
  const vllm = commandOf('vllm', {
    'serving.precision.kv_cache': 'fp8',
    'serving.mapping.replicas': '2',
    'serving.devices': '16',
  });
  for (const words of [
    'vllm serve meta-llama/Llama-3.1-70B',
    '--tensor-parallel-size 8',
    '--quantization fp8',
    '--kv-cache-dtype fp8',
    '--max-model-len 2304',
    '# 2 of these behind a router',
  ])
    assert.ok(vllm.includes(words), words);
  assert.match(
    commandOf('vllm', { 'serving.precision.weights': 'int8', 'serving.precision.activations': 'int8' }),
    /# not a flag: weights in int8/,
  );
  // NVIDIA's checkpoints in nvfp4 set an fp8 cache; a wider one needs a flag.
  const fourBit = { 'cluster': 'dgx-b200', 'serving.precision.weights': 'nvfp4', 'serving.precision.kv_cache': 'bf16' };
  for (const tool of ['vllm', 'sglang']) assert.match(commandOf(tool, fourBit), /--kv-cache-dtype bfloat16/);
  assert.doesNotMatch(commandOf('vllm', {}), /--kv-cache-dtype/);
  const wide = {
    'model': 'deepseek-v3',
    'serving.mapping.tp': '1',
    'serving.mapping.attention_dp': '16',
    'serving.mapping.ep': '16',
    'serving.devices': '16',
  };
  assert.match(commandOf('vllm', wide), /--data-parallel-size 16[^]*--enable-expert-parallel/);
  // SGLang's limits count all ranks of DP attention together, vLLM's one rank.
  const limited = { ...wide, 'serving.max_requests': '64', 'serving.prefill_chunk': '4096' };
  assert.match(commandOf('sglang', limited), /--max-running-requests 1024[^]*--chunked-prefill-size 65536/);
  assert.match(commandOf('vllm', limited), /--max-num-seqs 64[^]*--max-num-batched-tokens 4096/);
  // Without a flag vLLM runs 256 sequences at once, or 1,024 on a device with at least 70 GiB that is not an A100.
  const many = (device, running) =>
    commandOf('vllm', {
      'model': 'llama-3.1-8b',
      'cluster.device': device,
      'serving.engine': 'vllm',
      'serving.tuning': 'tuned',
      'serving.devices': '1',
      'serving.mapping.tp': '1',
      'serving.prompt': '128',
      'serving.output': '64',
      ...running,
    });
  assert.match(many('a100-sxm4-80gb', { 'serving.concurrency': '300' }), /--max-num-seqs 300$/);
  assert.match(many('h200-sxm', { 'serving.concurrency': '1100' }), /--max-num-seqs 1100$/);
  assert.match(many('h200-sxm', { 'serving.batch': '1100' }), /--max-num-seqs 1100$/);
  assert.doesNotMatch(many('a100-sxm4-80gb', { 'serving.concurrency': '256' }), /--max-num-seqs/);
  assert.doesNotMatch(many('h200-sxm', { 'serving.concurrency': '1000' }), /--max-num-seqs/);
  assert.doesNotMatch(
    many('a100-sxm4-80gb', { 'serving.concurrency': '300', 'serving.tuning': 'stock' }),
    /--max-num-seqs/,
  );
  assert.match(many('h200-sxm', { 'serving.concurrency': '1100', 'serving.max_requests': '64' }), /--max-num-seqs 64$/);
  // SGLang and TensorRT-LLM count the DP-attention ranks among the tensor-parallel ones.
  assert.match(commandOf('sglang', wide), /--tp-size 16[^]*--dp-size 16[^]*--enable-dp-attention[^]*--ep-size 16/);
  assert.match(
    commandOf('trtllm', wide),
    /enable_attention_dp: true[^]*trtllm-serve deepseek-ai\/DeepSeek-V3[^]*--tp_size 16[^]*--ep_size 16/,
  );
  assert.match(
    commandOf('llamacpp', { 'serving.precision.weights': 'q4_k_m', 'serving.batch': '4' }),
    /--model Llama-3\.1-70B-Q4_K_M\.gguf[^]*--ctx-size 9216[^]*--parallel 4/,
  );
  const host = {
    'model': 'gpt-oss-120b',
    'serving.engine': 'llamacpp-2025',
    'serving.mapping.tp': '1',
    'serving.devices': '1',
    'serving.host_experts.layers': '1024',
  };
  assert.match(commandOf('llamacpp', host), /--n-cpu-moe 36/);
  // DeepSeek-R1's first three layers are dense, and every second one of Llama 4 Maverick.
  for (const [model, layers, flag] of [
    ['deepseek-r1', 10, 13],
    ['deepseek-r1', 1024, 61],
    ['llama-4-maverick', 5, 10],
  ])
    assert.match(
      commandOf('llamacpp', { ...host, model, 'serving.host_experts.layers': String(layers) }),
      new RegExp(`--n-cpu-moe ${flag}\\b`),
    );
});

// SGLang counts the last kept token among those that a step verifies; with one branch it asserts that they are one more
// than its draft steps. vLLM counts only drafts.
test('drafts: each engine counts them its own way', () => {
  const inputs = { 'model': 'deepseek-v3', 'serving.mapping.tp': '8', 'serving.speculative.draft_tokens': '3' };
  const sglang = commandOf('sglang', inputs);
  assert.match(sglang, /--speculative-num-draft-tokens 4[^]*--speculative-num-steps 3[^]*--speculative-eagle-topk 1/);
  const vllm = commandOf('vllm', inputs);
  assert.match(vllm, /"num_speculative_tokens":3/);
  const drafts = (command) => read(command).inputs['serving.speculative.draft_tokens'];
  for (const command of [sglang, vllm]) assert.equal(drafts(command), '3');
  assert.equal(drafts('sglang serve --model-path a/b --speculative-num-draft-tokens 4'), '3');
  // A step keeps no more of a tree of 64 drafts than its depth.
  const tree = '--speculative-num-steps 5 --speculative-eagle-topk 8 --speculative-num-draft-tokens 64';
  assert.equal(drafts(`sglang serve --model-path a/b ${tree}`), '5');
  assert.deepEqual(read(`sglang serve --model-path a/b ${tree}`).unused, ['--speculative-eagle-topk 8']);
  assert.doesNotMatch(commandOf('sglang', { model: 'deepseek-v3' }), /speculative/);
});

test('a written command reads back: the same mapping, batch, precisions and model', () => {
  const members = {
    training: [
      'training.sequence',
      'training.global_batch',
      'training.mapping',
      'training.recompute',
      'training.precision',
      'training.devices',
    ],
    serving: ['serving.devices', 'serving.mapping', 'serving.precision', 'serving.prompt'],
  };
  const at = (scenario, path) => path.split('.').reduce((one, member) => one[member], scenario);
  const cases = {
    megatron: [
      {},
      { 'training.recompute': 'full', 'training.mapping.cp': '2' },
      { 'model': 'deepseek-v3', 'training.mapping.ep': '8', 'cluster.devices': '1024' },
      {
        'model': 'llama-3.1-405b',
        'cluster.devices': '16384',
        'training.mapping.pp': '16',
        'training.mapping.virtual_stages': '1',
        'training.global_batch': '2048',
      },
    ],
    vllm: [
      {},
      {
        'model': 'deepseek-v3',
        'serving.mapping.tp': '1',
        'serving.mapping.attention_dp': '16',
        'serving.mapping.ep': '16',
        'serving.devices': '16',
      },
    ],
    sglang: [
      {},
      {
        'model': 'deepseek-r1',
        'serving.mapping.tp': '2',
        'serving.mapping.attention_dp': '8',
        'serving.mapping.ep': '16',
        'serving.devices': '16',
      },
    ],
    trtllm: [{ 'serving.precision.weights': 'bf16', 'serving.precision.activations': 'bf16' }],
  };
  for (const [id, list] of Object.entries(cases))
    for (const inputs of list) {
      const { scenario } = reportOf({ ...inputs, version: '1' });
      const found = read(commandOf(id, inputs));
      assert.deepEqual(found.unknown, [], id);
      const again = reportOf(inputsAfter({}, found));
      assert.equal(again.issues, undefined, JSON.stringify(again.issues));
      // Megatron-LM cannot tell models of the same shape apart.
      const { preset, name, context, ...shape } = scenario.model;
      for (const member of Object.keys(shape))
        assert.deepEqual(again.scenario.model[member], shape[member], `${id} ${member}`);
      for (const path of members[found.tool.part]) {
        const [mine, theirs] = [at(scenario, path), at(again.scenario, path)];
        // Overlap of communication is written as a flag where the framework does it by default.
        assert.deepEqual(
          { ...theirs, overlap: null, auto: null, sequence: theirs },
          { ...mine, overlap: null, auto: null, sequence: theirs },
          `${id} ${path}`,
        );
      }
    }
});
