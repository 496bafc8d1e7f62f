// Positions of the groups of a mapping: ranks are numbered along `order`, innermost first, and fill the nodes in order.

// The degrees in the order of the ranks. Expert parallelism has no place in it: its groups span the others.
export function degreesOf(mapping, devices) {
  const dp = mapping.dp ?? devices / (mapping.tp * mapping.cp * mapping.pp);
  const size = { tp: mapping.tp, cp: mapping.cp, dp, pp: mapping.pp };
  return mapping.order
    .split('-')
    .filter((name) => name in size)
    .map((name) => ({ name, size: Math.max(1, Math.round(size[name] ?? 1)) }));
}

// The number of neighbors that hold all experts of a layer together.
export const expertRanks = ({ ep = 1, expert_tp: tensor = 1 }) => ep * tensor;

// Degrees of a serving replica: tensor-parallel groups, groups that share the experts, stages, then the other replicas.
export function servingDegrees(mapping, devices) {
  const { tp, pp, attention_dp: attention } = mapping;
  const sizes = { tp, attention_dp: attention, pp, dp: devices / (tp * attention * pp) };
  return Object.entries(sizes).map(([name, size]) => ({ name, size: Math.max(1, Math.round(size)) }));
}

// The degrees that a collective's group spans; if it has more ranks than these, also the next degrees.
const SPANS = {
  tp: [['tp'], ['tp', 'attention_dp']],
  cp: [['cp'], ['tp']],
  dp: [['dp'], ['cp', 'dp']],
  shard: [['dp'], ['cp', 'dp']],
  replica: [['dp'], ['cp', 'dp']],
};

const neighbors = (count, apart = 1) => Array.from({ length: count }, (_, i) => i * apart);

// The ranks of the first group of this name, with the report's number of ranks; none if the degrees do not determine
// them. Expert groups are neighbors, whatever the order of the other degrees; ranks with the same experts are `experts`
// apart, those with the same shard of them as far as the stage allows.
export function membersOf({ group, ranks }, degrees, experts = 1) {
  const all = degrees.reduce((product, { size }) => product * size, 1);
  const stage = all / (degrees.find(({ name }) => name === 'pp')?.size ?? 1);
  const strides = { ep: 1, expert_tp: 1, expert_dp: experts, expert_shard: experts, expert_replica: stage / ranks };
  const apart = strides[group];
  if (apart !== undefined) return ranks * apart <= all ? neighbors(ranks, apart) : [];
  for (const span of SPANS[group] ?? []) {
    let list = [0];
    let stride = 1;
    for (const { name, size } of degrees) {
      if (span.includes(name)) list = neighbors(size, stride).flatMap((far) => list.map((rank) => rank + far));
      stride *= size;
    }
    // Replicas are a whole shard apart; the others are neighbors.
    const every = group === 'replica' ? Math.floor(list.length / ranks) : 1;
    if (list.length >= ranks) return list.filter((_, i) => i % every === 0).slice(0, ranks);
  }
  return [];
}

// The levels of the network that join these ranks.
export function levelsAmong(ranks, networks) {
  let inside = 1;
  return networks.flatMap(({ size }, i) => {
    const unit = inside;
    inside *= i === networks.length - 1 ? Infinity : size;
    const parts = new Map();
    for (const rank of ranks) {
      const whole = Math.floor(rank / inside);
      if (!parts.has(whole)) parts.set(whole, new Set());
      parts.get(whole).add(Math.floor(rank / unit));
    }
    return [...parts.values()].some((one) => one.size > 1) ? [i] : [];
  });
}

// The rank's place in each group: {tp, cp, dp, pp}.
export function placeOf(rank, degrees) {
  /** @type {Record<string, number>} */
  const place = {};
  let rest = rank;
  for (const { name, size } of degrees) {
    place[name] = rest % size;
    rest = Math.floor(rest / size);
  }
  return place;
}

// For every group with more than one member the levels of the network that it uses: {tp: [0], dp: [0, 1]}.
export function levelsOf(degrees, networks, devices) {
  const used = {};
  let stride = 1;
  for (const { name, size } of degrees) {
    const levels = [];
    let inside = 1;
    networks.forEach((network, i) => {
      const below = inside;
      inside *= network.size;
      const last = i === networks.length - 1;
      const reach = Math.min(stride * size, devices);
      if (size > 1 && reach > below && (stride < inside || last)) levels.push(i);
    });
    if (size > 1) used[name] = levels;
    stride *= size;
  }
  return used;
}

// The nodes that a sketch shows: all, or if there are too many those with a part of the first replica. [{node,
// skipped}]: `skipped` similar nodes before this one are left out.
export function shownNodes(nodes, size, devices, degrees, most) {
  const all = Array.from({ length: nodes }, (_, node) => node);
  const first = (node) =>
    Array.from({ length: Math.min(size, devices - node * size) }, (_, i) => placeOf(node * size + i, degrees)).some(
      ({ dp }) => dp === 0,
    );
  const kept = (nodes <= most ? all : all.filter((node) => first(node) || node === nodes - 1)).slice(0, most);
  return kept.map((node, i) => ({ node, skipped: node - (i ? kept[i - 1] + 1 : 0) }));
}
