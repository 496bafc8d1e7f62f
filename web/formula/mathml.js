// A formula's tree as MathML; `leaf(name)` makes what stands for a symbol: its name, or its value with the unit.
import { math } from '../dom.js';

const row = (...children) => math('mrow', {}, children);
const op = (text, attributes) => math('mo', attributes, text);
const fenced = (inner, open = '(', close = ')') => row(op(open), inner, op(close));

const LEVEL = { '+': 1, '-': 1, '*': 2, '/': 2 };
const level = (tree) => (tree.kind === 'binary' ? LEVEL[tree.op] : tree.kind === 'minus' ? 1 : 3);

export function draw(tree, leaf) {
  const inside = (one, least) => (level(one) < least ? fenced(draw(one, leaf)) : draw(one, leaf));
  switch (tree.kind) {
    case 'number':
      return math('mn', {}, String(tree.value));
    case 'symbol':
      return leaf(tree.name);
    case 'minus':
      return row(op('−', { form: 'prefix' }), inside(tree.of, 2));
    case 'call':
      return call(tree, leaf);
    default:
      if (tree.op === '/') return math('mfrac', {}, draw(tree.left, leaf), draw(tree.right, leaf));
      if (tree.op === '*') return row(inside(tree.left, 2), op('·'), inside(tree.right, 2));
      return row(draw(tree.left, leaf), op(tree.op === '-' ? '−' : '+'), inside(tree.right, tree.op === '-' ? 2 : 1));
  }
}

function call({ name, args }, leaf) {
  const drawn = args.map((one) => draw(one, leaf));
  switch (name) {
    case 'sqrt':
      return math('msqrt', {}, drawn);
    case 'pow':
      return math('msup', {}, level(args[0]) < 3 || args[0].kind === 'call' ? fenced(drawn[0]) : drawn[0], drawn[1]);
    case 'ceil':
      return fenced(drawn[0], '⌈', '⌉');
    case 'floor':
      return fenced(drawn[0], '⌊', '⌋');
    case 'norm':
      return norm(args, leaf);
    case 'log2':
      return row(math('msub', {}, math('mi', {}, 'log'), math('mn', {}, '2')), fenced(drawn[0]));
    default:
      return row(
        math('mi', {}, name),
        fenced(row(drawn.flatMap((one, i) => (i ? [op(',', { separator: 'true' }), one] : [one])))),
      );
  }
}

// (aᵖ + bᵖ)^(1/p)
function norm([a, b, p], leaf) {
  const power = (base) => math('msup', {}, fenced(draw(base, leaf)), draw(p, leaf));
  return math('msup', {}, fenced(row(power(a), op('+'), power(b))), row(math('mn', {}, '1'), op('/'), draw(p, leaf)));
}

// "memory_time" in upright words; a single letter before the first underscore carries the rest as its index: t_link. Words are
// identifiers, not text: beside text alone an operator would give its space away.
export function symbol(name, attributes = {}) {
  const [head, ...rest] = name.split('_');
  const index = rest.join(' ');
  if (head.length === 1 && index) return math('msub', attributes, math('mi', {}, head), math('mtext', {}, index));
  return math('mi', attributes, name.replace(/_/g, ' '));
}
