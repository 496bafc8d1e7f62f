// Exercises: numbers for each student, a right answer, and a code that a teacher checks without a server.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  codeOf,
  digest,
  isRightChoice,
  isRightValue,
  numbersOf,
  triesOf,
  writeVaried,
} from '../../web/state/exercise.js';

const VALUES = ['8', '16', '32', '64'];
const EXERCISE = {
  question: 'How long does a token take?',
  right: '',
  figure: 'serving.tpot_s',
  vary: writeVaried([
    ['serving.concurrency', ' 8, 16 ,32,64'],
    ['', '1,2'],
    ['serving.prompt', ''],
  ]),
};

test('a student draws the same numbers again, however the name is written; a class draws all of them', () => {
  assert.equal(EXERCISE.vary, 'serving.concurrency:8,16,32,64');
  const drawn = numbersOf(EXERCISE, 'Ana  Lima');
  assert.deepEqual(numbersOf(EXERCISE, ' ana lima '), drawn);
  assert.deepEqual(Object.keys(drawn), ['serving.concurrency']);
  const counts = new Map(VALUES.map((value) => [value, 0]));
  for (let i = 0; i < 400; i++) {
    const value = numbersOf(EXERCISE, `student ${i}`)['serving.concurrency'];
    counts.set(value, counts.get(value) + 1);
  }
  // 100 of each are expected; the tolerance is five standard deviations of 8.7.
  for (const [value, count] of counts) assert.ok(Math.abs(count - 100) < 44, `${value}: ${count}`);
});

test('a code is valid for one exercise, one student and one number of tries', () => {
  const code = codeOf(EXERCISE, 'Ana', 2);
  assert.match(code, /^[A-Z2-9]{4}-[A-Z2-9]{4}$/);
  assert.equal(triesOf(EXERCISE, 'ana', ` ${code.toLowerCase()} `), 2);
  assert.equal(triesOf(EXERCISE, 'Ben', code), 0);
  assert.equal(triesOf({ ...EXERCISE, figure: 'serving.ttft_s' }, 'Ana', code), 0);
  assert.equal(triesOf(EXERCISE, 'Ana', ''), 0);
  const all = new Set(Array.from({ length: 2000 }, (_, i) => codeOf(EXERCISE, `student ${i}`, 1)));
  assert.equal(all.size, 2000);
});

test('the right choice is recognized by its text, which the link does not contain', () => {
  const right = digest('half as long');
  assert.ok(isRightChoice({ right }, 'half as long '));
  assert.equal(isRightChoice({ right }, 'twice as long'), false);
});

test('a value is right within 2 %', () => {
  assert.ok(isRightValue(0.0217, 0.02166));
  assert.ok(isRightValue(1.019, 1));
  assert.equal(isRightValue(1.03, 1), false);
  assert.equal(isRightValue(0.97, 1), false);
});
