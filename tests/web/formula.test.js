import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluate, parse } from '../../web/formula/parse.js';
import { loadSlipstick } from '../support/module.js';

const value = (text, symbols = {}) => evaluate(parse(text), new Map(Object.entries(symbols)));

test('formulas keep the usual precedence', () => {
  assert.equal(value('1 + 2 * 3 - 4 / 2'), 5);
  assert.equal(value('(1 + 2) * 3'), 9);
  assert.equal(value('8 / 4 / 2'), 1);
  assert.equal(value('10 - 3 - 2'), 5);
  assert.equal(value('-a * 2', { a: 3 }), -6);
  assert.equal(value('2 * -a', { a: 3 }), -6);
});

test('functions of the language are those of the core', () => {
  assert.equal(value('max(1, a, 3)', { a: 7 }), 7);
  assert.equal(value('min(4, 2)'), 2);
  assert.equal(value('ceil(1.2) + floor(1.8)'), 3);
  assert.equal(value('pow(2, 10)'), 1024);
  assert.equal(value('norm(3, 4, 2)'), 5);
  assert.equal(value('norm(3, 4, 1)'), 7);
  assert.ok(Math.abs(value('exp(log(5)) + log2(8) + sqrt(16)') - 12) < 1e-12);
});

test('C++ spellings are read: namespaces, exponents, line breaks', () => {
  assert.equal(value('std::max(1e3,\n  2.5e2)'), 1000);
});

test('other syntax is refused', () => {
  for (const text of ['', '1 +', 'a.b', '(1', '1)', 'a b', '1 # 2', 'f('])
    assert.throws(() => parse(text), undefined, text);
  assert.throws(() => value('a'), /no value/);
  assert.throws(() => value('alert(1)'), /no function/);
});

test('every formula of the default scenario, computed anew from its values, gives the figure', async () => {
  const { slipstick } = await loadSlipstick();
  const { explanations } = JSON.parse(slipstick.evaluate('', '*'));
  assert.ok(explanations.length > 300);
  for (const { path, kind, formula, value, terms } of explanations) {
    if (kind) continue; // a choice, a constant, or the result of a procedure
    const anew = evaluate(parse(formula), new Map(terms.map((term) => [term.symbol, term.value])));
    assert.ok(
      Math.abs(anew - value) <= 1e-9 * Math.abs(value) || anew === value,
      `${path}: ${formula} is ${anew}, shown ${value}`,
    );
  }
});
