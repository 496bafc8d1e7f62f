// The dies of the device, with a "why" at each figure.
/** @import {Context} from '../types.js' */
import { tableByRows } from '../charts/lib/by_rows.js';
import { figures, why } from '../report/figures.js';
import { nameOf } from '../report/names.js';
import { text } from '../text/format.js';
import { t } from './texts.js';

/** @param {Context} context */
export function dieTable(context, dies) {
  const cell = (path, value, unit) => [text(value, unit), ' ', why(context, path, path)];
  return tableByRows(
    t('chip.dies'),
    [
      t('chip.die'),
      t('chip.area'),
      t('chip.node'),
      nameOf('cost.dies.0.dies_per_wafer'),
      nameOf('cost.dies.0.yield'),
      nameOf('cost.dies.0.cost_usd'),
    ],
    dies.map((die, i) => [
      die.count > 1 ? `${die.name} × ${die.count}` : die.name,
      text(die.area_mm2, 'mm^2'),
      die.node,
      cell(`cost.dies.${i}.dies_per_wafer`, die.dies_per_wafer, 'count'),
      cell(`cost.dies.${i}.yield`, die.yield, '%'),
      cell(`cost.dies.${i}.cost_usd`, die.cost_usd, '$'),
    ]),
  );
}

// For the largest kind of die.
/** @param {Context} context */
export function dieFigures(context, dies) {
  const at = dies.reduce((largest, die, i) => (die.area_mm2 > dies[largest].area_mm2 ? i : largest), 0);
  return figures(context, [`cost.dies.${at}.dies_per_wafer`, `cost.dies.${at}.yield`, `cost.dies.${at}.cost_usd`]);
}
