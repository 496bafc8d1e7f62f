// The Explore scene: nine questions, each a panel that is made once and keeps what was asked while the scenario changes.
/** @import {Pool} from '../engine/pool.js' */
/** @import {Context} from '../types.js' */
import { h } from '../dom.js';
import { addStyle } from '../host.js';
import { pool } from '../engine/shared_pool.js';
import { heading, unknownPlace } from '../scenes/parts.js';
import { DesignPanel } from './design_panel.js';
import { FitsPanel } from './fits_panel.js';
import { FrontierPanel } from './frontier_panel.js';
import { ReplayPanel } from './replay_panel.js';
import { SearchPanel } from './search_panel.js';
import { SensitivityPanel } from './sensitivity_panel.js';
import { SolvePanel } from './solve_panel.js';
import { StudiesPanel } from './studies_panel.js';
import { SweepPanel } from './sweep_panel.js';
import { t } from './texts.js';

await addStyle('style/explore.css');

/** @type {[string, new (pool: Pool) => {element: HTMLElement, show(context: object): void}][]} */
const PANELS = [
  ['search', SearchPanel],
  ['fits', FitsPanel],
  ['frontier', FrontierPanel],
  ['design', DesignPanel],
  ['sweep', SweepPanel],
  ['solve', SolvePanel],
  ['sensitivity', SensitivityPanel],
  ['replay', ReplayPanel],
  ['studies', StudiesPanel],
];
const NAMING = ['fits', 'studies']; // panels that name a further part after "/" themselves
const made = new Map();

/** @param {Context} context */
export function draw(context) {
  const [asked, further] = context.store.sub.split('/');
  const [id, Panel] = PANELS.find(([one]) => one === asked) ?? PANELS[0];
  if (!made.has(id)) made.set(id, new Panel(pool));
  const panel = made.get(id);
  panel.show(context);
  return [
    heading(t(`explore.${id}.title`), t(`explore.${id}.lead`)),
    asked !== '' && asked !== id && unknownPlace(asked),
    further && !NAMING.includes(id) && unknownPlace(further),
    h(
      'div',
      { 'class': 'views scene-views ex-views', 'role': 'group', 'aria-label': t('explore.views') },
      PANELS.map(([one]) =>
        h(
          'button',
          {
            'type': 'button',
            'data-key': `ex-view-${one}`,
            'aria-pressed': String(one === id),
            'onclick': () => context.open('explore', one === 'search' ? '' : one),
          },
          t(`explore.${one}`),
        ),
      ),
    ),
    panel.element,
  ];
}
