import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TOOLS, WRITERS, commandFor, inputsAfter, readCommand } from '../../web/commands/commands.js';
import { commandsOf } from '../../web/commands/words.js';
import { requestOf } from '../../web/state/scenario.js';
import { loadSlipstick } from '../support/module.js';

const { slipstick } = await loadSlipstick();
const described = JSON.parse(slipstick.describe());
const models = JSON.parse(slipstick.presets('model'));
const presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
const scenarioOf = (inputs) =>
  JSON.parse(slipstick.evaluate(JSON.stringify(requestOf(described.defaults, inputs, presetPaths)), ''));
// Commands from version 1's default scenario, whose mapping is TP 8, PP 4.
const commandOf = (id, inputs) =>
  commandFor(
    TOOLS.find((tool) => tool.id === id),
    scenarioOf({ ...inputs, version: '1' }),
    models,
  );

test('each engine writes its share of memory by its own flag', () => {
  const share = { 'serving.engine.memory.share': '0.83' };
  assert.match(commandOf('vllm', { 'serving.engine': 'vllm', ...share }), /--gpu-memory-utilization 0\.83/);
  assert.match(commandOf('sglang', { 'serving.engine': 'sglang', ...share }), /--mem-fraction-static 0\.83/);
});

test('words are those of a POSIX shell: quotes, continued lines, comments', () => {
  assert.deepEqual(commandsOf(`a 'b c' "d \\"e\\"" \\\n --f=g # h i\n j`), [['a', 'b c', 'd "e"', '--f=g'], ['j']]);
  assert.deepEqual(commandsOf('a\\\r\n b '), [['a', 'b']]);
  assert.deepEqual(commandsOf(`--config '{"a": 1}'`), [['--config', '{"a": 1}']]);
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
  const drafts = (command) => readCommand(command, models).inputs['serving.speculative.draft_tokens'];
  for (const command of [sglang, vllm]) assert.equal(drafts(command), '3');
  assert.equal(drafts('sglang serve --model-path a/b --speculative-num-draft-tokens 4'), '3');
  // A step keeps no more of a tree of 64 drafts than its depth.
  const tree = '--speculative-num-steps 5 --speculative-eagle-topk 8 --speculative-num-draft-tokens 64';
  assert.equal(drafts(`sglang serve --model-path a/b ${tree}`), '5');
  assert.deepEqual(readCommand(`sglang serve --model-path a/b ${tree}`, models).unused, ['--speculative-eagle-topk 8']);
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
      const { scenario } = scenarioOf({ ...inputs, version: '1' });
      const read = readCommand(commandOf(id, inputs), models);
      assert.deepEqual(read.unknown, [], id);
      const again = scenarioOf(inputsAfter({}, read));
      assert.equal(again.issues, undefined, JSON.stringify(again.issues));
      // Megatron-LM cannot tell models of the same shape apart.
      const { preset, name, context, ...shape } = scenario.model;
      for (const member of Object.keys(shape))
        assert.deepEqual(again.scenario.model[member], shape[member], `${id} ${member}`);
      for (const path of members[read.tool.part]) {
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

test('commands from the field', () => {
  const read = (text) => readCommand(text, models);
  // README of vLLM's quantized Llama checkpoints: two names for a flag, an equals sign, a flag of another kind.
  const vllm = read(
    'VLLM_USE_V1=1 vllm serve RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic -tp 4 --max-num-seqs=256 --gpu_memory_utilization 0.9 --strange',
  );
  assert.equal(vllm.model.id, 'llama-3.3-70b');
  assert.equal(vllm.inputs['serving.mapping.tp'], '4');
  assert.equal(vllm.inputs['serving.max_requests'], '256');
  assert.equal(vllm.inputs['serving.precision.weights'], 'fp8');
  assert.equal(vllm.inputs['serving.engine.memory.share'], '0.9');
  assert.deepEqual(vllm.unknown, ['--strange']);
  // vLLM's guide to Docker, with two flags that no input expresses: the maximum context, and prefix caching.
  const docker = read(
    'docker run --runtime nvidia --gpus all -p 8000:8000 --ipc=host vllm/vllm-openai:latest --model Qwen/Qwen3-0.6B --max-model-len 32768 --enable-prefix-caching --gpu-memory-utilization 0.92',
  );
  assert.deepEqual(
    [docker.tool.id, docker.model.id, docker.inputs['serving.engine.memory.share']],
    ['vllm', 'qwen3-0.6b', '0.92'],
  );
  assert.deepEqual([docker.unused, docker.unknown], [['--max-model-len 32768', '--enable-prefix-caching'], []]);
  // SGLang's documentation of DeepSeek on two nodes: DP attention inside TP 16.
  const sglang = read(
    'python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp 16 --dp 16 --enable-dp-attention --nnodes 2 --node-rank 0 --trust-remote-code',
  );
  assert.deepEqual(
    [
      sglang.model.id,
      sglang.inputs['serving.devices'],
      sglang.inputs['serving.mapping.tp'],
      sglang.inputs['serving.mapping.attention_dp'],
      sglang.inputs['serving.precision.weights'],
    ],
    ['deepseek-r1', '16', '1', '16', 'fp8'],
  );
  const llama = read('./build/bin/llama-server -m models/Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf -ngl 99 -np 4 -fa on');
  assert.deepEqual(
    [
      llama.model.id,
      llama.inputs['serving.precision.weights'],
      llama.inputs['serving.batch'],
      llama.inputs['serving.engine'],
      llama.unknown.length,
    ],
    ['llama-3.1-8b', 'q4_k_m', '4', 'llamacpp-2025', 0],
  );
  // llama.cpp's README of the server, and TensorRT-LLM's of trtllm-serve: the maximum context is no input, a share of
  // free memory is.
  for (const flag of ['-c 32768', '--ctx-size 32768']) {
    const long = read(`llama-server -m Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf ${flag} -np 4`);
    assert.deepEqual([long.unused, long.unknown], [[flag], []]);
  }
  const trt = read(
    'trtllm-serve nvidia/Llama-3.1-8B-Instruct-FP8 --max_seq_len 8192 --kv_cache_free_gpu_memory_fraction 0.8 --tp_size 2',
  );
  assert.deepEqual(
    [trt.unused, trt.unknown, trt.inputs['serving.engine.memory.share']],
    [['--max_seq_len 8192'], [], '0.8'],
  );
  const file = read(
    "cat > options.yaml <<'END'\nkv_cache_config:\n  free_gpu_memory_fraction: 0.85\nEND\ntrtllm-serve nvidia/Llama-3.1-8B-Instruct-FP8 --extra_llm_api_options options.yaml",
  );
  assert.equal(file.inputs['serving.engine.memory.share'], '0.85');
  // llama.cpp's guides to mixtures of experts on one GPU: the experts of some or all layers in host memory.
  const moe = (flags) => read(`llama-server -hf ggml-org/gpt-oss-120b-GGUF ${flags} --n-gpu-layers 999 -c 0 -fa on`);
  assert.deepEqual(
    [moe('--n-cpu-moe 26').model.id, moe('--n-cpu-moe 26').inputs['serving.host_experts.layers']],
    ['gpt-oss-120b', '26'],
  );
  for (const all of [
    '--cpu-moe',
    '-cmoe',
    '--cpu-moe --n-cpu-moe 26',
    '-ot exps=CPU',
    "-ot '.ffn_.*_exps.=CPU'",
    "-ot '\\.ffn_.*_exps\\.=CPU'",
    "-ot '.ffn_(up|down|gate)_exps.=CPU'",
    "-ot 'ffn_(gate|up|down)_exps=CPU'",
  ])
    assert.deepEqual([moe(all).inputs['serving.host_experts.layers'], moe(all).unknown], ['1024', []], all);
  for (const part of [
    'blk.1.attn_q=CPU',
    '.ffn_(up)_exps.=CPU',
    '.ffn_(up|down)_exps.=CPU',
    '.ffn_gate_exps.=CPU',
    'blk.1.ffn_.*_exps.=CPU',
    'exps=CUDA1',
  ]) {
    const { inputs, unknown } = moe(`-ot '${part}'`);
    assert.deepEqual([inputs['serving.host_experts.layers'], unknown], [undefined, [`-ot ${part}`]]);
  }
  assert.deepEqual(moe('--n-cpu-moe few').unknown, ['--n-cpu-moe few']);
  // The first three of 61 layers have no experts; in Maverick every second layer has.
  const kept = (file, count) =>
    read(`llama-server -m ${file}.gguf --n-cpu-moe ${count}`).inputs['serving.host_experts.layers'];
  assert.deepEqual(
    [0, 3, 13].map((count) => kept('DeepSeek-R1-Q4_K_M', count)),
    [undefined, undefined, '10'],
  );
  assert.deepEqual(
    [kept('Llama-4-Maverick-17B-128E-Instruct-Q4_K_M', 10), moe('--n-cpu-moe 0').inputs['serving.host_experts.layers']],
    ['5', undefined],
  );
  // Whole layers on the processor are not supported: 33 are all layers and the head of Llama-3.1-8B, 20 are not.
  const layers = (count) => read(`llama-cli -m Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf -ngl ${count}`).unknown;
  assert.deepEqual([layers(33), layers(-1), layers(20)], [[], [], ['--n-gpu-layers 20']]);
  const titan = read(
    'CONFIG_FILE="./torchtitan/models/llama3/train_configs/llama3_70b.toml" NGPU=8 ./run_train.sh --parallelism.tensor_parallel_degree=8',
  );
  assert.deepEqual(
    [titan.model.id, titan.inputs['training.mapping.tp'], titan.inputs['training.mapping.zero']],
    ['llama-3.1-70b', '8', '3'],
  );
  // A shape that matches no catalogue entry stays a shape; a broken JSON value is not understood.
  const own = read(
    'torchrun pretrain_gpt.py --num-layers 10 --hidden-size 1024 --num-attention-heads 16 --ffn-hidden-size 4096',
  );
  assert.deepEqual([own.model, own.shape['model.layers']], [undefined, '10']);
  assert.deepEqual(read("vllm serve x --eplb-config '{'").unknown, ['--eplb-config {']);
  assert.equal(read('ls -l'), null);
});

// Names as on Hugging Face and in Ollama's library.
test('a checkpoint is known by its name: the model, and the precision of its weights', () => {
  const cases = [
    ['vllm serve RedHatAI/Meta-Llama-3.1-70B-Instruct-quantized.w4a16', 'llama-3.1-70b', 'int4'],
    ['vllm serve RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w8a8', 'llama-3.1-8b', 'int8'],
    ['vllm serve Qwen/Qwen3-30B-A3B-Thinking-2507-FP8', 'qwen3-30b-a3b', 'fp8'],
    ['vllm serve moonshotai/Kimi-K2-Thinking -tp 8', 'kimi-k2-thinking', 'int4'],
    ['llama-bench -m llama-2-7b.Q4_0.gguf -p 512 -n 128', 'llama-2-7b', 'q4_0'],
    ['llama-server -m /models/DeepSeek-R1-UD-Q4_K_XL.gguf -ot exps=CPU', 'deepseek-r1', 'q4_k_m'],
    ['llama-server -hf unsloth/Qwen3-8B-GGUF:Q8_0', 'qwen3-8b', 'q8_0'],
    ['llama-server -hf ggml-org/gpt-oss-20b-GGUF', 'gpt-oss-20b', 'mxfp4'],
    ['ollama run llama3.1:70b', 'llama-3.1-70b', 'q4_k_m'],
    ['ollama run --verbose llama3.1:8b-instruct-q8_0', 'llama-3.1-8b', 'q8_0'],
    ['ollama run qwen3:30b-a3b', 'qwen3-30b-a3b', 'q4_k_m'],
    ['ollama run gpt-oss:120b', 'gpt-oss-120b', 'mxfp4'],
    ['ollama run gemma3:27b-it-qat', 'gemma-3-27b', 'q4_0'],
    ['ollama run deepseek-r1:671b', 'deepseek-r1', 'q4_k_m'],
    ['mlx_lm.generate --model mlx-community/Llama-3.3-70B-Instruct-4bit --prompt hi -m 300', 'llama-3.3-70b', 'q4_0'],
    ['python -m mlx_lm.server --model mlx-community/Qwen3-8B-8bit', 'qwen3-8b', 'q8_0'],
  ];
  for (const [command, model, weights] of cases) {
    const read = readCommand(command, models);
    assert.equal(read.model?.id, model, command);
    assert.equal(read.inputs['serving.precision.weights'], weights, command);
    assert.deepEqual(read.unknown, [], command);
    // The scenario is valid on eight devices of its own kind.
    const inputs = { version: '3', cluster: 'dgx-h200', ...inputsAfter({}, read) };
    assert.equal(scenarioOf(inputs).issues, undefined, command);
  }
  const bench = readCommand('llama-bench -m llama-2-7b.Q4_0.gguf -p 512 -n 128', models).inputs;
  assert.deepEqual([bench['serving.prompt'], bench['serving.output']], ['512', '128']);
  assert.deepEqual(readCommand('llama-server -m Qwen3-8B-Q6_K.gguf', models).unknown, ['weights in Q6_K']);
  // Ollama's deepseek-r1 with 70 billion is another model, and a name alone states no size.
  for (const other of ['deepseek-r1:70b', 'deepseek-r1', 'llama3.2'])
    assert.equal(readCommand(`ollama run ${other}`, models).model, undefined, other);
});

test('a flag value named like an Object member sets nothing', () => {
  const inputsOf = (text) => readCommand(text, models).inputs;
  for (const word of ['constructor', 'toString', '__proto__']) {
    assert.equal(
      inputsOf(`llama-server -m a.gguf -ctk ${word}`)['serving.precision.kv_cache'],
      inputsOf('llama-server -m a.gguf')['serving.precision.kv_cache'],
    );
    for (const flags of [`--quantization ${word}`, `--dtype ${word}`]) {
      assert.deepEqual(readCommand(`vllm serve a ${flags}`, models).unknown, []);
      assert.deepEqual(
        inputsOf(`python -m sglang.launch_server --model-path a ${flags}`),
        inputsOf('python -m sglang.launch_server --model-path a'),
      );
    }
    assert.equal(inputsOf(`torchrun pretrain_gpt.py --cp-comm-type ${word}`)['training.mapping.cp_kind'], 'ring');
    assert.equal(
      inputsOf(`torchrun pretrain_gpt.py --fp8-format hybrid --fp8-recipe ${word}`)['training.precision'],
      'fp8',
    );
  }
});
