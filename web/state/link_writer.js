// Writes the store's state to the page's address.
import { writeShort } from './link.js';
import { release } from './release.js';

const LINK_DELAY = 200;

export class LinkWriter {
  #timer = 0;

  // `tidy` is called before the state is read.
  constructor(store, tidy) {
    this.store = store;
    this.tidy = tidy;
  }

  // A history step is written at once, a keystroke when typing pauses.
  write(push) {
    clearTimeout(this.#timer);
    if (push) this.#write(push);
    else this.#timer = setTimeout(() => this.#write(push), LINK_DELAY);
  }

  async #write(push) {
    this.tidy();
    const link = await writeShort({ ...this.store.state, release: release() });
    if (link !== location.hash) history[push ? 'pushState' : 'replaceState'](null, '', link);
  }
}
