// Commands as found in scripts, READMEs and issues: the page reads what a shell would run.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arithmetic } from '../../web/commands/arithmetic.js';
import { inputsAfter } from '../../web/commands/commands.js';
import { commandsOf } from '../../web/commands/words.js';
import { loadSlipstick } from '../support/module.js';
import { commandReader } from '../support/pasted.js';

const { slipstick } = await loadSlipstick();
const { assertReads, read } = commandReader(slipstick);

test('words are those of a POSIX shell: quotes, continued lines, comments', () => {
  assert.deepEqual(commandsOf(`a 'b c' "d \\"e\\"" \\\n --f=g # h i\n j`), [['a', 'b c', 'd "e"', '--f=g'], ['j']]);
  assert.deepEqual(commandsOf('a\\\r\n b '), [['a', 'b']]);
  assert.deepEqual(commandsOf(`--config '{"a": 1}'`), [['--config', '{"a": 1}']]);
});

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

test('a degree that is no number is the only fault of a command', () => {
  const { inputs } = read('vllm serve Qwen/Qwen3-8B --tensor-parallel-size eight');
  assert.equal(inputs['serving.mapping.tp'], 'eight');
  assert.equal(inputs['serving.devices'], undefined);
});

test('another program is no command to read', () => {
  assert.equal(read('ls -l'), null);
});
