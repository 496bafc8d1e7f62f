// Texts that the Size scene accepts, and how the link keeps them.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askedOf, mixtureText, readQuestion, STANDARD, valueIn, writeQuestion } from '../../web/size/question.js';

test('a target for TPOT is a time or its inverse, the tokens that a user reads per second', () => {
  const times = {
    '40 ms': 0.04,
    '40': 0.04,
    '0.04 s': 0.04,
    '1,000 ms': 1,
    '30 tokens/s': 1 / 30,
    '30 tok/s': 1 / 30,
    '25 tokens/s/user': 1 / 25,
    '25 tokens per second per user': 1 / 25,
  };
  for (const [text, seconds] of Object.entries(times))
    assert.ok(Math.abs(valueIn('tpot', text) / seconds - 1) < 1e-12, text);
  assert.equal(valueIn('tpot', ''), null, 'no target');
});

test('a text that is not understood has no value: another unit, or a word', () => {
  for (const text of ['30 tokenss', '30 /s', '30 bananas', 'abc', '40 GB', '-3 ms', '0'])
    assert.equal(valueIn('tpot', text), undefined, text);
  assert.equal(valueIn('ttft', '30 tokens/s'), undefined, 'no speed is a time to first token');
  for (const text of ['100 users', '5 TB', 'many', '']) assert.equal(valueIn('rate', text), undefined, text);
  for (const [text, rate] of [
    ['100', 100],
    ['100/s', 100],
    ['100 requests/s', 100],
    ['2k', 2000],
  ])
    assert.equal(valueIn('rate', text), rate);
  assert.deepEqual(askedOf({ ...STANDARD, tpot: '30 tokenss', rate: 'many' }).wrong, ['rate', 'tpot']);
});

test('the link holds what was typed, slashes too', () => {
  const question = { ...STANDARD, rate: '100', tpot: '30 tokens/s' };
  assert.equal(writeQuestion(question), 'rate:100/tpot:30 tokens/s');
  assert.deepEqual(readQuestion(writeQuestion(question)), question);
  assert.deepEqual(readQuestion('rate:40/ttft:800 ms/spare:1/on:dgx-h100,dgx-b200'), {
    ...STANDARD,
    rate: '40',
    ttft: '800 ms',
    spare: '1',
    on: 'dgx-h100,dgx-b200',
  });
});

test('the peak is a ratio, or a day of rates', () => {
  const asked = (peak) => askedOf({ ...STANDARD, peak }).asked;
  assert.equal(asked('1.5').peak_over_mean, 1.5);
  assert.ok(!('day' in asked('1.5')));
  for (const text of ['1, 1, 2, 4', '1,1,2,4', '1 1 2 4', '1; 1; 2; 4']) {
    assert.deepEqual(asked(text).day, [1, 1, 2, 4], text);
    assert.ok(!('peak_over_mean' in asked(text)), text);
  }
  assert.equal(asked('1,500').peak_over_mean, 1500, 'no day of two parts');
  for (const text of ['0, 0', '1, -2', '1, many', '0.5']) assert.equal(valueIn('peak', text), undefined, text);
});

test('a mixture is a weight with the lengths of each class, and the link holds it beside the rest', () => {
  const chat = { weight: 0.7, prompt_tokens: '1000', output_tokens: '300' };
  const summary = { weight: 0.3, prompt_tokens: '8k', output_tokens: '200' };
  for (const text of ['0.7:1000/300, 0.3:8k/200', '0.7:1000/300,0.3:8k/200', ' .7 : 1000 / 300 ; 0.3:8k/200 '])
    assert.deepEqual(askedOf({ ...STANDARD, mix: text }).asked.mixture, [chat, summary], text);
  assert.ok(!('mixture' in askedOf(STANDARD).asked), 'every request alike');
  for (const text of ['0.7:1000', '1000/300', '0:1000/300', '-1:1000/300', '0.7:1000/300,', '1.2.3:10/10', 'chat'])
    assert.deepEqual(askedOf({ ...STANDARD, mix: text }).wrong, ['mix'], text);
  assert.equal(mixtureText([chat, { ...summary, weight: undefined }]), '0.7:1000/300, 1:8k/200');
  const question = { ...STANDARD, tpot: '30 tokens/s', mix: '0.7:1000/300, 0.3:8k/200', on: 'dgx-h100' };
  assert.equal(writeQuestion(question), 'tpot:30 tokens/s/mix:0.7:1000/300, 0.3:8k/200/on:dgx-h100');
  assert.deepEqual(readQuestion(writeQuestion(question)), question);
});
