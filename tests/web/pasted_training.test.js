// Commands and configurations of Megatron-LM, torchtitan and nanotron, as found in their repositories.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSlipstick } from '../support/module.js';
import { commandReader } from '../support/pasted.js';

const { slipstick } = await loadSlipstick();
const { assertReads, read } = commandReader(slipstick);

// megatron/training/arguments.py: defaults of unstated flags, and flags that need another.
test('Megatron-LM: defaults of a shape, of the batch and of the precision, and flags that do nothing alone', () => {
  const start = 'torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py';
  const shape = '--num-layers 10 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 --micro-batch-size 4';
  const gpt = read(`${start} ${shape} --vocab-size 50257 --tensor-model-parallel-size 2`);
  assert.deepEqual(gpt.shape, {
    'model.layers': '10',
    'model.hidden': '1024',
    'model.heads': '16',
    'model.kv_heads': '16',
    'model.ffn': '4096',
    'model.vocab': '50432', // to a multiple of 128 for each of two ranks
    'model.gated': 'false',
    'model.norm': 'layer',
    'model.position': 'learned',
    'model.qk_norm': 'none',
    'model.tied_embeddings': 'true',
    'model.biases': 'all',
  });
  assert.deepEqual([gpt.inputs['training.global_batch'], gpt.inputs['training.precision']], ['32', 'fp32']); // 4 x 8 ranks
  const llama = read(
    `${start} ${shape} --swiglu --group-query-attention --num-query-groups 4 --use-rotary-position-embeddings --disable-bias-linear`,
  ).shape;
  assert.deepEqual(
    ['gated', 'kv_heads', 'ffn', 'position', 'biases'].map((member) => llama[`model.${member}`]),
    ['true', '4', '2688', 'rope', 'none'], // 8/3 of 1,024 in whole 64
  );
  const precision = (flags) => read(`${start} ${shape} ${flags}`).inputs['training.precision'];
  for (const [flags, expected] of [
    ['--fp8-format hybrid --bf16', 'fp8'],
    ['--bf16 --fp8-recipe mxfp8 --fp8-format e4m3', 'mxfp8'],
    ['--bf16 --fp8-recipe delayed', 'bf16'],
    ['--fp16', 'fp16'],
  ])
    assert.equal(precision(flags), expected, flags);
  const zero = (flags) => read(`${start} ${shape} ${flags}`).inputs['training.mapping.zero'];
  assert.equal(zero('--use-distributed-optimizer'), '1');
  assert.equal(zero('--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params'), '3');
  assert.equal(zero('--data-parallel-sharding-strategy optim_grads_params'), '0');
  const moe = (flags) => read(`${start} ${shape} --num-experts 8 ${flags}`).inputs;
  assert.equal(moe('--moe-token-dispatcher-type alltoall')['training.mapping.dispatch'], undefined);
  for (const flags of ['--moe-token-dispatcher-type flex', '--moe-enable-deepep'])
    assert.equal(moe(flags)['training.mapping.dispatch'], 'dedicated');
  assert.equal(moe('--overlap-moe-expert-parallel-comm')['training.mapping.overlap.ep'], 'true');
  const loss = (name) =>
    read(`${start} ${shape} --cross-entropy-loss-fusion --cross-entropy-fusion-impl ${name}`).inputs;
  assert.equal(loss('te')['training.loss_in_place'], 'true');
  assert.equal(loss('native')['training.loss_in_place'], undefined);
  const dense = read(`${start} ${shape} --tp-comm-overlap --moe-token-dispatcher-type flex`).inputs;
  assert.deepEqual([dense['training.mapping.dispatch'], dense['training.mapping.overlap.tp']], [undefined, 'true']);
  // Ten layers in two stages are not divisible by three, and the number of devices of "gpu" is unknown.
  assert.deepEqual(
    read(
      `torchrun --nproc_per_node=gpu pretrain_gpt.py ${shape} --pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 3`,
    ).unknown,
    ['--nproc-per-node gpu', '--num-layers-per-virtual-pipeline-stage 3'],
  );
});

// huggingface/nanotron: examples/config_tiny_llama.yaml, and the defaults of src/nanotron/config/parallelism_config.py.
test('nanotron: its configuration, whose sections follow the alphabet', () => {
  const config = ({ run = '', optimizer = 'zero_stage: 0', shape }) => `checkpoints:
  checkpoint_interval: 10
model:
  dtype: bfloat16
  init_method:
    std: 0.025
  model_config:
    is_llama_config: true
    rope_scaling: null
${shape}
optimizer:
  accumulate_grad_in_fp32: true
  learning_rate_scheduler:
    learning_rate: 0.0003
  optimizer_factory:
    name: adamW
  ${optimizer}
parallelism:
  dp: 2
  expert_parallel_size: 1
  pp: 2
  tp: 2
${run}
profiler: null
tokens:
  batch_accumulation_per_replica: 8
  micro_batch_size: 2
  sequence_length: 4096
  train_steps: 15
`;
  const tiny = ['hidden_size: 16', 'intermediate_size: 64', 'num_attention_heads: 4', 'num_hidden_layers: 2'];
  const rows = (lines) => lines.map((line) => `    ${line}`).join('\n');
  const silent = config({ shape: rows([...tiny, 'num_key_value_heads: 4', 'vocab_size: 256']) });
  assertReads(`torchrun --nproc_per_node=8 run_train.py --config-file tiny.yaml\n${silent}`, {
    'model': undefined,
    'cluster.devices': '8',
    'training.global_batch': '32', // 2 replicas, 8 micro-batches of 2 each
    'training.sequence': '4096',
    'training.mapping.tp': '2',
    'training.mapping.pp': '2',
    'training.mapping.schedule': 'gpipe',
    'training.mapping.sequence_parallel': 'false',
    'training.mapping.zero': '0',
    'training.recompute': 'none',
    'training.framework': 'nanotron',
    'training.framework.memory.gathered': undefined,
  });
  const llama = ['hidden_size: 2048', 'intermediate_size: 8192', 'num_attention_heads: 32', 'num_hidden_layers: 16'];
  const said = ['pp_engine: 1f1b', 'tp_mode: REDUCE_SCATTER', 'recompute_layer: true', 'tp_recompute_allgather: false'];
  const written = config({
    run: said.map((line) => `  ${line}`).join('\n'),
    optimizer: 'zero_stage: 1',
    shape: rows([...llama, 'num_key_value_heads: 8', 'vocab_size: 128256', 'tie_word_embeddings: true']),
  });
  assertReads(written, {
    'model': 'llama-3.2-1b',
    'training.mapping.schedule': '1f1b',
    'training.mapping.sequence_parallel': 'true',
    'training.mapping.zero': '1',
    'training.recompute': 'full',
    'training.framework.memory.gathered': '4',
  });
  assert.deepEqual(read('torchrun --nproc_per_node=8 run_train.py --config-file x.yaml').unused, ['x.yaml']);
});

// pytorch/torchtitan: docs/performance.md, and train_configs/llama3_70b.toml.
test('torchtitan: batches, sharding and precision, in flags and in its file', () => {
  const llama = 'CONFIG_FILE="./torchtitan/models/llama3/train_configs/llama3_8b.toml" NGPU=8 ./run_train.sh';
  assertReads(
    `${llama} --training.local_batch_size 2 --training.seq_len 8192 --compile.enable --model.converters="quantize.linear.float8"`,
    {
      'model': 'llama-3.1-8b',
      'cluster.devices': '8',
      'training.mapping.micro_batch': '2',
      'training.global_batch': '16',
      'training.mapping.zero': '3',
      'training.precision': 'fp8',
      'training.framework': 'fsdp',
    },
  );
  assertReads(`${llama} --parallelism.data_parallel_replicate_degree 2 --parallelism.tensor_parallel_degree 2`, {
    'model': 'llama-3.1-8b',
    'training.mapping.shard_within': '2', // of four data-parallel ranks
    'training.framework': 'fsdp-eager',
  });
  assertReads(
    `${llama} --parallelism.pipeline_parallel_degree 4 --parallelism.pipeline_parallel_schedule Interleaved1F1B --training.local_batch_size 8`,
    {
      'model': 'llama-3.1-8b',
      'training.mapping.schedule': '1f1b',
      'training.mapping.virtual_stages': '2',
      'training.mapping.zero': '2', // in a pipeline weights stay gathered
      'training.global_batch': '16',
      'training.mapping.micro_batch': undefined,
    },
  );
  assertReads('./run_train.sh --model.name llama3 --model.flavor 405B --training.local_batch_size 2', {
    model: 'llama-3.1-405b',
    unused: ['local_batch_size 2'],
  });
  for (const [job, model] of [
    ['deepseek_v3_671b', 'deepseek-v3'],
    ['deepseek_v3_16b', 'deepseek-v2-lite'],
    ['qwen3_0.6b', 'qwen3-0.6b'],
    ['deepseek_v3_debugmodel', undefined],
  ])
    assert.equal(read(`CONFIG_FILE=train_configs/${job}.toml ./run_train.sh`).model?.id, model, job);
  for (const flag of ['--parallelism.pipeline_parallel_schedule InterleavedZeroBubble', '--model.converters bitnet'])
    assert.deepEqual(read(`${llama} ${flag}`).unknown, [flag]);
  assert.deepEqual(read(`${llama} --training.enable_cpu_offload`).unused, ['--training.enable_cpu_offload']);
  assertReads(
    `# torchtitan Config.toml

[job]
dump_folder = "./outputs"
description = "Llama 3 70B training"

[model]
name = "llama3"
flavor = "70B"
hf_assets_path = "./assets/hf/Llama-3.1-70B"
# converters = ["float8"]

[optimizer]
name = "AdamW"
lr = 1.5e-4

[training]
local_batch_size = 8
seq_len = 8192
global_batch_size = -1
mystery = 3

[parallelism]
data_parallel_shard_degree = -1
tensor_parallel_degree = 8  # 8-way TP

[activation_checkpoint]
mode = "full"

[compile]
enable = false
`,
    {
      'model': 'llama-3.1-70b',
      'unused': ['local_batch_size 8'],
      'unknown': ['--training.mystery 3'],
      'training.sequence': '8192',
      'training.mapping.tp': '8',
      'training.recompute': 'full',
      'training.mapping.zero': '3',
      'training.mapping.micro_batch': '8',
      'training.optimizer': 'adamw',
      'training.framework': 'fsdp-eager',
    },
  );
});

test('a training command says its tokens by its steps or samples', () => {
  const megatron =
    'torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 ' +
    '--group-query-attention --num-query-groups 8 --swiglu --ffn-hidden-size 14336 --vocab-size 128256 --seq-length 4096 ' +
    '--micro-batch-size 1 --bf16';
  const model = 'llama-3-8b';
  // 500,000 steps of 256 sequences of 4,096 tokens
  assertReads(`${megatron} --global-batch-size 256 --train-iters 500000`, { model, 'training.tokens': '524288000000' });
  assertReads(`${megatron} --train-samples 1000000`, { model, 'training.tokens': '4096000000' });
  assert.equal(read(`${megatron} --global-batch-size 256`).inputs['training.tokens'], undefined);
  // 1,000 steps of 8 sequences of 8,192 tokens
  assertReads(
    'NGPU=8 ./run_train.sh --module llama3 --config llama3_8b --training.steps 1000 --training.seq_len 8192 --training.local_batch_size 1',
    { 'model': 'llama-3.1-8b', 'training.tokens': '65536000' },
  );
});

test('torchtitan by its start script, and a shape of no known model', () => {
  const titan = read(
    'CONFIG_FILE="./torchtitan/models/llama3/train_configs/llama3_70b.toml" NGPU=8 ./run_train.sh --parallelism.tensor_parallel_degree=8',
  );
  assert.deepEqual(
    [titan.model.id, titan.inputs['training.mapping.tp'], titan.inputs['training.mapping.zero']],
    ['llama-3.1-70b', '8', '3'],
  );
  // A shape that matches no catalogue entry stays a shape.
  const own = read(
    'torchrun pretrain_gpt.py --num-layers 10 --hidden-size 1024 --num-attention-heads 16 --ffn-hidden-size 4096',
  );
  assert.deepEqual([own.model, own.shape['model.layers']], [undefined, '10']);
});
