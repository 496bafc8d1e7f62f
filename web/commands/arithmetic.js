// Sums of a shell, "$GPUS_PER_NODE * NNODES": whole numbers, names, + - * / % and parentheses. Undefined where a name has no value.
export function arithmetic(text, valueOf) {
  const filled = text.replace(/\$?\{?([A-Za-z_]\w*)\}?/g, (_, name) => valueOf(name) ?? '?');
  const parts = /^[\d\s+*/%()-]*$/.test(filled) ? (filled.match(/\d+|[+*/%()-]/g) ?? []) : [];
  let at = 0;
  const OPERATIONS = {
    '+': (a, b) => a + b,
    '-': (a, b) => a - b,
    '*': (a, b) => a * b,
    '/': (a, b) => Math.trunc(a / b),
    '%': (a, b) => a % b,
  };
  function chain(signs, next) {
    let value = next();
    while (signs.includes(parts[at])) {
      const sign = parts[at++];
      value = OPERATIONS[sign](value, next());
    }
    return value;
  }
  const sum = () => chain(['+', '-'], () => chain(['*', '/', '%'], one));
  function one() {
    const part = parts[at++];
    if (part === '-') return -one();
    if (part !== '(') return Number(part);
    const value = sum();
    return parts[at++] === ')' ? value : Number.NaN;
  }
  const value = parts.length > 0 && parts.length < 100 ? sum() : Number.NaN;
  return at === parts.length && Number.isFinite(value) ? value : undefined;
}
