// Two builds of one core may differ in the last digits, as their math libraries do.
const TOLERANCE = 1e-9;

const NUMBER = /\d+(?:\.\d+)?(?:e[+-]?\d+)?/g; // in a formula
const isNear = (a, b) => Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b));

function readsTheSame(a, b) {
  const numbers = (text) => (text.match(NUMBER) ?? []).map(Number);
  const others = numbers(b);
  return (
    a.replace(NUMBER, '#') === b.replace(NUMBER, '#') && numbers(a).every((number, i) => isNear(number, others[i]))
  );
}

/** Paths at which two JSON values differ. */
export function differences(a, b, path = '') {
  if (typeof a === 'number' && typeof b === 'number') return isNear(a, b) ? [] : [`${path}: ${a} → ${b}`];
  if (typeof a === 'string' && typeof b === 'string' && readsTheSame(a, b)) return [];
  if (a !== null && b !== null && typeof a === 'object' && typeof b === 'object') {
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
      differences(a[key], b[key], path ? `${path}.${key}` : key),
    );
  }
  return a === b ? [] : [`${path}: ${JSON.stringify(a)} → ${JSON.stringify(b)}`];
}
