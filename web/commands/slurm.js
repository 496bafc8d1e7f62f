// What Slurm says of a training command: the nodes and the devices of each, in the flags of srun before it and in the #SBATCH lines of its
// file. Of srun's command only what it starts is read.
const PROGRAM =
  /(^|\/)(torchrun|python[\d.]*|accelerate|deepspeed|bash|sh|env|axolotl|llamafactory-cli|trl)$|\.(py|sh)$/;
const NODES = /\$\{?SLURM_(?:JOB_NUM_NODES|NNODES)\}?/g;

const count = (options, names) => new RegExp(`(?:^|\\s)(?:${names})[= ]?(\\d+)(?=\\s|$)`).exec(options)?.[1];

// The words as if torchrun alone had started them: its own flags, which follow, replace those of Slurm. `outer`: the words around them, where
// they stand in quotes within another command.
export function withoutSlurm(words, outer, text) {
  const at = outer.findIndex((word) => /(^|\/)srun$/.test(word));
  const file = [...text.matchAll(/^#SBATCH[ \t]+(\S[^#\n]*)/gm)].map(([, options]) => options.trim()).join(' ');
  const program = outer.findIndex((word, i) => i > at && PROGRAM.test(word));
  const own = at < 0 || program < 0 ? '' : outer.slice(at + 1, program).join(' ');
  const said = (names) => count(own, names) ?? count(file, names);
  const nodes = said('-N|--nodes');
  if (!nodes) return words;
  const known = words.map((word) => word.replace(NODES, nodes));
  if (at < 0 || program < 0) return known; // one node starts it
  const tasks = said('--ntasks-per-node') ?? Number(said('-n|--ntasks')) / Number(nodes);
  const isOne = words.includes('torchrun'); // a task is a node's torchrun, not a device's process
  const devices = said('--gpus-per-node[= ](?:\\w+:)?|--gres[= ]gpu:(?:\\w+:)?') ?? (isOne ? 0 : tasks);
  return [
    ...(words === outer ? words.slice(0, at) : []),
    'torchrun',
    `--nnodes=${nodes}`,
    ...(devices ? [`--nproc-per-node=${devices}`] : []),
    ...(words === outer ? known.slice(program) : known),
  ];
}
