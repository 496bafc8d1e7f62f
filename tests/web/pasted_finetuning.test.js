// Fine-tuning by LLaMA-Factory, Axolotl, TRL and transformers: commands and files as found in their repositories.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSlipstick } from '../support/module.js';
import { commandReader } from '../support/pasted.js';

const { slipstick } = await loadSlipstick();
const { assertReads, read } = commandReader(slipstick);

// hiyouga/LLaMA-Factory: examples/train_full/llama3_full_sft_ds3.yaml and train_lora/qwen3_lora_sft.yaml, and how its README starts them on two nodes.
test('LLaMA-Factory: a command and its file, or the file alone', () => {
  const file = (more) => `### model
model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct
### method
stage: sft
do_train: true
${more}
### dataset
dataset: identity,alpaca_en_demo
template: llama3
cutoff_len: 1024
preprocessing_num_workers: 16
### output
output_dir: saves/llama3-8b  # of checkpoints
logging_steps: 10
### train
per_device_train_batch_size: 1
gradient_accumulation_steps: 2
learning_rate: 1.0e-4
lr_scheduler_type: cosine
bf16: true
ddp_timeout: 180000000
resume_from_checkpoint: null
`;
  const full = 'finetuning_type: full\ndeepspeed: examples/deepspeed/ds_z3_config.json';
  const command =
    'FORCE_TORCHRUN=1 NNODES=2 CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 llamafactory-cli train examples/train_full/llama3_full_sft_ds3.yaml\n';
  const report = assertReads(command + file(full), {
    'model': 'llama-3-8b',
    'cluster.devices': '16',
    'training.sequence': '1024',
    'training.mapping.micro_batch': '1',
    'training.global_batch': '32', // 1 x 2 x 16
    'training.mapping.zero': '3',
    'training.recompute': 'full', // the default
    'training.precision': 'bf16',
    'training.framework': 'fsdp-eager',
    'training.framework.exchange.reduces_once': undefined, // DeepSpeed reduces in every micro-batch
    'training.trainable': undefined,
  });
  assert.equal(report.issues, undefined);
  assertReads(file('finetuning_type: lora\nlora_rank: 32\nlora_target: q_proj,v_proj\nquantization_bit: 4'), {
    'model': 'llama-3-8b',
    'unused': ['per_device_train_batch_size 1'], // per device, but the number of devices is unknown
    'training.trainable': 'lora',
    'training.framework.lora_rank': '32',
    'training.framework.lora_targets': 'attention',
    'training.frozen_precision': 'nf4',
    'training.mapping.zero': '0',
  });
  // The defaults are LoRA and rank 8 on all layers.
  assertReads('CUDA_VISIBLE_DEVICES=0 llamafactory-cli train a.yaml\n' + file('pure_bf16: true'), {
    'model': 'llama-3-8b',
    'training.trainable': 'lora',
    'training.framework.lora_rank': '8',
    'training.framework.lora_targets': 'all',
    'training.state.master_weights': 'none',
    'training.global_batch': '2',
  });
  for (const [more, unused] of [
    ['finetuning_type: freeze', ['finetuning_type freeze']],
    ['finetuning_type: full\nuse_galore: true\nuse_dora: false', ['--use_galore']],
    ['deepspeed: my.json', ['--deepspeed my.json']],
  ])
    assert.deepEqual(read(`CUDA_VISIBLE_DEVICES=0 llamafactory-cli train a.yaml\n${file(more)}`).unused, unused, more);
  // A command without its file states nothing.
  assert.deepEqual(read('llamafactory-cli train a.yaml').unused, ['per_device_train_batch_size 8', 'a.yaml']);
  // A preference loss needs a second sequence and the reference model, which no input expresses.
  assert.deepEqual(read(file('finetuning_type: full').replace('stage: sft', 'stage: dpo')).unused, [
    'per_device_train_batch_size 1',
    'stage dpo',
  ]);
});

// axolotl-ai-cloud/axolotl: examples/llama-3/qlora-fsdp-70b.yaml and fft-8b-liger-fsdp.yaml.
test('Axolotl: lists, nested entries and empty ones of its file', () => {
  const text = `base_model: casperhansen/llama-3-70b-fp16
model_type: LlamaForCausalLM
load_in_8bit: false
load_in_4bit: true
datasets:
  - path: tatsu-lab/alpaca
    type: alpaca
adapter: qlora
lora_model_dir:
sequence_len: 512
lora_r: 8
lora_target_modules:
  - q_proj
  - gate_proj
gradient_accumulation_steps: 4
micro_batch_size: 1
optimizer: adamw_torch
bf16: auto
fp16:
gradient_checkpointing: true
gradient_checkpointing_kwargs:
  use_reentrant: true
deepspeed:
fsdp:
  - full_shard
  - auto_wrap
fsdp_config:
  fsdp_offload_params: true
  fsdp_sharding_strategy: FULL_SHARD
special_tokens:
  pad_token: <|end_of_text|>
`;
  assertReads(`accelerate launch --num_processes 2 -m axolotl.cli.train qlora.yaml\n${text}`, {
    'model': 'llama-3-70b',
    'cluster.devices': '2',
    'training.global_batch': '8', // 1 x 4 x 2
    'training.sequence': '512',
    'training.trainable': 'lora',
    'training.framework.lora_rank': '8',
    'training.framework.lora_targets': 'all',
    'training.frozen_precision': 'nf4',
    'training.mapping.zero': '3',
    'training.framework.exchange.reduces_once': 'true', // 4 micro-batches, three of them under no_sync
    'training.offload.parameters': '1',
    'training.recompute': 'full',
    'training.precision': 'bf16',
  });
  const liger = `base_model: NousResearch/Meta-Llama-3.1-8B
plugins:
  - axolotl.integrations.liger.LigerPlugin
liger_fused_linear_cross_entropy: true
sequence_len: 4096
micro_batch_size: 2
optimizer: adamw_torch_fused
bf16: auto
fsdp_version: 2
fsdp_config:
  reshard_after_forward: false
tensor_parallel_size: 2
mystery: 3
`;
  assertReads(`torchrun --nproc_per_node 8 -m axolotl.cli.train x.yml\n${liger}`, {
    'model': 'llama-3.1-8b',
    'unknown': ['--mystery 3'],
    'training.loss_chunks': '8',
    'training.mapping.tp': '2',
    'training.mapping.zero': '2',
    'training.framework.exchange.reduces_once': undefined, // one micro-batch
    'training.global_batch': '8', // 2 x 4 ranks
    'training.recompute': 'none',
    'training.trainable': undefined,
  });
});

// huggingface/trl: trl/scripts/sft.py; lm-sys/FastChat's train_mem.py under DeepSpeed; transformers' defaults.
test('scripts with the arguments of transformers: TRL, DeepSpeed, or alone', () => {
  const model = '--model_name_or_path Qwen/Qwen3-4B --per_device_train_batch_size 2 --gradient_accumulation_steps 8';
  assertReads(
    `accelerate launch --config_file fsdp2.yaml --num_processes 4 trl/scripts/sft.py ${model} --use_peft --lora_r 32 --packing`,
    {
      'model': 'qwen3-4b',
      'training.global_batch': '64', // 2 x 8 x 4
      'training.sequence': '1024',
      'training.recompute': 'full',
      'training.loss_chunks': '8',
      'training.framework.lora_rank': '32',
      'training.framework.lora_targets': 'attention',
      'training.mapping.zero': '3',
    },
  );
  assertReads(
    `deepspeed --num_gpus 8 --num_nodes 2 --master_port 60000 fastchat/train/train_mem.py ${model} --data_path a.json \\
      --fp16 True --model_max_length 2048 --gradient_checkpointing True --deepspeed ds_config.json`,
    {
      'model': 'qwen3-4b',
      'unused': ['--deepspeed ds_config.json'],
      'training.global_batch': '256', // 2 x 8 x 16
      'training.precision': 'fp16',
      'training.recompute': 'full',
      'training.loss_chunks': undefined,
    },
  );
  const config = '{"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}}';
  assertReads(`deepspeed --include localhost:0,1,2,3 train.py ${model} --deepspeed ds_config.json\n${config}`, {
    'model': 'qwen3-4b',
    'cluster.devices': '4',
    'training.mapping.zero': '2',
    'training.offload.optimizer': '1',
    'training.offload.parameters': undefined,
    'training.precision': 'fp32',
    'training.recompute': 'none',
  });
  assert.deepEqual(read(`torchrun --nproc_per_node 8 run_clm.py ${model} --optim lion_32bit`).unknown, [
    '--optim lion_32bit',
  ]);
  for (const [mixed, precision] of [
    ['bf16', 'bf16'],
    ['no', 'fp32'],
  ])
    assertReads(`accelerate launch --mixed_precision ${mixed} --num_processes 4 run_clm.py ${model}`, {
      'model': 'qwen3-4b',
      'training.precision': precision,
    });
});
