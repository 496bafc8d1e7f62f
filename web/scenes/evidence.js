// How sure an answer is: no tab of its own, opened from an interval. Loaded when it is first wanted.
import { addStyle } from '../host.js';
import { draw } from '../evidence/view.js';

await addStyle('style/evidence.css');

export const evidence = { id: 'evidence', draw };
