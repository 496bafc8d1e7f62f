// Whether two models have the same shape: a catalogue entry and a config.json as the core read it. Both leave out
// members with default values; `inputs` is the core's description of its inputs.
const APART = ['model.name', 'model.preset', 'model.weights', 'model.moe.block_scales']; // a quantized copy has its own
const UNSAID = ['model.context']; // a file may leave it out

function membersOf({ ...model }) {
  const moe = model.moe && { ...model.moe };
  model.kv_heads ??= model.heads;
  model.head_dim ??= Math.floor(model.hidden / model.heads);
  if (moe) {
    moe.expert_ffn ||= model.ffn;
    moe.shared_ffn ||= (moe.shared_experts ?? 0) * moe.expert_ffn;
    model.moe = moe;
  }
  const flat = (object, path) =>
    Object.entries(object).flatMap(([name, value]) =>
      value !== null && typeof value === 'object'
        ? [[`${path}.${name}`, true], ...flat(value, `${path}.${name}`)]
        : [[`${path}.${name}`, value]],
    );
  return Object.fromEntries(flat(model, 'model'));
}

export function haveSameShape(one, other, inputs) {
  const [mine, theirs] = [membersOf(one), membersOf(other)];
  return inputs
    .filter(({ path }) => path.startsWith('model.') && !APART.includes(path))
    .filter(({ path }) => !UNSAID.includes(path) || (mine[path] && theirs[path]))
    .every(({ path, default: standard }) => (mine[path] ?? standard) === (theirs[path] ?? standard));
}
