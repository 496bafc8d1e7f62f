// What to buy for a traffic: loaded when it is first opened.
import { addStyle } from '../host.js';
import { texts as explored } from '../explore/texts.js';
import { texts } from '../size/texts.js';
import { extend } from '../text/strings.js';
import { draw } from '../size/view.js';

extend(explored);
extend(texts);
await Promise.all([addStyle('style/explore.css'), addStyle('style/serving.css')]);

export const size = { id: 'size', draw };
