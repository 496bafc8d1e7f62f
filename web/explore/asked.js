// The question of a panel as the link holds it: "solve/unknown:cluster.devices/from:64/to:16384/…", by the names of the panel's controls.
// A value may hold a slash ("1 /cm^2"): only one before a name begins the next.

export const writeAsked = (panel, controls) =>
  [panel, ...Object.entries(controls).map(([name, { value }]) => `${name}:${value.trim()}`)].join('/');

// {name: value} of the controls that this panel's text names; undefined if it is another panel's.
export function readAsked(text, panel, controls) {
  if (!text?.startsWith(`${panel}/`)) return undefined;
  const names = Object.keys(controls);
  const pairs = text.slice(panel.length + 1).split(new RegExp(`/(?=(?:${names.join('|')}):)`));
  const read = pairs.map((pair) => [pair.slice(0, pair.indexOf(':')), pair.slice(pair.indexOf(':') + 1)]);
  return Object.fromEntries(read.filter(([name]) => names.includes(name)));
}

// A choice that a control does not offer stays as it was.
export function choose(control, value) {
  if (value !== undefined && (!control.options || [...control.options].some((one) => one.value === value)))
    control.value = value;
}

// The question of a panel and of the link: `controls` are the elements with values, by name.
export class Asked {
  #text; // of the link when it was last looked at

  constructor(panel, controls) {
    this.panel = panel;
    this.controls = controls;
  }

  // The link's question for this panel, by name of control; undefined if there is none or nothing new.
  /** @returns {any} */
  news({ view }) {
    if (view.explore === this.#text) return undefined;
    this.#text = view.explore;
    return readAsked(this.#text, this.panel, this.controls);
  }

  // Puts that into the controls; whether there was any.
  take(store) {
    const asked = this.news(store);
    for (const [name, value] of Object.entries(asked ?? {})) choose(this.controls[name], value);
    return asked !== undefined;
  }

  // Lets the link hold the panel's question.
  keep(store) {
    this.#text = writeAsked(this.panel, this.controls);
    if (this.#text !== store.view.explore) store.setView({ ...store.view, explore: this.#text });
  }
}
