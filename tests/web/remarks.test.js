import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remarkOf, withField } from '../../web/report/remarks.js';
import { setInputs } from '../../web/text/inputs.js';

test('a warning is shown with the part that it names first, and whole where it names none or an input', () => {
  assert.deepEqual(remarkOf('serving: cost counts one pool'), { part: 'serving', text: 'cost counts one pool' });
  assert.deepEqual(remarkOf('cost.device.dies is empty'), { part: 'cost', text: 'cost.device.dies is empty' });
  assert.deepEqual(remarkOf('A100 has no fp8 arithmetic'), { part: undefined, text: 'A100 has no fp8 arithmetic' });
  assert.deepEqual(remarkOf('training steps are counted twice'), {
    part: undefined,
    text: 'training steps are counted twice',
  });
});

test('an input at the end of a warning is named as its field, if there is one', () => {
  setInputs([{ path: 'training.mapping.expert_tp', label: 'Expert tensor parallel (ETP)' }]);
  const form = { has: (path) => path === 'training.mapping.expert_tp' };
  const warning = 'experts are whole: training.mapping.expert_tp 8';
  assert.deepEqual(withField(warning, form), [
    'experts are whole: ',
    { path: 'training.mapping.expert_tp', text: 'Expert tensor parallel (ETP) 8' },
  ]);
  for (const other of [
    'experts are whole: training.mapping.other 8',
    'cost.device.dies is empty',
    'in two words: a b c',
  ])
    assert.deepEqual(withField(other, form), [other]);
});
