// Data files of the site: undefined while one is on its way.
import { readJson } from '../host.js';

export class SiteData {
  #files = new Map();

  // `onread` gets the path of each file that has come.
  constructor(onread) {
    this.onread = onread;
  }

  at(path) {
    if (!this.#files.has(path)) {
      this.#files.set(path, undefined);
      readJson(path)
        .then((json) => {
          this.#files.set(path, json);
          this.onread(path);
        })
        .catch(() => this.#files.delete(path));
    }
    return this.#files.get(path);
  }
}
