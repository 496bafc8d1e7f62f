// Draws the scenes, and keeps what a chart shows: this is no input, so not in the link.
import { redraw } from '../dom.js';
import { paper } from '../report/print.js';
import { t } from '../text/strings.js';
import { sceneOf } from './index.js';

const SOON_MS = 40;
const SEEN = 0.75; // of the window's height; below that, a heading has too little content under it

export class Stage {
  #choices = new Map();
  #place = '';
  #followers = new Set();
  #soon = 0;

  // `context()` is what scenes draw from, null until there is a report; `ondrawn` is called after each drawing.
  constructor(element, { store, context, ondrawn }) {
    this.element = element;
    this.store = store;
    this.context = context;
    this.ondrawn = ondrawn;
  }

  draw() {
    const context = this.context();
    if (!context) return;
    const scene = sceneOf(this.store.scene);
    if (!scene.draw) {
      this.#fetch(scene);
      return;
    }
    redraw(this.element, scene.draw(context));
    const { before, after } = paper({ inputs: this.store.inputs, link: location.href });
    this.element.prepend(before);
    this.element.append(after);
    document.title = `${t(`scene.${scene.id}`)} · Slipstick`;
    this.ondrawn();
    for (const follow of this.#followers) follow();
  }

  // One drawing for all that comes within a moment.
  drawSoon() {
    if (this.#soon) return;
    this.#soon = setTimeout(() => {
      this.#soon = 0;
      this.draw();
    }, SOON_MS);
  }

  // Drawing after the scene, as long as the returned function has not been called.
  follow(draw) {
    this.#followers.add(draw);
    return () => this.#followers.delete(draw);
  }

  // The same in answer to a tab or a link: the heading of another place takes the focus.
  async open() {
    const scene = sceneOf(this.store.scene);
    if (!scene.draw) await scene.load();
    if (scene !== sceneOf(this.store.scene)) return;
    this.draw();
    const place = `${this.store.scene}/${this.store.sub.split('/')[0]}`;
    if (place !== this.#place) {
      this.focus({ preventScroll: true });
      this.#toStart();
    }
    this.#place = place;
  }

  // Scrolls to the heading if the chosen scene is below the window's middle.
  async reveal() {
    const scene = sceneOf(this.store.scene);
    if (!scene.draw) await scene.load();
    this.draw();
    const heading = this.element.querySelector('h1');
    if (heading && heading.getBoundingClientRect().top > window.innerHeight / 2) heading.scrollIntoView();
  }

  // Shows a newly opened place from its start: from the top of the page if its heading is visible there or the scene is Start, else from the
  // heading.
  #toStart() {
    const heading = this.element.querySelector('h1');
    if (!heading) return;
    const lowest = window.innerHeight * SEEN;
    const { top } = heading.getBoundingClientRect();
    if (top >= 0 && top <= lowest) return;
    if (this.store.scene === 'overview' || top + window.scrollY <= lowest) window.scrollTo(0, 0);
    else heading.scrollIntoView();
  }

  focus(how) {
    this.element.querySelector('h1')?.focus(how);
  }

  // Redraws when the scene's module has loaded.
  #fetch(scene) {
    scene.load().then(() => this.draw());
  }

  // The nodes of "SCENE" or "SCENE/VIEW" for use in another scene: none until its module has loaded. `ghost`: a report
  // whose figures are outlined next to the present ones.
  nodesOf(place, ghost) {
    const [id, sub = ''] = place.split('/');
    const scene = sceneOf(id);
    if (scene.draw) return scene.draw({ ...this.context(), sub, ghost });
    this.#fetch(scene);
    return [];
  }

  chosen = (key) => this.#choices.get(key);
  choose(key, value) {
    this.#choices.set(key, value);
    this.draw();
  }
}
