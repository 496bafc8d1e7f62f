// The cluster as boxes of devices, with the groups of the mapping on them: which devices hold one copy of the model, which share
// its layers, and over which wires each group speaks.
import { svg } from '../dom.js';
import { text as format, whole } from '../text/format.js';
import { t } from '../text/strings.js';
import { degreesOf, levelsOf, placeOf, shownNodes } from './groups.js';
import { canvas, chart } from './lib/frame.js';
import { mark, marks } from './lib/marks.js';

const CELL = 20;
const PAD = 7;
const GAP = 14;
const LARGEST_NODE = 256;
const MOST_NODES = 16;

// Runs of neighbouring cells in one row that belong to the same tensor-parallel group: [from, to].
function runs(cells, columns) {
  const out = [];
  cells.forEach((cell, i) => {
    const last = out.at(-1);
    if (last && cell.group === last.group && i % columns !== 0) last.to = i;
    else out.push({ group: cell.group, from: i, to: i });
  });
  return out;
}

function nodeBox({ x, y, name, cells, columns, label }) {
  const at = (i) => [x + PAD + (i % columns) * CELL, y + PAD + 16 + Math.floor(i / columns) * CELL];
  const rows = Math.ceil(cells.length / columns);
  return mark(
    label,
    { class: 'node' },
    svg('rect', { class: 'board', x, y: y + 16, width: columns * CELL + 2 * PAD, height: rows * CELL + 2 * PAD, rx: 5 }),
    svg('text', { x: x + 2, y: y + 11 }, name),
    cells.map((cell, i) => {
      const [left, top] = at(i);
      return [
        svg('rect', { class: cell.own ? 'device own' : 'device', x: left + 2, y: top + 2, width: CELL - 4, height: CELL - 4, rx: 2 }),
        cell.own && svg('text', { class: 'inbox', x: left + CELL / 2, y: top + CELL / 2 + 4, 'text-anchor': 'middle' }, cell.stage + 1),
      ];
    }),
    runs(cells, columns).map(({ from, to }) => {
      const [left, top] = at(from);
      return from === to
        ? null
        : svg('rect', { class: 'bond', x: left + 0.5, y: top + 0.5, width: (to - from + 1) * CELL - 1, height: CELL - 1, rx: 3 });
    }),
  );
}

const spread = (values) => {
  const sorted = [...new Set(values)].sort((a, b) => a - b).map((one) => one + 1);
  return sorted.length > 1 ? `${sorted[0]}–${sorted.at(-1)}` : String(sorted[0]);
};

// `mapping` is training's, `devices` how many it uses; null where a node is too large to draw.
export function topology({ id, width, cluster, mapping, devices }) {
  const { networks } = cluster;
  const size = Math.min(networks[0]?.size ?? 1, devices);
  if (size > LARGEST_NODE || !(devices >= 1)) return null;
  const degrees = degreesOf(mapping, devices);
  const nodes = Math.ceil(devices / size);
  const columns = Math.min(size, size > 64 ? Math.min(16, Math.floor((width - 2 * PAD) / CELL)) : 8);
  const boxWide = columns * CELL + 2 * PAD;
  const boxHigh = Math.ceil(size / columns) * CELL + 2 * PAD + 16;
  const shown = shownNodes(nodes, size, devices, degrees, Math.max(2, Math.min(MOST_NODES, Math.floor(16384 / (boxHigh * boxHigh)) * 4)));
  const across = Math.max(1, Math.floor((width + GAP) / (boxWide + GAP)));
  const cellsOf = (node) =>
    Array.from({ length: Math.min(size, devices - node * size) }, (_, i) => {
      const rank = node * size + i;
      const place = placeOf(rank, degrees);
      return { ...place, own: place.dp === 0 && place.ep === 0, stage: place.pp, group: `${place.cp} ${place.ep} ${place.dp} ${place.pp}` };
    });
  const replicaOf = ({ dp, ep }) => dp * (mapping.ep ?? 1) + ep;
  const rows = shown.map(({ node }) => {
    const cells = cellsOf(node);
    return { node, cells, stages: spread(cells.map(({ stage }) => stage)), replicas: spread(cells.map(replicaOf)) };
  });
  const boxes = rows.map(({ node, cells, stages, replicas }, i) =>
    nodeBox({
      x: (i % across) * (boxWide + GAP),
      y: Math.floor(i / across) * (boxHigh + GAP),
      name: t('topology.node', { node: whole(node + 1) }),
      cells,
      columns,
      label: t('topology.mark', { node: whole(node + 1), count: cells.length, stages, replicas }),
    }),
  );
  const height = Math.ceil(rows.length / across) * (boxHigh + GAP);
  const used = levelsOf(degrees, networks, devices);
  const wires = networks
    .map((network, i) => ({ network, groups: Object.keys(used).filter((name) => used[name].includes(i)) }))
    .filter(({ groups }) => groups.length);
  const said = wires
    .map(({ network, groups }) =>
      t('topology.wire', {
        name: network.name,
        bandwidth: format(network.bandwidth, 'B/s'),
        groups: groups.map((name) => t(`part.${name}`)).join(', '),
      }),
    )
    .join(' ');
  return chart({
    id,
    title: t('topology.title', { nodes: whole(nodes), size: whole(size) }),
    subtitle: rows.length < nodes ? t('topology.some', { shown: rows.length, nodes: whole(nodes) }) : t('topology.all'),
    kind: 'sketch of the cluster',
    summary: t('topology.summary', { stages: mapping.pp, replicas: whole(Math.round(devices / (mapping.tp * mapping.cp * mapping.pp))), wires: said }),
    drawing: canvas(width, height, marks(t('topology.all'), boxes)),
    key: [
      { color: 'var(--c-forward)', text: t('topology.own') },
      { color: 'color-mix(in srgb, var(--c-dp) 30%, var(--paper))', text: t('topology.others') },
      ...(mapping.tp > 1 ? [{ ring: true, text: t('topology.bond') }] : []),
    ],
    columns: [t('topology.column'), t('column.stage'), t('topology.replicas')],
    rows: rows.map(({ node, stages, replicas }) => [whole(node + 1), stages, replicas]),
  });
}
