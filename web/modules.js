// Modules fetched on demand, or after the first view. Scenes are listed in scenes/index.js.
import { painted } from './dom.js';

export const FETCHED = {
  import_model: () => import('./report/import_model.js'),
  own_device: () => import('./report/own_device.js'),
  sheet: () => import('./report/sheet.js'),
  measured_dialog: () => import('./report/measured_dialog.js'),
  export_menu: () => import('./report/export_menu.js'),
  picker: () => import('./report/picker.js'),
  advice: () => import('./report/advice.js'),
  advising: () => import('./engine/advising.js'),
  help: () => import('./report/help.js'),
  hardware: () => import('./state/hardware.js'),
  step_curve: () => import('./scenes/step_curve.js'),
  users_curve: () => import('./scenes/users_curve.js'),
  releases: () => import('./releases/notice.js'),
};

export async function fetchAll() {
  for (const fetch of Object.values(FETCHED)) await fetch();
}

export class Modules {
  #late = new Map();

  // `oncome` is called when a module that `late` requested has come.
  constructor(oncome) {
    this.oncome = oncome;
  }

  // A module fetched after the first paint; undefined until then.
  late(name) {
    if (!this.#late.has(name)) {
      this.#late.set(name, undefined);
      painted()
        .then(FETCHED[name])
        .then((module) => {
          this.#late.set(name, module);
          this.oncome();
        });
    }
    return this.#late.get(name);
  }
}
