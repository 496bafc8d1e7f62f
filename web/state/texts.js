// What is said of a change of hardware, in English.
import { extend } from '../text/strings.js';

export const texts = {
  'pick.kept': '{count} GPUs as before.',
  'pick.rounded': '{count} GPUs: whole servers of {size}.',
  'pick.mapping': 'Parallelism chosen again: {mapping}.',
};
export const t = extend(texts);
