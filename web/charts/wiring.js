// How the devices of a node are wired, as lines between their places in a grid: a ring through all, the neighbors of a mesh or torus,
// the numbers of a hypercube that differ in one bit, every pair, or one bar that stands for switches.
import { svg } from '../dom.js';

const MOST_PAIRED = 16; // devices in a node whose pairs are still told apart
const isPowerOfTwo = (count) => (count & (count - 1)) === 0;
const SWITCHED = new Set(['switch', 'fat_tree', 'rail', 'dragonfly']);

const product = (list) => list.reduce((all, one) => all * one, 1);

// The sides of a grid that holds all `count` devices; undefined where the wiring is none or a slice of a larger one.
export function sidesOf({ topology, dims }, count) {
  if (!['mesh', 'torus'].includes(topology)) return undefined;
  const sides = dims?.length ? dims : [count];
  return product(sides) === count ? sides : undefined;
}

// Height above a node's first row of devices that its wires take.
export const headroom = (level, count, columns) =>
  ['fully_connected', 'hypercube'].includes(level.topology) && count <= MOST_PAIRED
    ? 6 + 3 * Math.min(count, columns)
    : level.topology === 'ring' && count > 2 && count <= columns
      ? 12
      : 0;

// Pairs of devices that a link joins, and single devices with a link around the edge of the grid: [{from, to}] or [{from, around}].
export function linksOf(level, count) {
  const { topology } = level;
  const all = Array.from({ length: count }, (_, i) => i);
  if (count < 2 || SWITCHED.has(topology)) return [];
  if (topology === 'fully_connected')
    return count > MOST_PAIRED ? [] : all.flatMap((from) => all.slice(from + 1).map((to) => ({ from, to })));
  if (topology === 'hypercube') {
    if (count > MOST_PAIRED || !isPowerOfTwo(count)) return [];
    const bits = all.filter((bit) => bit > 0 && isPowerOfTwo(bit));
    return all.flatMap((from) => bits.filter((bit) => !(from & bit)).map((bit) => ({ from, to: from + bit })));
  }
  if (topology === 'ring')
    return [...all.slice(1).map((to) => ({ from: to - 1, to })), ...(count > 2 ? [{ from: count - 1, to: 0 }] : [])];
  const sides = sidesOf(level, count);
  if (!sides) return [];
  const [width, height = 1] = sides;
  return all.flatMap((i) => {
    const [x, y] = [i % width, Math.floor(i / width) % height];
    const closes = (side) => topology === 'torus' && side > 2;
    return [
      x + 1 < width && { from: i, to: i + 1 },
      y + 1 < height && { from: i, to: i + width },
      closes(width) && x === 0 && { from: i, around: [-1, 0] },
      closes(width) && x === width - 1 && { from: i, around: [1, 0] },
      closes(height) && y === 0 && { from: i, around: [0, -1] },
      closes(height) && y === height - 1 && { from: i, around: [0, 1] },
    ].filter(Boolean);
  });
}

// `at(i)` is the middle of device i, `size` the side of its place, `box` {left, right, bottom, rise} of all places: `rise` is the room
// above them. `ranks` are the devices' own.
export function wires({ level, count, at, size, box, ranks }) {
  const wire = (d, ends, name = 'wire') =>
    svg('path', { 'class': name, d, 'data-level': 0, 'data-ends': ends.map((i) => ranks[i]).join(' ') });
  if (SWITCHED.has(level.topology))
    return count > 1 ? [wire(`M${box.left} ${box.bottom}H${box.right}`, [0, count - 1], 'wire bar')] : [];
  const widest = (box.right - box.left) / size - 1;
  return linksOf(level, count).map(({ from, to, around }) => {
    const [x0, y0] = at(from);
    if (around) return wire(`M${x0} ${y0}l${around[0] * (size / 2 + 3)} ${around[1] * (size / 2 + 3)}`, [from]);
    const [x1, y1] = at(to);
    const apart = Math.abs(x1 - x0) / size;
    // A link bows over the devices in between; the last row of a ring returns alongside them.
    if (y0 === y1 && apart > 1.01)
      return wire(`M${x0} ${y0 - size / 2}q${(x1 - x0) / 2} ${(-2 * box.rise * apart) / widest} ${x1 - x0} 0`, [
        from,
        to,
      ]);
    if (x0 === x1 && Math.abs(y1 - y0) > size * 1.01)
      return wire(`M${x0} ${y0}H${box.left - 3}V${y1}H${x1}`, [from, to]);
    return wire(`M${x0} ${y0}L${x1} ${y1}`, [from, to]);
  });
}
