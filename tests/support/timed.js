import assert from 'node:assert/strict';

// Says a time beside its bar. A time says as much about the machine as about the program, so it fails a test only where
// SLIPSTICK_HOLD_TIMES is set, on a machine that does nothing else.
export function timed(words, milliseconds, bar) {
  console.log(`# ${words}: ${milliseconds.toFixed(0)} ms (bar ${bar} ms)`);
  if (process.env.SLIPSTICK_HOLD_TIMES) assert.ok(milliseconds <= bar, `${words}: ${milliseconds} ms`);
}
