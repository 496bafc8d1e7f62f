// A package to scale: dies cut into what their area serves, memory stacks beside them; below, what the power and the die edge are spent on.
// Every border that an input sets is a handle.
import { svg } from '../dom.js';
import { number, text as format } from '../text/format.js';
import { t } from './texts.js';
import { canvas, chart } from './lib/frame.js';
import { handle } from './lib/handle.js';
import { mark, marks } from './lib/marks.js';

const WIDEST = 560; // px
const BAR = 22;
const LINE = 20; // of text over a bar
const COLORS = {
  core: 'var(--c-logic)',
  l2: 'var(--c-dp)',
  memory: 'var(--c-memory-stacks)',
  network: 'var(--c-package)',
  rest: 'var(--c-test)',
};
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
// Down, so that the shares of a budget never sum to more than all of it.
const rounded = (share) => Math.floor(share * 1e4 + 1e-6) / 1e4;
const percent = (share) => `${number(100 * share)}\u00a0%`;

// Positions in mm, to scale: memory in a column on each side of the dies.
function layout({ packageArea, area, sites, siteArea }) {
  const left = Math.ceil(sites / 2);
  const high = clamp(left * Math.sqrt(siteArea), Math.sqrt(area), 1.5 * Math.sqrt(packageArea));
  const wide = packageArea / high;
  const deep = sites * siteArea > 0 ? [(left * siteArea) / high, ((sites - left) * siteArea) / high] : [0, 0];
  const room = Math.max(wide - deep[0] - deep[1], 1);
  const dieHigh = Math.min(high, Math.max(Math.sqrt(area), area / room));
  const dieWide = area / dieHigh;
  const stacks = Array.from({ length: sites }, (_, i) => {
    const [side, row, rows] = i % 2 === 0 ? [0, i / 2, left] : [1, (i - 1) / 2, sites - left];
    return { x: side === 0 ? 0 : wide - deep[1], y: (row * high) / rows, wide: deep[side], high: high / rows };
  });
  return {
    wide,
    high,
    stacks,
    die: { x: deep[0] + (room - dieWide) / 2, y: (high - dieHigh) / 2, wide: dieWide, high: dieHigh },
  };
}

// The uses of the die area, as rectangles of the die: memory at its sides, network on top, the rest below, L2 amid the
// cores.
function floorplan({ core, l2, memory, network }, { x, y, wide, high }) {
  const inner = 1 - memory;
  const tall = (share) => (high * share) / inner;
  const [left, width] = [x + (wide * memory) / 2, wide * inner];
  const rest = Math.max(0, inner - core - l2 - network);
  const top = y + tall(network);
  const cache = top + tall(core) / 2;
  return {
    left,
    width,
    tall,
    rest,
    cache: cache + tall(l2) / 2,
    network: top,
    bottom: y + high - tall(rest),
    parts: [
      ['memory', x, y, left - x, high],
      ['memory', left + width, y, left - x, high],
      ['network', left, y, width, tall(network)],
      ['core', left, top, width, tall(core) / 2],
      ['l2', left, cache, width, tall(l2)],
      ['core', left, cache + tall(l2), width, tall(core) / 2],
      ['rest', left, y + high - tall(rest), width, tall(rest)],
    ],
  };
}

// Lines that cut the dies apart, in a grid as square as their number allows.
function cuts(count, { x, y, wide, high }) {
  let rows = Math.floor(Math.sqrt(count));
  while (count % rows) rows--;
  const columns = count / rows;
  return [
    ...Array.from({ length: columns - 1 }, (_, i) => `M${x + ((i + 1) * wide) / columns} ${y}v${high}`),
    ...Array.from({ length: rows - 1 }, (_, i) => `M${x} ${y + ((i + 1) * high) / rows}h${wide}`),
  ].join('');
}

const FINGER = 26; // px, a little more than the least that is pressed at ease
const grip = ({ x1, y1, x2, y2 }) => {
  const [width, height] = [Math.max(FINGER, x2 - x1), Math.max(FINGER, y2 - y1)];
  return { x: (x1 + x2 - width) / 2, y: (y1 + y2 - height) / 2, width, height };
};

// One slider: its line or corner, wide enough for a finger, and a knob. `value` and `set` are in the unit that `say` writes.
function slider(id, { name, label, value, low, high, step, at, set, end, line, vertical, fromPlace }) {
  const { x1, y1, x2, y2 } = line;
  const move = (next) => set(clamp(next, low, high));
  const element = handle(
    {
      id: `${id}-${name}`,
      label,
      text: at(value),
      value: [rounded(low), rounded(value), rounded(high)],
      ondrag: (place, start) => move(fromPlace(place, start, value)),
      onkey: ([right, up]) => move(value + (right + up) * step),
      onend: end,
    },
    svg('line', { class: 'hair', x1, y1, x2, y2 }),
    svg('rect', { ...grip(line), fill: 'transparent' }),
    svg('circle', { class: 'knob', cx: (x1 + x2) / 2, cy: (y1 + y2) / 2, r: 5 }),
  );
  element.classList.toggle('upright', Boolean(vertical));
  return element;
}

// {chip: {packageArea, area, dies, sites, stacks, siteArea, power, edge, split: {area, power, edge}}, limit: the budget that limits it,
// set(changes, by path below the design), end(), isFixed}
export function packageDrawing({
  id,
  title,
  subtitle,
  width,
  chip,
  limit,
  summary,
  set,
  end,
  isFixed,
  controls,
  hint,
}) {
  const { split } = chip;
  const size = Math.min(width, WIDEST);
  const plan = layout(chip);
  const scale = Math.min((size - 16) / plan.wide, 400 / plan.high);
  const mm = (value) => value * scale;
  const place = { x: (size - mm(plan.wide)) / 2, y: 8 };
  const box = ({ x, y, wide, high }) => ({ x: place.x + mm(x), y: place.y + mm(y), wide: mm(wide), high: mm(high) });
  const die = box(plan.die);
  const floor = floorplan(split.area, die);
  const { network, memory, l2, core } = split.area;
  const free = () => 1 - network - memory - l2 - core;
  const bottom = place.y + mm(plan.high);
  // Area that one part gains is taken from the cores.
  const give = (part, share) => {
    const next = Math.min(share, split.area[part] + core - 0.01);
    set({ [`area_split.${part}`]: rounded(next), 'area_split.core': rounded(core - (next - split.area[part])) });
  };
  const area = [
    {
      name: 'memory',
      part: 'memory',
      line: { x1: floor.left, y1: die.y, x2: floor.left, y2: die.y + die.high },
      fromPlace: ([x], [x0], from) => from + (2 * (x - x0)) / die.wide,
      set: (share) => give('memory', share),
      vertical: false,
    },
    {
      name: 'network',
      part: 'network',
      line: { x1: floor.left, y1: floor.network, x2: floor.left + floor.width, y2: floor.network },
      fromPlace: ([, y], [, y0], from) => from + (y - y0) / floor.tall(1),
      set: (share) => give('network', share),
      vertical: true,
    },
    {
      name: 'l2',
      part: 'l2',
      line: {
        x1: floor.left,
        y1: floor.cache + floor.tall(l2) / 2,
        x2: floor.left + floor.width,
        y2: floor.cache + floor.tall(l2) / 2,
      },
      fromPlace: ([, y], [, y0], from) => from + (2 * (y - y0)) / floor.tall(1),
      set: (share) => give('l2', share),
      vertical: true,
    },
    {
      name: 'core',
      part: 'core',
      line: { x1: floor.left, y1: floor.bottom, x2: floor.left + floor.width, y2: floor.bottom },
      fromPlace: ([, y], [, y0], from) => from + (y - y0) / floor.tall(1),
      set: (share) => set({ 'area_split.core': rounded(Math.min(share, core + free())) }),
      vertical: true,
    },
  ].map((one) =>
    slider(id, {
      ...one,
      label: t(`package.area.${one.part}`),
      value: split.area[one.part],
      low: 0.01,
      high: 0.95,
      step: 0.01,
      at: percent,
      end,
    }),
  );
  const outline = [
    slider(id, {
      name: 'die',
      label: t('package.die'),
      value: chip.area,
      low: 50,
      high: 3200,
      step: 10,
      at: (value) => format(value, 'mm^2'),
      end,
      vertical: false,
      line: {
        x1: die.x + die.wide,
        y1: die.y + die.high / 2 - 12,
        x2: die.x + die.wide,
        y2: die.y + die.high / 2 + 12,
      },
      fromPlace: ([x], [x0], from) => (Math.sqrt(from) + (2 * (x - x0)) / scale) ** 2,
      set: (value) => set({ area: `${Math.round(value)} mm^2` }),
    }),
    slider(id, {
      name: 'package',
      label: t('package.package'),
      value: chip.packageArea,
      low: 200,
      high: 8000,
      step: 20,
      at: (value) => format(value, 'mm^2'),
      end,
      vertical: true,
      line: { x1: place.x + mm(plan.wide) / 2 - 14, y1: bottom, x2: place.x + mm(plan.wide) / 2 + 14, y2: bottom },
      fromPlace: ([, y], [, y0], from) => from * (1 + (y - y0) / mm(plan.high)),
      set: (value) => set({ package_area: `${Math.round(value)} mm^2` }),
    }),
    chip.sites > 0 &&
      chip.siteArea > 0 &&
      slider(id, {
        name: 'stacks',
        label: t('package.stacks'),
        value: chip.stacks,
        low: 1,
        high: chip.sites,
        step: 1,
        at: (value) => number(value),
        end,
        vertical: true,
        line: (({ x, y, wide, high }) => ({
          x1: x + wide / 2 - 8,
          y1: y + high / 2,
          x2: x + wide / 2 + 8,
          y2: y + high / 2,
        }))(box(plan.stacks[chip.stacks - 1] ?? plan.stacks[0])),
        fromPlace: ([, y], [, y0], from) => from + (y - y0) / (mm(plan.high) / chip.sites),
        set: (value) => set({ stacks: String(Math.round(value)) }),
      }),
  ];
  // A budget as a bar: a border moves the shares on its two sides, the last border the unused rest.
  const bar = (budget, top, total) => {
    const shares = Object.entries(split[budget]);
    let x = 8;
    const long = size - 16;
    const rest = 1 - shares.reduce((sum, [, share]) => sum + share, 0);
    const all = [...shares, ['rest', Math.max(0, rest)]];
    const drawn = all.map(([part, share]) => {
      const rect = svg('rect', {
        class: `part ${limit === budget ? 'limits' : ''}`,
        x,
        y: top + LINE,
        width: long * share,
        height: BAR,
        fill: COLORS[part],
      });
      x += long * share;
      return mark(`${t(`package.part.${part}`)}: ${percent(share)}`, {}, rect);
    });
    let right = 8;
    const borders = shares.map(([part, share], i) => {
      right += long * share;
      const next = all[i + 1];
      return slider(id, {
        name: `${budget}-${part}`,
        label: t(`package.${budget}.${part}`),
        value: share,
        low: 0.001,
        high: share + next[1] - (next[0] === 'rest' ? 0 : 0.001),
        step: 0.01,
        at: percent,
        end,
        vertical: false,
        line: { x1: right, y1: top + LINE - 3, x2: right, y2: top + LINE + BAR + 3 },
        fromPlace: ([at], [start], from) => from + (at - start) / long,
        set: (value) =>
          set({
            [`${budget}_split.${part}`]: rounded(value),
            ...(next[0] === 'rest'
              ? {}
              : { [`${budget}_split.${next[0]}`]: rounded(next[1] - (rounded(value) - share)) }),
          }),
      });
    });
    return [svg('text', { class: 'lab', x: 8, y: top + LINE - 7 }, total), marks(total, drawn), borders];
  };
  const barsTop = bottom + 18;
  const second = barsTop + LINE + BAR + 12;
  const height = second + LINE + BAR + 10;
  const partMark = ([part, x, y, wide, high]) =>
    mark(
      `${t(`package.part.${part}`)}: ${percent(part === 'rest' ? floor.rest : split.area[part])}, ${format((part === 'rest' ? floor.rest : split.area[part]) * chip.area, 'mm^2')}`,
      {},
      svg('rect', { class: 'part', x, y, width: Math.max(0, wide), height: Math.max(0, high), fill: COLORS[part] }),
    );
  const drawing = canvas(
    size,
    height,
    svg('rect', {
      class: `carrier ${limit === 'package_area' ? 'limits' : ''}`,
      x: place.x,
      y: place.y,
      width: mm(plan.wide),
      height: mm(plan.high),
      rx: 3,
    }),
    marks(
      title,
      plan.stacks.map((stack, i) => {
        const { x, y, wide, high } = box(stack);
        return mark(
          t(i < chip.stacks ? 'package.stack' : 'package.site', { i: i + 1, memory: chip.memory }),
          {},
          svg('rect', {
            class: i < chip.stacks ? 'stack' : 'stack spare',
            x: x + 1.5,
            y: y + 1.5,
            width: Math.max(0, wide - 3),
            height: Math.max(0, high - 3),
            rx: 2,
          }),
        );
      }),
      floor.parts.map(partMark),
    ),
    svg('rect', {
      class: `outline ${limit === 'area' || limit === 'edge' ? 'limits' : ''}`,
      x: die.x,
      y: die.y,
      width: die.wide,
      height: die.high,
    }),
    chip.dies > 1 && svg('path', { class: 'cut', d: cuts(chip.dies, die) }),
    bar('power', barsTop, t('package.power', { power: format(chip.power, 'W') })),
    bar('edge', second, t('package.edge', { edge: format(chip.edge, 'mm') })),
    isFixed ? null : [area, outline],
  );
  return chart({
    id,
    title,
    subtitle,
    kind: 'package drawing',
    controls,
    summary,
    hint,
    drawing,
    key: Object.entries(COLORS).map(([part, color]) => ({ color, text: t(`package.part.${part}`) })),
    columns: [t('package.column'), t('package.column.area'), t('package.column.power'), t('package.column.edge')],
    rows: Object.keys(COLORS)
      .filter((part) => part !== 'rest')
      .map((part) => [
        t(`package.part.${part}`),
        ...['area', 'power', 'edge'].map((budget) =>
          split[budget][part] === undefined ? '–' : percent(split[budget][part]),
        ),
      ]),
  });
}
