// Inputs that a chart's handle moves: a drag is one edit, reported at its end with undo.
/** @import {Context} from '../types.js' */
import { get } from '../state/paths.js';
import { text } from '../text/format.js';
import { inputLabel } from '../text/inputs.js';
import { show } from '../text/measure.js';
import { tellUndoable } from './notice.js';
import { t } from './texts.js';

// {set(value), end()} of an input, in its base unit; undefined where it may not be changed. `from`: where it stands; `write(value, goesOn)`
// makes the change.
export function scrub(
  context,
  path,
  unit,
  {
    from = get(context.scenario, path),
    write = (value, goesOn) => context.store.set(path, show(value, unit), goesOn),
  } = {},
) {
  const { store, stage } = context;
  if (store.isLocked(path)) return undefined;
  let to = null;
  return {
    set(value) {
      write(value, to !== null);
      to = value;
    },
    end() {
      if (to === null) return;
      tellUndoable(context, t('scrub.said', { name: inputLabel(path), from: text(from, unit), to: text(to, unit) }));
      stage.draw();
      to = null;
    },
  };
}

// The roofline's peak, and what its ridge moves: the device's memory bandwidth and its peak in a precision, the first that it has.
/** @param {Context} context */
export function ridgeOf(context, precisions) {
  const { peak } = context.scenario.cluster.device;
  const own = precisions.find((one) => peak[one] > 0);
  const onridge = own && {
    bandwidth: scrub(context, 'cluster.device.memory.bandwidth', 'B/s'),
    peak: scrub(context, `cluster.device.peak.${own}`, 'FLOP/s'),
  };
  return { peak: peak[own], onridge: onridge?.bandwidth && onridge.peak ? onridge : undefined };
}
