import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remarkOf } from '../../web/report/remarks.js';

test('a warning is shown with the part that it names first, and whole where it names none or an input', () => {
  assert.deepEqual(remarkOf('serving: cost counts one pool'), { part: 'serving', text: 'cost counts one pool' });
  assert.deepEqual(remarkOf('cost.device.dies is empty'), { part: 'cost', text: 'cost.device.dies is empty' });
  assert.deepEqual(remarkOf('A100 has no fp8 arithmetic'), { part: undefined, text: 'A100 has no fp8 arithmetic' });
  assert.deepEqual(remarkOf('training steps are counted twice'), { part: undefined, text: 'training steps are counted twice' });
});
