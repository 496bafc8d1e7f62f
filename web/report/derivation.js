// Explanations of the core as formulas: with symbols, with the scenario's values, and the graph of what rests on what.
import { math } from '../dom.js';
import { draw, symbol } from '../formula/mathml.js';
import { parse } from '../formula/parse.js';
import { parts } from '../text/format.js';

export function byPath(explanations) {
  return new Map((explanations ?? []).map((one) => [one.path, one]));
}

const unitMath = (unit) => math('mtext', { class: 'unit' }, `\u00a0${unit}`);

function valueMath(value, unit, origin) {
  const { number, unit: shown } = parts(value, unit);
  const match = /^(-?[\d.,]+)e(-?\d+)$/.exec(number);
  const digits = match ? math('mrow', {}, math('mn', {}, match[1]), math('mo', {}, '·'), math('msup', {}, math('mn', {}, '10'), math('mn', {}, match[2]))) : math('mn', {}, number);
  return math('mrow', { 'data-origin': origin || undefined, class: 'given' }, digits, shown && unitMath(shown));
}

// {symbols, values}: two <math> elements of one explanation.
export function formulas(explanation) {
  const terms = new Map(explanation.terms.map((term) => [term.symbol, term]));
  const left = () => symbol(explanation.symbol, { class: 'result' });
  const wrap = (right) => math('math', { display: 'block' }, math('mrow', {}, left(), math('mo', {}, '='), right));
  let tree;
  try {
    tree = parse(explanation.formula);
  } catch {
    return { symbols: wrap(math('mtext', {}, explanation.formula)), values: null };
  }
  const symbols = wrap(draw(tree, (name) => symbol(name, { 'data-origin': terms.get(name)?.origin || undefined, class: 'given' })));
  const filled = draw(tree, (name) => (terms.has(name) ? valueMath(terms.get(name).value, terms.get(name).unit, terms.get(name).origin) : symbol(name)));
  const values = wrap(math('mrow', {}, filled, math('mo', {}, '='), valueMath(explanation.value, explanation.unit)));
  return { symbols, values };
}

// Every path below a figure, down to inputs: {figures, inputs}.
export function restsOn(explanations, path) {
  const figures = new Set();
  const inputs = new Set();
  const open = [path];
  while (open.length) {
    const one = explanations.get(open.pop());
    if (!one || figures.has(one.path)) continue;
    figures.add(one.path);
    for (const { origin } of one.terms) {
      if (!origin) continue;
      if (explanations.has(origin)) open.push(origin);
      else inputs.add(origin);
    }
  }
  return { figures, inputs };
}

// The figures that an input reaches.
export function restingOn(explanations, input) {
  const reached = new Set();
  for (const path of explanations.keys()) if (restsOn(explanations, path).inputs.has(input)) reached.add(path);
  return reached;
}
