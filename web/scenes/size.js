// What to buy for a traffic: loaded when it is first opened.
import { addStyle } from '../host.js';
import { draw } from '../size/view.js';

await Promise.all([addStyle('style/explore.css'), addStyle('style/serving.css')]);

export const size = { id: 'size', draw };
