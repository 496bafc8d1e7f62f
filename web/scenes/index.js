// The scenes, in the order of the tabs and of their fetching. To add one: a module here that exports {id, draw(context)}, a row in this list, a
// "scene.ID" text in text/english.js, and its inputs' groups in form/layout.js. `draw` returns the scene's nodes from the context
// (`Context` in types.d.ts) and keeps nothing.
/** @import {Scene} from '../types.js' */
import { overview } from './overview.js';

// A scene whose module is fetched on demand, or after the first view.
function later(id, fetched) {
  const scene = {
    id,
    draw: null,
    load: () => (scene.loading ??= fetched().then((module) => (scene.draw = module[id].draw))),
  };
  return scene;
}

// In the header's menu, as other parts of the page link to it.
const folded = (scene) => Object.assign(scene, { isFolded: true });
// With parts of its own in the address: "#/explore/sweep".
const placed = (scene) => Object.assign(scene, { hasPlaces: true });

/** @type {Scene[]} */
export const SCENES = [
  overview,
  later('train', () => import('./train.js')),
  later('serve', () => import('./serve.js')),
  later('size', () => import('./size.js')),
  folded(later('memory', () => import('./memory.js'))),
  placed(later('chip', () => import('./chip.js'))),
  placed(later('explore', () => import('./explore.js'))),
  folded(later('compare', () => import('./compare.js'))),
  placed(later('lessons', () => import('./lessons.js'))),
  folded(later('method', () => import('./method.js'))),
  // Opened from the figure that it is about, and shown under that figure's tab.
  Object.assign(placed(later('evidence', () => import('./evidence.js'))), {
    tabOf: (figure) => (figure.startsWith('serving.') ? 'serve' : 'train'),
  }),
];
export const sceneOf = (id) => SCENES.find((scene) => scene.id === id) ?? SCENES[0];
