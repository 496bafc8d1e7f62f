// Explanations of the core as formulas: with symbols and with the scenario's values.
import { math } from '../dom.js';
import { draw, symbol } from '../formula/mathml.js';
import { parse } from '../formula/parse.js';
import { parts } from '../text/format.js';

const unitMath = (unit) => math('mtext', { class: 'unit' }, `\u00a0${unit}`);

function valueMath(value, unit, origin) {
  const { number, unit: shown } = parts(value, unit);
  const match = /^(-?[\d.,]+)e(-?\d+)$/.exec(number);
  const digits = match
    ? math(
        'mrow',
        {},
        math('mn', {}, match[1]),
        math('mo', {}, '·'),
        math('msup', {}, math('mn', {}, '10'), math('mn', {}, match[2])),
      )
    : math('mn', {}, number);
  return math('mrow', { 'data-origin': origin || undefined, 'class': 'given' }, digits, shown && unitMath(shown));
}

// The addends of a sum with their signs, so that a long formula can break between them.
function addends(tree) {
  if (tree.kind !== 'binary' || (tree.op !== '+' && tree.op !== '-')) return [{ sign: '', tree }];
  return [...addends(tree.left), { sign: tree.op === '-' ? '−' : '+', tree: tree.right }];
}

// {symbols, values}: one explanation as lists of <math> elements; values are null if the formula cannot be parsed.
export function formulas(explanation) {
  const terms = new Map(explanation.terms.map((term) => [term.symbol, term]));
  const left = () => symbol(explanation.symbol, { class: 'result' });
  const piece = (...children) => math('math', { displaystyle: 'true' }, math('mrow', {}, children));
  const sum = (leaf, end) => {
    const list = addends(tree);
    const term = ({ sign, tree: one }) => {
      const drawn = draw(one, leaf);
      const grouped = sign === '−' && one.kind === 'binary' && (one.op === '+' || one.op === '-');
      return grouped ? [math('mo', {}, '('), drawn, math('mo', {}, ')')] : drawn;
    };
    const pieces = list.map((one, i) =>
      piece(i === 0 ? [left(), math('mo', {}, '=')] : math('mo', { form: 'infix' }, one.sign), term(one)),
    );
    return end ? [...pieces, piece(math('mo', { form: 'infix' }, '='), end)] : pieces;
  };
  let tree;
  try {
    tree = parse(explanation.formula);
  } catch {
    return { symbols: [piece(left(), math('mo', {}, '='), math('mtext', {}, explanation.formula))], values: null };
  }
  const symbols = sum((name) =>
    symbol(name, { 'data-origin': terms.get(name)?.origin || undefined, 'class': 'given' }),
  );
  const given = (name) =>
    terms.has(name) ? valueMath(terms.get(name).value, terms.get(name).unit, terms.get(name).origin) : symbol(name);
  return { symbols, values: sum(given, valueMath(explanation.value, explanation.unit)) };
}
