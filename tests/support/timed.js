import assert from 'node:assert/strict';

// Prints a time and its limit. Times depend on the machine, so one fails a test only if SLIPSTICK_HOLD_TIMES is set, on an
// otherwise idle machine.
export function timed(words, milliseconds, bar) {
  console.log(`# ${words}: ${milliseconds.toFixed(0)} ms (bar ${bar} ms)`);
  if (process.env.SLIPSTICK_HOLD_TIMES) assert.ok(milliseconds <= bar, `${words}: ${milliseconds} ms`);
}
