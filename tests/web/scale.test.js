// Readable ticks: 1-2-5 steps, whole minutes and hours, GiB in powers of two.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apart, fineTicks, placer } from '../../web/charts/lib/labels.js';
import { ticks, unitLogTicks, unitTicks } from '../../web/charts/lib/scale.js';
import { nextRate } from '../../web/charts/steps.js';

test('ticks are one, two or five times a power of ten', () => {
  assert.deepEqual(ticks([0, 11], 5), [0, 5, 10]);
  assert.deepEqual(ticks([0, 1], 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(fineTicks([3, 120]), [5, 10, 20, 50, 100]);
});
test('times have ticks in minutes, hours, days', () => {
  assert.deepEqual(unitTicks([0, 900], 6, 's'), [0, 300, 600, 900]);
  assert.deepEqual(
    unitTicks([0, 4 * 86400], 4, 's'),
    [0, 1, 2, 3, 4].map((day) => day * 86400),
  );
  assert.deepEqual(unitTicks([0, 100], 5, 's'), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(unitLogTicks([50, 1500], 6, 's'), [60, 120, 300, 600, 1200]);
});
test('labels keep their distance and their order', () => {
  const placed = apart([{ at: 10 }, { at: 12 }, { at: 300 }, { at: 301 }], 15, [0, 310]).map((one) => one.placed);
  assert.ok(placed.every((y, i) => i === 0 || y - placed[i - 1] >= 15) && placed.at(-1) <= 310);
});
test('a key moves the rate to the next round one', () => {
  assert.equal(nextRate(20, 1), 25);
  assert.equal(nextRate(20, -1), 15);
  assert.equal(nextRate(100, -1), 80);
  assert.equal(nextRate(7, 1), 8);
});

test('a text takes the first place that is off lines, marks and other texts', () => {
  const box = { left: 0, right: 200, top: 0, bottom: 100 };
  const labels = placer({
    box,
    lines: [
      [
        [0, 50],
        [200, 50],
      ],
      [
        [100, 0],
        [100, 40],
      ],
      [[20, 80]],
    ],
  });
  const [onLine, above] = [
    { x: 10, y: 52 },
    { x: 10, y: 30 },
  ];
  assert.deepEqual(labels.place('words', [onLine, above]), above);
  assert.deepEqual(
    labels.place('words', [above, { x: 70, y: 30 }, { x: 120, y: 30 }]),
    { x: 120, y: 30 },
    'the first lies on a text, the second on a line',
  );
  assert.deepEqual(
    labels.place('words', [
      { x: 12, y: 84 },
      { x: 190, y: 84 },
      { 'x': 199, 'y': 84, 'text-anchor': 'end' },
    ]),
    { 'x': 199, 'y': 84, 'text-anchor': 'end' },
    'a mark, the edge',
  );
  assert.deepEqual(labels.place('words', [onLine]), onLine, 'there may be no other');
});
