// The scenes, in the order of the tabs. To add one: a module here that exports {id, draw(context)}, a row in this list, a
// "scene.ID" text in text/strings.js, and its inputs' groups in form/layout.js.
//
// `draw` returns the scene's nodes from the context and keeps nothing:
//   report, scenario      the report; its resolved scenario
//   base, inputs, store   the scenario of the presets alone; what the visitor changed; the store to change it
//   issues, faulty        of the request; parts that have no answer because of them
//   width                 of the scene in CSS pixels; charts draw at this width
//   ask(verb, ...args)    a further answer of the core: undefined until it is there, then the scene is drawn again
//   lately(slot, …)       the same; until it is there, what was last answered in this slot
//   why(path), hover(path), open(scene, sub)
import { overview } from './overview.js';

// A scene whose module is fetched when it is first wanted, or once the first view stands.
function later(id, fetched) {
  const scene = { id, draw: null, load: () => (scene.loading ??= fetched().then((module) => (scene.draw = module[id].draw))) };
  return scene;
}

export const SCENES = [
  overview,
  later('train', () => import('./train.js')),
  later('serve', () => import('./serve.js')),
  later('size', () => import('./size.js')),
  later('memory', () => import('./memory.js')),
  later('chip', () => import('./chip.js')),
  later('explore', () => import('./explore.js')),
  later('compare', () => import('./compare.js')),
  later('lessons', () => import('./lessons.js')),
  later('method', () => import('./method.js')),
  // Opened from the figure that it is about, and under that one's tab.
  Object.assign(later('evidence', () => import('./evidence.js')), { tabOf: (figure) => (figure.startsWith('serving.') ? 'serve' : 'train') }),
];
export const sceneOf = (id) => SCENES.find((scene) => scene.id === id) ?? SCENES[0];
