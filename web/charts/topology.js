// The cluster as boxes of devices with the wires of each node, the groups of the mapping on them, and below what each group sends
// over them: pointing at a row lights the first such group and its wires.
import { svg } from '../dom.js';
import { text as format, whole } from '../text/format.js';
import {
  degreesOf,
  expertRanks,
  levelsAmong,
  levelsOf,
  membersOf,
  placeOf,
  servingDegrees,
  shownNodes,
} from './groups.js';
import { canvas, chart } from './lib/frame.js';
import { mark, marks } from './lib/marks.js';
import { usesList } from './uses.js';
import { headroom, sidesOf, wires } from './wiring.js';
import { t } from './texts.js';

const CELL = 20;
const PAD = 7;
const GAP = 16;
const NAME = 16; // height of a node's name
const BAR = 8; // room for the bar of a switch
const LARGEST_NODE = 256;
const MOST_NODES = 16;

// Runs of adjacent cells in one row that belong to the same tensor-parallel group: [[cell, …]].
function runs(cells) {
  const out = [];
  for (const cell of cells) {
    const last = out.at(-1)?.at(-1);
    if (last && cell.group === last.group && cell.row === last.row) out.at(-1).push(cell);
    else out.push([cell]);
  }
  return out.filter(({ length }) => length > 1);
}

// How a node of `count` devices is laid out: columns, the side of a place, and the place of the i-th device.
function layoutOf(level, count, width) {
  const most = Math.max(1, Math.floor((width - 2 * PAD) / CELL));
  const columns = sidesOf(level, count)?.[0] ?? Math.min(count, count > 64 ? Math.min(16, most) : 8);
  const cell = Math.min(CELL, Math.floor((width - 2 * PAD) / columns));
  const isSnake = level.topology === 'ring';
  const rows = Math.ceil(count / columns);
  const rise = headroom(level, count, columns);
  const place = (i) => {
    const row = Math.floor(i / columns);
    return { row, column: isSnake && row % 2 ? columns - 1 - (i % columns) : i % columns };
  };
  return {
    columns,
    cell,
    rise,
    place,
    wide: columns * cell + 2 * PAD,
    high: NAME + rise + rows * cell + 2 * PAD + BAR,
  };
}

function nodeBox({ x, y, name, cells, level, layout, label }) {
  const { columns, cell: size, rise, place, wide, high } = layout;
  const top = y + NAME + PAD + rise;
  const placed = cells.map((cell, i) => {
    const { row, column } = place(i);
    return { ...cell, row, left: x + PAD + column * size, top: top + row * size };
  });
  const at = (i) => [placed[i].left + size / 2, placed[i].top + size / 2];
  const box = { left: x + PAD, right: x + PAD + columns * size, bottom: y + high - BAR, rise: Math.max(0, rise - 4) };
  return mark(
    label,
    { class: 'node' },
    svg('rect', { class: 'board', x, y: y + NAME, width: wide, height: high - NAME, rx: 5 }),
    svg('text', { x: x + 2, y: y + 11 }, name),
    wires({ level, count: cells.length, at, size, box, ranks: cells.map(({ rank }) => rank) }),
    placed.map((one) =>
      svg(
        'g',
        { 'data-rank': one.rank },
        svg('rect', {
          class: one.own ? 'device own' : 'device',
          x: one.left + 2,
          y: one.top + 2,
          width: size - 4,
          height: size - 4,
          rx: 2,
        }),
        one.own &&
          svg(
            'text',
            { 'class': 'inbox', 'x': one.left + size / 2, 'y': one.top + size / 2 + 4, 'text-anchor': 'middle' },
            one.stage + 1,
          ),
      ),
    ),
    runs(placed).map((run) => {
      const left = Math.min(...run.map((one) => one.left));
      return svg('rect', {
        class: 'bond',
        x: left + 0.5,
        y: run[0].top + 0.5,
        width: run.length * size - 1,
        height: size - 1,
        rx: 3,
      });
    }),
  );
}

const spread = (values) => {
  const sorted = [...new Set(values)].sort((a, b) => a - b).map((one) => one + 1);
  return sorted.length > 1 ? `${sorted[0]}–${sorted.at(-1)}` : String(sorted[0]);
};

// The network between nodes: a bar below each row of them, a stub from every node, and what joins the bars.
function outerWires(rows, { across, wide, high, step }) {
  const lines = Math.ceil(rows.length / across);
  const wire = (d, ends) => svg('path', { 'class': 'wire outer', d, 'data-level': 1, 'data-ends': ends.join(' ') });
  const middle = (i) => (i % across) * (wide + GAP) + wide / 2;
  const below = (line) => line * step + high + GAP / 2;
  const beside = wide + GAP / 2;
  return [
    rows.map(({ cells }, i) =>
      wire(`M${middle(i)} ${below(Math.floor(i / across)) - GAP / 2}v${GAP / 2}`, [cells[0].rank, cells.at(-1).rank]),
    ),
    Array.from({ length: lines }, (_, line) => {
      const inLine = Math.min(across, rows.length - line * across);
      return wire(
        `M${middle(0)} ${below(line)}H${lines > 1 ? Math.max(beside, middle(inLine - 1)) : middle(inLine - 1)}`,
        [],
      );
    }),
    lines > 1 && wire(`M${beside} ${below(0)}V${below(lines - 1)}`, []),
  ];
}

// `mapping` is training's, or with `serving` serving's; `devices` how many it uses; `uses` its collectives. Null where a node is too large to draw.
export function topology({ id, width, cluster, mapping, devices, uses = [], serving = false }) {
  const { networks } = cluster;
  const size = Math.min(networks[0]?.size ?? 1, devices);
  if (size > LARGEST_NODE || !(devices >= 1)) return null;
  const degrees = serving ? servingDegrees(mapping, devices) : degreesOf(mapping, devices);
  const nodes = Math.ceil(devices / size);
  const layout = layoutOf(networks[0] ?? {}, size, width);
  const shown = shownNodes(
    nodes,
    size,
    devices,
    degrees,
    Math.max(2, Math.min(MOST_NODES, Math.floor(16384 / (layout.high * layout.high)) * 4)),
  );
  const across = Math.max(1, Math.floor((width + GAP) / (layout.wide + GAP)));
  const cellsOf = (node) =>
    Array.from({ length: Math.min(size, devices - node * size) }, (_, i) => {
      const rank = node * size + i;
      const { tp, ...place } = placeOf(rank, degrees);
      return {
        rank,
        own: place.dp === 0,
        stage: place.pp,
        replica: place.dp,
        group: JSON.stringify(place),
      };
    });
  const replicas = degrees.find(({ name }) => name === 'dp').size;
  const rows = shown.map(({ node }) => {
    const cells = cellsOf(node);
    return {
      node,
      cells,
      stages: spread(cells.map(({ stage }) => stage)),
      replicas: spread(cells.map(({ replica }) => replica)),
    };
  });
  const step = layout.high + GAP;
  const boxes = rows.map(({ node, cells, stages, replicas }, i) =>
    nodeBox({
      x: (i % across) * (layout.wide + GAP),
      y: Math.floor(i / across) * step,
      name: t('topology.node', { node: whole(node + 1) }),
      cells,
      level: networks[0],
      layout,
      label: t('topology.mark', { node: whole(node + 1), count: cells.length, stages, replicas }),
    }),
  );
  const height = Math.ceil(rows.length / across) * step;
  const used = levelsOf(
    degrees.filter(({ name }) => !serving || ['tp', 'pp'].includes(name)),
    networks,
    devices,
  );
  if (!serving && mapping.ep > 1)
    used.ep = levelsAmong(membersOf({ group: 'ep', ranks: expertRanks(mapping) }, degrees), networks);
  const said = networks
    .map((network, i) => ({ network, groups: Object.keys(used).filter((name) => used[name].includes(i)) }))
    .filter(({ groups }) => groups.length)
    .map(({ network, groups }) =>
      t('topology.wire', {
        name: network.name,
        bandwidth: format(network.bandwidth, 'B/s'),
        groups: groups.map((name) => t(`part.${name}`)).join(', '),
      }),
    )
    .join(' ');
  const figure = chart({
    id,
    title: t('topology.title', { nodes: whole(nodes), size: whole(size) }),
    subtitle: rows.length < nodes ? t('topology.some', { shown: rows.length, nodes: whole(nodes) }) : t('topology.all'),
    kind: 'sketch of the cluster',
    summary: t('topology.summary', {
      stages: mapping.pp,
      replicas: whole(replicas),
      wires: said,
    }),
    drawing: canvas(
      width,
      height,
      nodes > 1 && outerWires(rows, { across, ...layout, step }),
      marks(t('topology.all'), boxes),
    ),
    key: [
      { color: 'var(--c-forward)', text: t('topology.own') },
      ...(replicas > 1
        ? [{ color: 'color-mix(in srgb, var(--c-dp) 30%, var(--paper))', text: t('topology.others') }]
        : []),
      ...(mapping.tp > 1 ? [{ ring: true, text: t('topology.bond') }] : []),
    ],
    columns: [t('topology.column'), t('column.stage'), t('topology.replicas')],
    rows: rows.map(({ node, stages, replicas }) => [whole(node + 1), stages, replicas]),
  });
  if (uses.length)
    figure
      .querySelector('.key')
      .after(usesList({ id, uses, networks, degrees, experts: expertRanks(mapping), figure }));
  return figure;
}
