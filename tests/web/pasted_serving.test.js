// Commands of serving engines as found in their documentation, model cards and issues.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSlipstick } from '../support/module.js';
import { commandReader } from '../support/pasted.js';

const { slipstick } = await loadSlipstick();
const { assertReads, read } = commandReader(slipstick);

test('vLLM and SGLang: flags with two names, containers, DP attention inside TP', () => {
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
  // A broken JSON value is not understood.
  assert.deepEqual(read("vllm serve x --eplb-config '{'").unknown, ['--eplb-config {']);
});

test('TensorRT-LLM: its share of free memory, as a flag and in a file', () => {
  // TensorRT-LLM's README of trtllm-serve: the maximum context is no input, a share of free memory is.
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
});

test('llama.cpp: weights by the file, the context, and experts in host memory', () => {
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
  // llama.cpp's README of the server: the maximum context is no input.
  for (const flag of ['-c 32768', '--ctx-size 32768']) {
    const long = read(`llama-server -m Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf ${flag} -np 4`);
    assert.deepEqual([long.unused, long.unknown], [[flag], []]);
  }
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
});

// server_args.py of SGLang: an all-to-all backend spreads the experts over all ranks, and drafts without a number have
// SGLang's own.
test('SGLang: expert parallelism by its exchange, and drafts without a number', () => {
  const deepseek = 'python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 16';
  for (const flags of ['--moe-a2a-backend deepep --deepep-mode auto', '--enable-deepep-moe', '--ep-size 16'])
    assertReads(`${deepseek} --dp 16 --enable-dp-attention ${flags}`, {
      'model': 'deepseek-v3',
      'serving.mapping.attention_dp': '16',
      'serving.mapping.tp': '1',
      'serving.mapping.ep': '16',
    });
  // All DP-attention ranks share both limits; the scenario has those of one rank.
  assertReads(`${deepseek} --dp 16 --enable-dp-attention --max-running-requests 4096 --chunked-prefill-size 65536`, {
    'model': 'deepseek-v3',
    'serving.max_requests': '256',
    'serving.prefill_chunk': '4096',
  });
  assertReads(`${deepseek} --dp 2 --max-running-requests 4096`, {
    'model': 'deepseek-v3',
    'serving.max_requests': '4096',
    'serving.mapping.replicas': '2',
  });
  assertReads(`${deepseek} --moe-a2a-backend none --speculative-algo NEXTN`, {
    'model': 'deepseek-v3',
    'unused': ['--speculative-algorithm NEXTN'],
    'serving.mapping.ep': '1',
    'serving.speculative.draft_tokens': undefined,
  });
});

test('vLLM: drafts in dotted flags, experts that a dense model lacks, and a cache in host memory', () => {
  assertReads(
    'vllm serve meta-llama/Llama-3.1-8B-Instruct --speculative-config.method ngram --speculative-config.num_speculative_tokens 4',
    { 'model': 'llama-3.1-8b', 'serving.speculative.draft_tokens': '4' },
  );
  const empty = `--speculative-config {"method":"ngram"}`;
  assert.deepEqual(read(`vllm serve a/b ${empty.replace(/\{.*/, "'$&'")}`).unknown, [empty]);
  assertReads('vllm serve Qwen/Qwen3-32B -tp 2 --enable-expert-parallel --kv-offloading-size 64', {
    'model': 'qwen3-32b',
    'unused': ['--kv-offloading-size 64', '--enable-expert-parallel'],
    'serving.mapping.ep': '1',
  });
});

test('llama.cpp and Ollama: files in parts, repositories, and values without an input', () => {
  assertReads('llama-server -m DeepSeek-R1-UD-Q4_K_XL/DeepSeek-R1-UD-Q4_K_XL-00001-of-00009.gguf -ngl 99 -sm layer', {
    'model': 'deepseek-r1',
    'serving.precision.weights': 'q4_k_m',
  });
  // llama-server --help: a repository without a type is Q4_K_M; files of gpt-oss keep their experts in mxfp4 (unsloth's
  // F16: 13.8 GB).
  for (const [words, weights] of [
    ['-hf unsloth/gpt-oss-20b-GGUF:F16', 'mxfp4'],
    ['-hf Qwen/Qwen3-8B-GGUF', 'q4_k_m'],
    ['-m Qwen3-8B-BF16.gguf', 'bf16'],
  ]) {
    const { inputs } = read(`llama-server ${words}`);
    assert.deepEqual(
      [inputs['serving.precision.weights'], inputs['serving.precision.activations']],
      [weights, 'fp16'],
      words,
    );
  }
  for (const flag of ['-ctk q4_0', '--split-mode row', '-p 512,1024'])
    assert.deepEqual(read(`llama-bench -m Qwen3-8B-Q8_0.gguf ${flag}`).unknown, [flag]);
  // The shares of a tensor split give the number of devices, by layers or by rows.
  for (const [flags, tp, pp] of [
    ['-ts 3,1', '1', '2'],
    ['--tensor-split 1,1,1,1 -sm row', '4', '1'],
  ]) {
    const { inputs, unknown } = read(`llama-server.exe -m Qwen3-8B-Q8_0.gguf ${flags}`);
    assert.deepEqual([inputs['serving.mapping.tp'], inputs['serving.mapping.pp'], unknown], [tp, pp, []], flags);
    assert.equal(inputs['serving.devices'], `${Number(tp) * Number(pp)}`);
  }
  assertReads('llama-bench -m Qwen3-8B-Q8_0.gguf -p 0 -n 128', {
    'model': 'qwen3-8b',
    'serving.prompt': undefined,
    'serving.output': '128',
  });
  assertReads('OLLAMA_NUM_PARALLEL=4 ollama run hf.co/unsloth/Qwen3-30B-A3B-GGUF:Q8_0', {
    'model': 'qwen3-30b-a3b',
    'unused': ['OLLAMA_NUM_PARALLEL=4'],
    'serving.precision.weights': 'q8_0',
  });
});

// TensorRT-LLM, examples/serve/deepseek_r1_reasoning_parser.sh, with drafts and the degrees of another recipe.
test('TensorRT-LLM: the YAML file beside the command, by its sections', () => {
  assertReads(
    `cat >./config.yml <<EOF
cuda_graph_config:
    enable_padding: true
    max_batch_size: 512
enable_attention_dp: true # ranks of their own
kv_cache_config:
    dtype: fp8
    free_gpu_memory_fraction: 0.8
    enable_block_reuse: false
speculative_config:
    decoding_type: MTP
    num_nextn_predict_layers: 3
stream_interval: 10
moe_config:
    backend: DEEPGEMM
EOF
trtllm-serve deepseek-ai/DeepSeek-R1 --max_batch_size 1024 --max_num_tokens 8192 --tp_size 8 --ep_size 8 --pp_size 1 --config ./config.yml`,
    {
      'model': 'deepseek-r1',
      'serving.max_requests': '1024',
      'serving.prefill_chunk': '8192',
      'serving.mapping.attention_dp': '8',
      'serving.mapping.tp': '1',
      'serving.mapping.ep': '8',
      'serving.precision.kv_cache': 'fp8',
      'serving.engine.memory.share': '0.8',
      'serving.prefix_hit': '0',
      'serving.speculative.draft_tokens': '3',
    },
  );
  assertReads(
    'trtllm-bench --model deepseek-ai/DeepSeek-V3-0324 throughput --dataset data.txt --tp 8 --ep 8 --concurrency 64 --kv_cache_free_gpu_mem_fraction 0.9',
    {
      'model': 'deepseek-v3',
      'serving.devices': '8',
      'serving.mapping.ep': '8',
      'serving.concurrency': '64',
      'serving.engine.memory.share': '0.9',
    },
  );
  assertReads(
    `cuda_graph_config: null
tensor_parallel_size: 4
moe_expert_parallel_size: 2
enable_attention_dp: false
allreduce_strategy: MNNVL
trtllm-serve openai/gpt-oss-120b --tensor_parallel_size 8 --kv_cache_dtype fp8`,
    {
      'model': 'gpt-oss-120b',
      'unknown': ['--allreduce_strategy MNNVL'],
      'serving.devices': '4', // the file overrides the flags
      'serving.mapping.tp': '4',
      'serving.mapping.ep': '2',
      'serving.mapping.attention_dp': '1',
      'serving.precision.kv_cache': 'fp8',
      'serving.cuda_graphs': 'false',
    },
  );
});

test('a flag value named like an Object member sets nothing', () => {
  const inputsOf = (text) => read(text).inputs;
  for (const word of ['constructor', 'toString', '__proto__']) {
    assert.equal(
      inputsOf(`llama-server -m a.gguf -ctk ${word}`)['serving.precision.kv_cache'],
      inputsOf('llama-server -m a.gguf')['serving.precision.kv_cache'],
    );
    for (const flags of [`--quantization ${word}`, `--dtype ${word}`]) {
      assert.deepEqual(read(`vllm serve a ${flags}`).unknown, []);
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
