// The full address of a state, taken from the store, as the address bar may be a moment behind. It names the release,
// even for the default state, whose answers may move too.
import { writeShort } from './link.js';
import { release } from './release.js';

export async function linkOf(state) {
  const hash = await writeShort({ ...state, release: release() });
  return `${location.href.split('#')[0]}${hash}${hash.includes('?') ? '' : `?r=${release()}`}`;
}
