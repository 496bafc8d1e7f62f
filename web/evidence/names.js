// Names of the catalogue and the family of each device, requested once: undefined until they come, then the scene is
// redrawn.
/** @import {Context} from '../types.js' */
import { shortDevice } from '../report/words.js';

const SOFTWARE = ['framework', 'engine'];
let names = null;

/** @param {Context} context */
export function namesOf(context) {
  if (!names) {
    names = new Map();
    context.core.catalogue().then((list) => {
      for (const { kind, id, name, architecture } of list) {
        names.set(`${SOFTWARE.includes(kind) ? 'software' : kind}/${id}`, kind === 'device' ? shortDevice(name) : name);
        if (architecture) names.set(`family/${id}`, architecture);
      }
      context.stage.draw();
    });
  }
  return (kind, id) => names.get(`${kind}/${id}`);
}
