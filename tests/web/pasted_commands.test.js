// Commands as found in scripts, READMEs, model cards and issues: the page reads what a shell would run.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arithmetic } from '../../web/commands/arithmetic.js';
import { inputsAfter, readCommand } from '../../web/commands/commands.js';
import { commandsOf } from '../../web/commands/words.js';
import { requestOf } from '../../web/state/scenario.js';
import { loadSlipstick } from '../support/module.js';

const { slipstick } = await loadSlipstick();
const described = JSON.parse(slipstick.describe());
const models = JSON.parse(slipstick.presets('model'));
const presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
const read = (text) => readCommand(text, models);

// Checks the inputs that a text sets, at the stated paths.
function assertReads(text, { model, unused = [], unknown = [], ...inputs }) {
  const found = read(text);
  assert.ok(found, text);
  assert.equal(found.model?.id, model, text);
  for (const [path, value] of Object.entries(inputs)) assert.equal(found.inputs[path], value, `${path}: ${text}`);
  assert.deepEqual([found.unused, found.unknown], [unused, unknown], text);
  const request = requestOf(described.defaults, { version: '3', ...inputsAfter({}, found) }, presetPaths);
  return JSON.parse(slipstick.evaluate(JSON.stringify(request), ''));
}

test('words and commands are those of a shell: variables, lists, sums, here-documents, redirections', () => {
  const cases = [
    ['A=8; run --tp $A ${A} "$A b" \u0027$A\u0027', [['run', '--tp', '8', '8', '8 b', '$A']]],
    ['export A=x B=y\nrun $A $B', [['run', 'x', 'y']]],
    ['A="--x 1 \\\n  --y 2"\nA+=" --z"\nrun $A', [['run', '--x', '1', '--y', '2', '--z']]],
    [
      'A=(\n --x 1 # one\n --y "a b"\n)\nrun ${A[@]} "${A[*]}" end',
      [['run', '--x', '1', '--y', 'a b', '--x', '1', '--y', 'a b', 'end']],
    ],
    ['run ${A:-4} ${B:-"c"} $C $(nproc) $1', [['run', '4', 'c', '$C', '$(nproc)', '$1']]],
    ['N=2\nrun $(($N*(N+2))) $((8/3)) $((M+1))', [['run', '8', '2', '$((M+1))']]],
    ['cat > a.yml <<\u0027END\u0027\nrun: 3\nEND\nrun --c a.yml', [['cat'], ['run', '--c', 'a.yml']]],
    [
      'run a > log 2>&1 &\nrun b | tee x && run c; run <model> -n <N>',
      [
        ['run', 'a'],
        ['run', 'b'],
        ['tee', 'x'],
        ['run', 'c'],
        ['run', '<model>', '-n', '<N>'],
      ],
    ],
    [
      'run a\n  --flag 1\n# note\n  --other \\ \n 2\nrun b',
      [
        ['run', 'a', '--flag', '1', '--other', '2'],
        ['run', 'b'],
      ],
    ],
    ['run \u2013flag 1', [['run', '--flag', '1']]],
    ['NGPU=8 ./run --a=b', [['NGPU=8', './run', '--a=b']]],
    ['command: ["run", "--a", "b c"]', [['run', '--a', 'b c']]],
    ['command:\n  - run\n  - --a=1\n  - "2"', [['run', '--a=1', '2']]],
  ];
  for (const [text, commands] of cases) assert.deepEqual(commandsOf(text), commands, text);
  assert.equal(
    arithmetic('2+3*(4-1)%5', () => undefined),
    2 + ((3 * 3) % 5),
  );
  for (const none of ['', '1/0', '(1', '2 3', 'a'])
    assert.equal(
      arithmetic(none, () => undefined),
      undefined,
      none,
    );
  // Expanding a variable that doubles itself must end.
  const doubled = `A=ab\n${'A="$A$A"\n'.repeat(60)}run $A`;
  assert.ok(commandsOf(doubled).at(-1).join(' ').length < 1e6);
});

// `srun -N 16` of 8 GPUs each: 16 * 8 = 128.
test('Slurm says the nodes of a run: flags of srun, of the job file, and the variable for them', () => {
  const megatron =
    'pretrain_gpt.py --num-layers 80 --hidden-size 8192 --num-attention-heads 64 --seq-length 4096 --bf16 --micro-batch-size 1';
  const titan = '-m torchtitan.train --model.name llama3 --model.flavor 70B --training.local_batch_size 1';
  const script = 'train.py --model_name_or_path meta-llama/Llama-3.1-70B --per_device_train_batch_size 1';
  const file = '#!/bin/bash\n#SBATCH --nodes=16\n#SBATCH --gres=gpu:h100:8 # all\n#SBATCH --ntasks-per-node=1\n';
  for (const [text, devices] of [
    [`srun -N 16 torchrun --nproc_per_node=8 ${megatron}`, '128'],
    [`srun -N16 --exclusive torchrun --nproc_per_node 8 --nnodes $SLURM_NNODES ${megatron}`, '128'],
    [`srun --nodes=16 --ntasks-per-node=8 python -u ${megatron}`, '128'],
    [`srun -N 16 -n 128 python ${megatron}`, '128'],
    [`srun -N 16 torchrun --nproc_per_node=8 ${titan}`, '128'],
    [`srun -N 16 --gpus-per-node=8 bash -c "torchrun --nproc_per_node=4 ${titan}"`, '64'],
    [`srun -N 16 torchrun --nproc_per_node=8 ${script}`, '128'],
    [`srun -N 16 --gpus-per-node 8 accelerate launch --num_processes 64 ${script}`, '64'],
    [`${file}ip=$(srun --nodes=1 hostname)\nsrun torchrun --nnodes=\${SLURM_JOB_NUM_NODES} ${titan}`, '128'],
    [`${file}srun torchrun --nnodes 4 --nproc_per_node 8 ${titan}`, '32'],
    [`${file}torchrun --nproc_per_node 8 ${titan}`, '8'],
  ]) {
    const { inputs, unknown, unused } = read(text);
    assert.deepEqual([inputs['cluster.devices'], unknown, unused], [devices, [], []], text);
  }
  assert.deepEqual(read(`srun --nodes=2-4 torchrun --nproc_per_node=8 ${script}`).unknown, ['--nodes 2-4']);
});

// Megatron-LM, examples/gpt3/train_gpt3_175b_distributed.sh.
test('a script of Megatron-LM that keeps its flags in lists', () => {
  assertReads(
    `#!/bin/bash
GPUS_PER_NODE=8
NUM_NODES=16
NODE_RANK=0
WORLD_SIZE=$(($GPUS_PER_NODE*$NUM_NODES))
CHECKPOINT_PATH=$1 #<Specify path>
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NUM_NODES
    --master_addr localhost
)
GPT_MODEL_ARGS=(
    --num-layers 96
    --hidden-size 12288
    --num-attention-heads 96
    --seq-length 2048
    --max-position-embeddings 2048
    --attention-backend auto # Can use (flash/fused/unfused/local)
)
TRAINING_ARGS=(
    --micro-batch-size 1
    --global-batch-size 1536
    --rampup-batch-size 16 16 5859375
    --fp16
)
MODEL_PARALLEL_ARGS=(
\t--tensor-model-parallel-size 8
\t--pipeline-model-parallel-size 16
)
EVAL_AND_LOGGING_ARGS=( --save $CHECKPOINT_PATH )
torchrun \${DISTRIBUTED_ARGS[@]} pretrain_gpt.py \\
    \${GPT_MODEL_ARGS[@]} \\
    \${TRAINING_ARGS[@]} \\
    \${MODEL_PARALLEL_ARGS[@]} \\
    \${EVAL_AND_LOGGING_ARGS[@]}`,
    {
      'model': 'gpt3-175b',
      'unknown': ['--rampup-batch-size 16 16 5859375'],
      'cluster.devices': '128',
      'training.mapping.tp': '8',
      'training.mapping.pp': '16',
      'training.mapping.micro_batch': '1',
      'training.global_batch': '1536',
      'training.sequence': '2048',
      'training.precision': 'fp16',
    },
  );
});

test('variables of a script are filled in; unset ones are reported and set nothing', () => {
  assertReads(
    `export MODEL=Qwen/Qwen3-235B-A22B-Instruct-2507-FP8
TP=8
vllm serve $MODEL --tensor-parallel-size \${TP} --enable-expert-parallel --max-num-seqs \${SEQS:-512}`,
    {
      'model': 'qwen3-235b-a22b',
      'serving.mapping.tp': '8',
      'serving.mapping.ep': '8',
      'serving.devices': '8',
      'serving.max_requests': '512',
      'serving.precision.weights': 'fp8',
    },
  );
  for (const value of ['$TP_SIZE', '${TP_SIZE}', '$(nvidia-smi -L | wc -l)', '<N>'])
    assertReads(`vllm serve Qwen/Qwen3-32B --tensor-parallel-size ${value} --max-num-seqs 8`, {
      'model': 'qwen3-32b',
      'unknown': [`--tensor-parallel-size ${value}`],
      'serving.mapping.tp': '1',
      'serving.devices': '1',
      'serving.max_requests': '8',
    });
});

test('a command with flags elsewhere sets its own flags and lists the rest', () => {
  const found = read('torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py ${GPT_MODEL_ARGS[@]} --bf16 $EXTRA');
  assert.deepEqual(found.unknown, ['${GPT_MODEL_ARGS[@]}', '$EXTRA', '${DISTRIBUTED_ARGS[@]}']);
  assert.deepEqual([found.model, found.shape], [undefined, undefined]);
  assert.deepEqual(read('vllm serve $MODEL -tp 2').unknown, ['$MODEL']);
  // A model other than a decoder of attention layers has none of these flags.
  const flags = '--num-layers 12 --hidden-size 768 --num-attention-heads 12 --bf16';
  for (const [command, unknown] of [
    [`pretrain_t5.py ${flags}`, 'pretrain_t5.py'],
    [`pretrain_mamba.py ${flags} --hybrid-override-pattern M-M*-M-`, 'M-M*-M-'],
  ]) {
    const other = read(`torchrun ${command}`);
    assert.deepEqual([other.model, other.shape, other.unknown], [undefined, undefined, [unknown]], command);
  }
});

test('of several commands the first is read, with the load that another sends', () => {
  const pools = `vllm serve meta-llama/Llama-3.1-8B-Instruct --port 8100 --tensor-parallel-size 1 &
vllm serve meta-llama/Llama-3.1-8B-Instruct --port 8200 --tensor-parallel-size 4 &`;
  assertReads(pools, {
    'model': 'llama-3.1-8b',
    'unused': ['vllm serve meta-llama/Llama-3.1-8B-Instruct --port \u2026'],
    'serving.mapping.tp': '1',
  });
  assertReads(
    `vllm serve zai-org/GLM-4.5-Air -tp 4 > server.log 2>&1 &
vllm bench serve --model air --random-input-len 1024 --random-output-len 512 --max-concurrency 64`,
    { 'model': 'glm-4.5-air', 'serving.mapping.tp': '4', 'serving.prompt': '1024', 'serving.concurrency': '64' },
  );
});

test('commands in quotes, in the YAML of containers, and with typographic dashes', () => {
  const qwen = { 'model': 'qwen3-32b', 'serving.mapping.tp': '4', 'serving.devices': '4' };
  for (const text of [
    'docker run --entrypoint /bin/bash vllm/vllm-openai:latest -c "vllm serve Qwen/Qwen3-32B --tensor-parallel-size 4"',
    'image: vllm/vllm-openai:latest\ncommand: ["--model", "Qwen/Qwen3-32B", "--tensor-parallel-size", "4"]',
    'command:\n  - vllm\n  - serve\n  - Qwen/Qwen3-32B\n  - --tensor-parallel-size=4',
    'command: ["/bin/sh", "-c"]\nargs: [\n  "vllm serve Qwen/Qwen3-32B --tensor-parallel-size 4"\n]',
    'image: vllm/vllm-openai:latest\ncommand: ["/bin/sh", "-c"]\nargs:\n- vllm serve Qwen/Qwen3-32B --tensor-parallel-size 4',
    'CMD="vllm serve Qwen/Qwen3-32B -tp 4"\necho $CMD\neval $CMD',
    'docker run --gpus all vllm/vllm-openai:v0.11.0 Qwen/Qwen3-32B \u2014tensor-parallel-size 4',
  ]) {
    const found = read(text);
    for (const [path, value] of Object.entries(qwen).slice(1)) assert.equal(found.inputs[path], value, text);
    assert.equal(found.model.id, qwen.model, text);
    assert.deepEqual([found.unused, found.unknown], [[], []], text);
  }
  // A word that belongs to no flag is reported.
  assert.deepEqual(read('vllm serve Qwen/Qwen3-32B stray').unknown, ['stray']);
});

test('a benchmark alone sets the load and leaves the servers as they are', () => {
  const before = { 'serving.mapping.tp': '8', 'serving.batch': '64', 'cluster': 'dgx-h200' };
  for (const start of ['vllm bench serve --model', 'python3 -m sglang.bench_serving --backend sglang --model'])
    assert.deepEqual(
      inputsAfter(
        before,
        read(`${start} Qwen/Qwen3-32B --random-input-len 1000 --request-rate 4 --max-concurrency 16`),
      ),
      {
        'serving.mapping.tp': '8',
        'cluster': 'dgx-h200',
        'model': 'qwen3-32b',
        'serving.prompt': '1000',
        'serving.requests_per_s': '4',
        'serving.concurrency': '16',
      },
    );
});

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

test('a degree that is no number is the only fault of a command', () => {
  const { inputs } = read('vllm serve Qwen/Qwen3-8B --tensor-parallel-size eight');
  assert.equal(inputs['serving.mapping.tp'], 'eight');
  assert.equal(inputs['serving.devices'], undefined);
});
