// Checkpoints as commands name them: the model, and the precision of its weights, activations and KV cache.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputsAfter } from '../../web/commands/commands.js';
import { loadSlipstick } from '../support/module.js';
import { commandReader } from '../support/pasted.js';

const { slipstick } = await loadSlipstick();
const { assertReads, read, reportOf } = commandReader(slipstick);

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
    const found = read(command);
    assert.equal(found.model?.id, model, command);
    assert.equal(found.inputs['serving.precision.weights'], weights, command);
    assert.deepEqual(found.unknown, [], command);
    // The scenario is valid on eight devices of its own kind.
    const inputs = { version: '3', cluster: 'dgx-h200', ...inputsAfter({}, found) };
    assert.equal(reportOf(inputs).issues, undefined, command);
  }
  const bench = read('llama-bench -m llama-2-7b.Q4_0.gguf -p 512 -n 128').inputs;
  assert.deepEqual([bench['serving.prompt'], bench['serving.output']], ['512', '128']);
  assert.deepEqual(read('llama-server -m Qwen3-8B-Q6_K.gguf').unknown, ['weights in Q6_K']);
  // Ollama's deepseek-r1 with 70 billion is another model, and a name alone states no size.
  for (const other of ['deepseek-r1:70b', 'deepseek-r1', 'llama3.2'])
    assert.equal(read(`ollama run ${other}`).model, undefined, other);
});

// The names of checkpoints on Hugging Face, and the flags on their model cards.
test('the precision of a served checkpoint: its name, then the flags, and the type of its activations', () => {
  const cases = [
    ['TheBloke/Llama-2-70B-AWQ --quantization awq --dtype half', 'llama-2-70b', 'int4', 'fp16'],
    ['RedHatAI/Meta-Llama-3.1-70B-Instruct-FP8 --dtype bfloat16', 'llama-3.1-70b', 'fp8', 'fp8'],
    ['nvidia/Llama-3.3-70B-Instruct-FP4 --quantization modelopt', 'llama-3.3-70b', 'nvfp4', 'nvfp4'],
    ['nvidia/DeepSeek-R1-0528-FP4-v2', 'deepseek-r1', 'nvfp4', 'nvfp4'],
    ['amd/DeepSeek-R1-0528-MXFP4', 'deepseek-r1', 'mxfp4', 'mxfp4'],
    ['RedHatAI/Qwen3-32B-NVFP4A16', 'qwen3-32b', 'nvfp4', 'bf16'],
    ['Qwen/Qwen2.5-72B-Instruct-GPTQ-Int8 --quantization gptq', 'qwen2.5-72b', 'int8', 'bf16'],
    ['unsloth/DeepSeek-R1-BF16', 'deepseek-r1', 'bf16', 'bf16'],
    ['deepseek-ai/DeepSeek-R1 --dtype bfloat16', 'deepseek-r1', 'fp8', 'fp8'],
    ['moonshotai/Kimi-K2-Thinking', 'kimi-k2-thinking', 'int4', 'bf16'],
    ['openai/gpt-oss-20b', 'gpt-oss-20b', 'mxfp4', 'bf16'],
    ['Qwen/Qwen3-32B --dtype float16', 'qwen3-32b', 'fp16', 'fp16'],
    ['Qwen/Qwen3-32B --quantization fp8 --dtype auto', 'qwen3-32b', 'fp8', 'fp8'],
  ];
  for (const start of ['vllm serve', 'python -m sglang.launch_server --model-path'])
    for (const [words, model, weights, activations] of cases)
      assertReads(`${start} ${words}`, {
        model,
        'serving.precision.weights': weights,
        'serving.precision.activations': activations,
      });
  // Flags that no input expresses are listed.
  assert.deepEqual(read('vllm serve Qwen/Qwen3-32B --quantization bitsandbytes').unused, [
    '--quantization bitsandbytes',
  ]);
  const cache = '--kv-cache-dtype fp4_e2m1';
  assert.deepEqual(read(`sglang serve --model-path Qwen/Qwen3-32B ${cache}`).unknown, [cache]);
});

test('checkpoints of the same shape: other formats, and models trained further', () => {
  const cases = [
    ['nvidia/Kimi-K2-Thinking-NVFP4', 'kimi-k2-thinking'],
    ['moonshotai/Kimi-K2-Instruct-0905', 'kimi-k2'],
    ['zai-org/GLM-5.1-FP8', 'glm-5'],
    ['deepseek-ai/DeepSeek-V3.1-Terminus', 'deepseek-v3.1'],
    ['deepseek-ai/DeepSeek-V3.2-Speciale', 'deepseek-v3.2'],
    ['Qwen/Qwen3-Coder-30B-A3B-Instruct-FP8', 'qwen3-30b-a3b'],
    ['Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8', 'qwen3-coder-480b-a35b'],
    ['Qwen/Qwen3-Coder-Next', 'qwen3-next-80b-a3b'],
    ['Qwen/Qwen2.5-Coder-32B-Instruct', 'qwen2.5-32b'],
    ['allenai/Olmo-3-32B-Think', 'olmo-3-32b'],
    ['Intel/Qwen3.5-122B-A10B-int4-AutoRound', 'qwen3.5-122b-a10b'],
    ['amd/Llama-3.1-405B-Instruct-MXFP4-Preview', 'llama-3.1-405b'],
    ['nvidia/Nemotron-Cascade-2-30B-A3B', 'nemotron-3-nano-30b-a3b'],
  ];
  for (const [name, model] of cases) assertReads(`vllm serve ${name}`, { model });
});

// resolve_kv_cache_dtype_string of vLLM, configure_kv_cache_dtype of SGLang: "auto" means the format in hf_quant_config.json of NVIDIA's
// checkpoints.
test('the KV cache has the format of the served checkpoint, unless a flag sets another one', () => {
  const cases = [
    ['nvidia/Kimi-K2.5-NVFP4', 'kimi-k2.5', 'fp8'],
    ['nvidia/Kimi-K2.5-NVFP4 --kv-cache-dtype auto', 'kimi-k2.5', 'fp8'],
    ['nvidia/Kimi-K2.5-NVFP4 --kv-cache-dtype bfloat16', 'kimi-k2.5', 'bf16'],
    ['RedHatAI/Qwen3-32B-NVFP4', 'qwen3-32b', 'bf16'],
    ['Qwen/Qwen3-32B-FP8 --kv-cache-dtype auto', 'qwen3-32b', 'bf16'],
    ['deepseek-ai/DeepSeek-V4-Flash', 'deepseek-v4-flash', 'fp8'],
  ];
  for (const start of ['vllm serve', 'python -m sglang.launch_server --model-path'])
    for (const [words, model, cache] of cases)
      assertReads(`${start} ${words}`, { model, 'serving.precision.kv_cache': cache });
});

test('MLX: checkpoint bits without an input are reported', () => {
  assertReads('mlx_lm.generate --model mlx-community/Qwen3-30B-A3B-6bit', {
    model: 'qwen3-30b-a3b',
    unknown: ['weights in 6bit'],
  });
  assertReads('mlx_lm.generate --model mlx-community/Qwen3-30B-A3B-4bit-DWQ', {
    'model': 'qwen3-30b-a3b',
    'serving.precision.weights': 'q4_0',
  });
});
