// The language of the core's formulas -> a tree: + - * / ( ), numbers, symbols, and a few functions.
//
//   {kind: "number", value} · {kind: "symbol", name} · {kind: "call", name, args} · {kind: "binary", op, left, right} · {kind: "minus", of}

export const FUNCTIONS = ['max', 'min', 'sqrt', 'pow', 'log2', 'log', 'exp', 'ceil', 'floor', 'norm'];
const TOKEN = /\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z_][\w:]*)|([-+*/(),]))/y;

function tokens(text) {
  const list = [];
  TOKEN.lastIndex = 0;
  while (text.slice(TOKEN.lastIndex).trim() !== '') {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new Error(`formula: unexpected "${text.slice(at, at + 10)}"`);
    if (match[1] !== undefined) list.push({ kind: 'number', value: Number(match[1]) });
    else if (match[2] !== undefined) list.push({ kind: 'name', name: match[2].replace(/^.*::/, '') });
    else list.push({ kind: match[3] });
  }
  return list;
}

export function parse(text) {
  const list = tokens(text);
  let at = 0;
  const peek = () => list[at]?.kind;
  const take = (kind) => {
    if (peek() !== kind) throw new Error(`formula: expected ${kind}, got ${peek() ?? 'the end'}`);
    return list[at++];
  };

  function args() {
    const out = [];
    take('(');
    while (peek() !== ')') {
      if (out.length) take(',');
      out.push(sum());
    }
    take(')');
    return out;
  }
  function atom() {
    if (peek() === 'number') return { kind: 'number', value: take('number').value };
    if (peek() === '-') {
      take('-');
      return { kind: 'minus', of: atom() };
    }
    if (peek() === '(') {
      take('(');
      const inner = sum();
      take(')');
      return inner;
    }
    const { name } = take('name');
    return peek() === '(' ? { kind: 'call', name, args: args() } : { kind: 'symbol', name };
  }
  function chain(next, operators) {
    let left = next();
    while (operators.includes(peek())) {
      const op = list[at++].kind;
      left = { kind: 'binary', op, left, right: next() };
    }
    return left;
  }
  const product = () => chain(atom, ['*', '/']);
  function sum() {
    return chain(product, ['+', '-']);
  }

  const tree = sum();
  if (at < list.length) throw new Error('formula: more than one expression');
  return tree;
}

const CALLS = {
  max: Math.max,
  min: Math.min,
  sqrt: Math.sqrt,
  pow: Math.pow,
  log2: Math.log2,
  log: Math.log,
  exp: Math.exp,
  ceil: Math.ceil,
  floor: Math.floor,
  norm: (a, b, p) => (a ** p + b ** p) ** (1 / p),
};

// The tree's value where `values` maps symbols to numbers.
export function evaluate(tree, values) {
  switch (tree.kind) {
    case 'number':
      return tree.value;
    case 'symbol':
      if (!values.has(tree.name)) throw new Error(`formula: ${tree.name} has no value`);
      return values.get(tree.name);
    case 'minus':
      return -evaluate(tree.of, values);
    case 'call':
      if (!Object.hasOwn(CALLS, tree.name)) throw new Error(`formula: no function ${tree.name}`);
      return CALLS[tree.name](...tree.args.map((one) => evaluate(one, values)));
    default: {
      const left = evaluate(tree.left, values);
      const right = evaluate(tree.right, values);
      return { '+': left + right, '-': left - right, '*': left * right, '/': left / right }[tree.op];
    }
  }
}
