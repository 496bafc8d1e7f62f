// Log-log roofline: the device's roofs and every operator as a dot at its FLOP per byte and its FLOP/s; the dot's area is its share of the
// pass, all its runs counted, and the four largest are named: on the drawing, or where it has no room for them in the key by their numbers.
// Operators of other phases than `main` are dashed rings. Caches with a stated bandwidth have a roof each; an operator that one of them
// bounds has a ring at its FLOP per byte of that cache.
/** @import {Json, Roofline} from '../types.js' */
import { svg } from '../dom.js';
import { text as format } from '../text/format.js';
import { canvas, chart } from './lib/frame.js';
import { handle, keptOf, logValueAt, stepped } from './lib/handle.js';
import { mark, marks } from './lib/marks.js';
import { near, square } from './lib/labels.js';
import { decades, log, positiveDomain, textWidth } from './lib/scale.js';
import { t } from './texts.js';

const SHAPES = {
  prefill: (x, y, r) => svg('circle', { cx: x, cy: y, r }),
  decode: (x, y, r) =>
    svg('rect', { x: x - r * 0.9, y: y - r * 0.9, width: r * 1.8, height: r * 1.8, transform: `rotate(45 ${x} ${y})` }),
  layer: (x, y, r) => svg('circle', { cx: x, cy: y, r }),
};
const NAMED = 4;
const RIDGE = 300; // px of another way that a name goes rather than lie on the ridge
const WORK = {
  gemm: 'var(--c-gemm)',
  attention: 'var(--c-attention)',
  communication: 'var(--c-reduce)',
  small_kernels: 'var(--c-launch)',
  scheduler: 'var(--c-scheduler)',
};
const colorOf = (one) => WORK[one.work] ?? COLOR[one.phase];
const COLOR = { prefill: 'var(--c-forward)', decode: 'var(--c-memory)', layer: 'var(--c-forward)' };

const ofLevel = { l1: (bytes) => bytes[0], l2: (bytes) => bytes.at(-2) };

// The ridge as a handle: horizontally it changes the memory bandwidth, vertically the peak.
function ridgeHandle({ id, peak, bandwidth, xs, ys, box, at: [across, up], onridge }) {
  const ridge = peak / bandwidth;
  let isSideways = true;
  return handle(
    {
      id,
      label: t('roofline.handle'),
      text: t('roofline.handle.value', {
        ridge: format(ridge, ''),
        peak: format(peak, 'FLOP/s'),
        bandwidth: format(bandwidth, 'B/s'),
      }),
      value: [...xs, ridge].map((one) => Number(one.toPrecision(3))).sort((a, b) => a - b),
      kept: { xs, ys, peak, bandwidth },
      ondrag([left, top], [fromLeft, fromTop], goesOn) {
        if (!goesOn) isSideways = Math.abs(left - fromLeft) >= Math.abs(top - fromTop);
        if (isSideways)
          onridge.bandwidth.set(
            Number((peak / logValueAt(xs, [box.left, box.right], across + left - fromLeft)).toPrecision(3)),
          );
        else onridge.peak.set(logValueAt(ys, [box.bottom, box.top], up + top - fromTop));
      },
      onkey([right, higher]) {
        if (right) onridge.bandwidth.set(stepped(bandwidth, -right));
        else onridge.peak.set(stepped(peak, higher));
      },
      onend() {
        onridge.bandwidth.end();
        onridge.peak.end();
      },
    },
    svg('line', { class: 'hair', x1: across, x2: across, y1: up, y2: box.bottom }),
    svg('rect', { x: across - 12, y: up - 12, width: 24, height: box.bottom - up + 12, fill: 'transparent' }),
    svg('circle', { class: 'knob', cx: across, cy: up, r: 5 }),
  );
}

// {id, title, subtitle, width, peak: FLOP/s, bandwidth: B/s, caches: [{name, bandwidth}], groups: [{phase, operators}],
// onridge: {bandwidth, peak}, each {set(value), end()}, of a ridge that can be dragged}
/** @param {Roofline} options */
export function roofline({ id, title, subtitle, width, peak, bandwidth, caches = [], groups, main, onridge }) {
  const stated = caches.filter((one) => one.bandwidth > 0);
  /** @type {Json[]} operators with their place */
  const dots = groups.flatMap(({ phase, operators }) => {
    const all = operators.reduce((sum, { time_s: time, count = 1 }) => sum + time * count, 0);
    return operators
      .filter((one) => one.flops > 0 && one.bytes > 0 && one.time_s > 0)
      .map((one) => ({
        ...one,
        phase,
        intensity: one.flops / one.bytes,
        rate: one.flops / one.time_s,
        share: (one.time_s * (one.count ?? 1)) / all,
        other: main !== undefined && phase !== main,
      }));
  });
  const ridge = peak / bandwidth;
  /** @type {Json[]} */
  const rings = dots
    .filter((one) => ofLevel[one.bound] && one.level_bytes?.length > 1)
    .map((one) => ({ ...one, intensity: one.flops / ofLevel[one.bound](one.level_bytes) }));
  const kept = keptOf(id);
  const xs = kept?.xs ?? positiveDomain([ridge * 4, ...[...dots, ...rings].map(({ intensity }) => intensity)], 0.3);
  if (!kept) xs[0] = Math.min(xs[0], ridge / 30);
  const ys = kept?.ys ?? positiveDomain([peak * 1.6, ...dots.map(({ rate }) => rate), xs[0] * bandwidth], 0.1);
  const isNarrow = width <= 500;
  const height = isNarrow ? 380 : Math.min(400, width * 0.52);
  const box = { left: isNarrow ? 66 : 88, right: width - 10, top: 14, bottom: height - 42 };
  const x = log(xs, [box.left, box.right]);
  const y = log(ys, [box.bottom, box.top]);
  const xTicks = decades(xs, isNarrow ? 4 : 8);
  const yTicks = decades(ys, 7);
  const start = Math.max(xs[0], ys[0] / bandwidth);
  const roofPoints = (top, wide) => {
    const from = Math.max(xs[0], ys[0] / wide);
    return [x(from), y(from * wide), x(top / wide), y(top), x(xs[1]), y(top)].map((one) => one.toFixed(1)).join(' ');
  };
  const slope = (y(start * bandwidth) - y(peak)) / (x(ridge) - x(start));
  const angle = (-Math.atan(slope) * 180) / Math.PI;
  const roofAt = (place) => y(peak) + Math.max(0, x(ridge) - place) * slope;
  // A roof's name along it, `above` it by some pixels.
  const alongside = (words, at, anchor, above) => {
    const turned = `rotate(${angle.toFixed(1)} ${at.toFixed(1)} ${roofAt(at).toFixed(1)})`;
    return svg(
      'text',
      { 'class': 'lab', 'x': at, 'y': roofAt(at) - above, 'text-anchor': anchor, 'transform': turned },
      words,
    );
  };
  const ridgeName = (at) => {
    const words = t('roofline.ridge', { value: format(ridge, '') });
    const fits = at + 5 + textWidth(words) <= box.right;
    return svg(
      'text',
      { 'x': fits ? at + 5 : at - 5, 'y': box.bottom - 6, 'text-anchor': fits ? 'start' : 'end' },
      words,
    );
  };
  const frame = [
    xTicks.map((value) => [
      svg('line', { class: 'grid', x1: x(value), x2: x(value), y1: box.top, y2: box.bottom }),
      svg('text', { 'x': x(value), 'y': box.bottom + 17, 'text-anchor': 'middle' }, format(value, '')),
    ]),
    yTicks.map((value) => [
      svg('line', { class: 'grid', x1: box.left, x2: box.right, y1: y(value), y2: y(value) }),
      svg(
        'text',
        { 'x': box.left - 8, 'y': y(value) + 4, 'text-anchor': 'end' },
        format(value, isNarrow ? 'F/s' : 'FLOP/s'),
      ),
    ]),
    svg('text', { 'x': box.right, 'y': height - 6, 'text-anchor': 'end' }, t('roofline.x')),
  ];
  const peakName = t('roofline.peak', { value: format(peak, 'FLOP/s') });
  const peakArea = {
    left: x(xs[1]) - 4 - textWidth(peakName),
    right: x(xs[1]),
    top: y(peak) - 18,
    bottom: y(peak) - 3,
  };
  const roof = [
    svg('polyline', { class: 'roof', points: roofPoints(peak, bandwidth) }),
    svg('text', { 'class': 'lab', 'x': x(xs[1]) - 4, 'y': y(peak) - 7, 'text-anchor': 'end' }, peakName),
    alongside(
      t('roofline.bandwidth', { value: format(bandwidth, 'B/s') }),
      isNarrow ? Math.max(x(start) + 4, box.left + 16) : x(Math.sqrt(start * ridge)),
      isNarrow ? 'start' : 'middle',
      isNarrow ? 4 : 8,
    ),
    !onridge && svg('line', { class: 'ridge', x1: x(ridge), x2: x(ridge), y1: y(peak), y2: box.bottom }),
    ridgeName(x(ridge)),
  ];
  const was = kept && svg('polyline', { class: 'ghost', points: roofPoints(kept.peak, kept.bandwidth) });
  const held = onridge && ridgeHandle({ id, peak, bandwidth, xs, ys, box, at: [x(ridge), y(peak)], onridge });
  const cacheRoofs = stated.map((one) => {
    const from = Math.max(xs[0], ys[0] / one.bandwidth);
    const to = peak / one.bandwidth;
    if (to <= from) return null;
    return [
      svg('line', { class: 'roof cache', x1: x(from), y1: y(from * one.bandwidth), x2: x(to), y2: y(peak) }),
      svg(
        'text',
        {
          'class': 'lab',
          'x': x(to) - 8,
          'y': y(peak) - 6,
          'text-anchor': 'end',
          'transform': `rotate(${angle.toFixed(1)} ${x(to).toFixed(1)} ${y(peak).toFixed(1)})`,
        },
        t('roofline.cache', { value: format(one.bandwidth, 'B/s'), name: one.name.split(' and ')[0] }),
      ),
    ];
  });
  const radius = (one) => 3 + 15 * Math.sqrt(one.share);
  const ringMarks = rings.map((one) =>
    svg('circle', { class: 'at-cache', cx: x(one.intensity), cy: y(one.rate), r: radius(one) }),
  );
  const bound = (one) => t(`bound.${one.bound}`);
  const counts = new Map();
  for (const one of dots.filter(({ other }) => !other)) counts.set(bound(one), (counts.get(bound(one)) ?? 0) + 1);
  const list = [...dots].sort((a, b) => b.share - a.share);
  const points = list.map((one) =>
    mark(
      `${t(`roofline.${one.phase}`)}, ${one.name.replaceAll('_', ' ')}: ${format(one.share, '%')}, ${one.count > 1 ? `${format(one.count, '')} × ` : ''}${format(one.time_s, 's')}, ${format(one.intensity, '')} ${t('roofline.x')}, ${format(one.rate, 'FLOP/s')}, ${bound(one)}`,
      one.other ? { class: 'dot other', fill: 'transparent' } : { class: 'dot', fill: colorOf(one) },
      SHAPES[one.phase](x(one.intensity), y(one.rate), radius(one)),
    ),
  );
  const named = list.filter((one) => !one.other).slice(0, NAMED);
  const nameOf = (one) => `${one.name.replaceAll('_', ' ')} ${format(one.share, '%')}`;
  // Names are under the roof, off the marks and the ridge; if not all find such a position, their numbers do.
  const isOnRidge = (left, right) => left < x(ridge) + 4 && x(ridge) < right + 4;
  const crossed = ({ left, right, top }) =>
    (isOnRidge(left, right) ? RIDGE : 0) + 4 * Math.max(0, roofAt(left) + 3 - top);
  const placed = (wordsOf) =>
    near(
      named.map((one, i) => ({ words: wordsOf(one, i), x: x(one.intensity), y: y(one.rate), r: radius(one) })),
      {
        box: { ...box, bottom: box.bottom - 18 },
        taken: [peakArea, ...dots.map((one) => square(x(one.intensity), y(one.rate), radius(one)))],
        cost: crossed,
      },
    );
  const inWords = isNarrow ? [] : placed(nameOf);
  const isNumbered =
    inWords.length < named.length || inWords.some(({ left, words }) => isOnRidge(left, left + textWidth(words)));
  const spots = isNumbered ? placed((_, i) => String(i + 1)) : inWords;
  const signOf = (one) => spots.find(({ words }) => words === String(named.indexOf(one) + 1))?.words;
  const names = spots.map((one) => [
    one.leader && svg('path', { class: 'leader', d: one.leader }),
    svg('text', { class: 'lab halo', x: one.left, y: one.base }, one.words),
  ]);
  return chart({
    id,
    title,
    subtitle,
    kind: 'roofline chart',
    summary: t('summary.roofline', { list: [...counts].map(([name, count]) => `${count} ${name}`).join(', ') }),
    hint: onridge && t('roofline.drag'),
    drawing: canvas(width, height, frame, was, roof, cacheRoofs, ringMarks, held, marks(title, points), names),
    key: [
      ...(isNumbered ? named.map((one) => ({ sign: signOf(one), color: colorOf(one), text: nameOf(one) })) : []),
      ...(main ? Object.keys(WORK) : [])
        .filter((work) => dots.some((one) => one.work === work && !one.other))
        .map((work) => ({ color: WORK[work], text: t(`work.${work}`) })),
      ...groups
        .filter(({ phase }) => main && phase !== main)
        .map(({ phase }) => ({
          color: 'none',
          dashed: true,
          text: t('roofline.dashed', { phase: t(`roofline.${phase}`) }),
        })),
      ...(main || groups.length < 2 ? [] : groups).map(({ phase }) => ({
        color: COLOR[phase],
        text: `${phase === 'decode' ? '◆' : '●'} ${t(`roofline.${phase}`)}`,
      })),
    ],
    columns: [
      t('column.operator'),
      t('column.phase'),
      t('column.flops'),
      t('column.bytes'),
      t('column.time'),
      t('column.bound'),
    ],
    rows: groups.flatMap(({ phase, operators }) =>
      operators.map((one) => [
        one.name,
        t(`roofline.${phase}`),
        { value: one.flops, unit: 'FLOP' },
        { value: one.bytes, unit: 'B' },
        { value: one.time_s, unit: 's' },
        bound(one),
      ]),
    ),
  });
}
