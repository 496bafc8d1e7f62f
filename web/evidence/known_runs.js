// The rows behind the runs of the core's table, in the files of their sources.
/** @import {Context} from '../types.js' */
import { rowsById } from './runs.js';

const rows = new Map(); // of each source, by its id

// known(run) -> {row, source}; null until the files are there.
/** @param {Context} context */
export function knownRuns(context, list) {
  for (const id of new Set(list.map(({ source }) => source))) {
    const source = context.files.at(`data/evidence/${id}.json`);
    if (source && !rows.has(id)) rows.set(id, rowsById(source));
  }
  return list.every(({ source }) => rows.has(source)) ? ({ source, id }) => rows.get(source).get(id) : null;
}
