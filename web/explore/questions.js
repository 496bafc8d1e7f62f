// Examples: questions that others ask of their tools, with the scenario that they set and what they search for.

const only = { training: { serving: 'null' }, serving: { training: 'null' } };

export const QUESTIONS = [
  {
    // Isaev et al., "Calculon", SC 2023: its default example.
    id: 'gpt3',
    of: 'training',
    objective: 'step_time_s',
    against: 'memory_headroom_bytes',
    inputs: {
      'model': 'gpt3-175b',
      'cluster': 'dgx-a100',
      'cluster.devices': '64',
      'training.global_batch': '64',
      'training.sequence': '2048',
      ...only.training,
    },
  },
  {
    id: 'cheap',
    of: 'training',
    objective: 'cost_usd',
    against: 'time_to_train_s',
    inputs: {
      'model': 'llama-3.1-8b',
      'cluster': 'dgx-h100',
      'cluster.devices': '128',
      'training.global_batch': '256',
      ...only.training,
    },
  },
  {
    id: 'chat',
    of: 'serving',
    objective: 'tokens_per_s_per_device',
    against: 'tokens_per_s_per_user',
    limits: [{ path: 'serving.tpot_s', how: '<=', value: '50 ms' }],
    inputs: {
      'model': 'llama-3.1-70b',
      'cluster': 'dgx-h100',
      'cluster.devices': '64',
      'serving.devices': '64',
      'serving.precision.weights': 'fp8',
      'serving.precision.activations': 'fp8',
      'serving.precision.kv_cache': 'fp8',
      ...only.serving,
    },
  },
];

// Which accelerator serves a model best: the same question for several clusters, as in public serving benchmarks.
export const MODELS = ['llama-3.1-70b', 'deepseek-v3'];
export const CLUSTERS = ['dgx-h100', 'dgx-h200', 'dgx-b200'];
export const DEVICES = '8, 16, 32, 64';
export const SLO = '50 ms';
export const FORMAT = 'fp8';

// A design space: the varied inputs, the mappings left out so that a million and a half points remain, and an example.
export const DESIGN = {
  given: [
    { part: 'cluster.device.design', path: 'cluster.device.design.preset', value: 'h100-like' },
    { part: 'partition.bandwidth', path: 'partition.bandwidth', value: '4 TB/s' },
  ],
  axes: [
    { id: 'dies', path: 'partition.chiplets', values: '1, 2, 4' },
    { id: 'nodes', path: 'cluster.device.design.node.preset', values: '7nm, 5nm, 4nm, 3nm, 2nm' },
    { id: 'memories', path: 'cluster.device.design.dram.preset', values: 'hbm2e, hbm3, hbm3e, hbm4' },
    { id: 'topologies', path: 'cluster.networks.0.topology', values: 'switch, ring, fully_connected, torus' },
  ],
  limits: {
    training: [
      'order=tp-cp-ep-dp-pp',
      'cp<=2',
      'micro_batch<=4',
      'schedule=1f1b',
      'offload.optimizer<=0',
      'training.offload.activations=0',
    ],
    serving: ['cp<=1', 'prefill_devices=0'],
  },
  inputs: {
    'model': 'llama-3.1-70b',
    'cluster': 'dgx-h100',
    'cluster.devices': '512',
    'cluster.device.design.preset': 'h100-like',
    'partition.bandwidth': '4 TB/s',
    'serving': 'null',
  },
};
