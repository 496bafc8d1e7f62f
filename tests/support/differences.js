// Two builds of one core may differ in the last digits: their mathematical libraries do.
const TOLERANCE = 1e-9;

/** Paths at which two JSON values differ. */
export function differences(a, b, path = '') {
  if (typeof a === 'number' && typeof b === 'number') {
    return Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b)) ? [] : [`${path}: ${a} → ${b}`];
  }
  if (a !== null && b !== null && typeof a === 'object' && typeof b === 'object') {
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
      differences(a[key], b[key], path ? `${path}.${key}` : key),
    );
  }
  return a === b ? [] : [`${path}: ${JSON.stringify(a)} → ${JSON.stringify(b)}`];
}
