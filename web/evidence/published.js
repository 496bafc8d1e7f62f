// All published measurements, computed again in the visitor's browser, file by file, by the module that answers every other question.
/** @import {Context} from '../types.js' */
import { pool } from '../engine/shared_pool.js';
import { rowsById } from './runs.js';

const files = new Map(); // by source: {source, rows, runs}
let coverage = null;
let running = false;
let drawn = 0; // when

const DRAW_MS = 400;

/** @param {Context} context */
async function compute(context, ids) {
  const { store, stage } = context;
  for (const id of ids) {
    const source = context.files.at(`data/evidence/${id}.json`);
    if (!source || files.has(id)) continue;
    const { runs = [] } = await pool.call('measurements', id, JSON.stringify(source));
    files.set(id, { source, rows: rowsById(source), runs });
    if (performance.now() - drawn > DRAW_MS && store.scene === 'method') {
      drawn = performance.now();
      stage.draw();
    }
  }
  coverage ??= await pool.call('coverage');
}

// {runs, all, known(run), coverage}: the runs computed so far and their total; null before the list of sources has
// loaded.
/** @param {Context} context */
export function published(context) {
  const ids = context.files.at('data/evidence/index.json');
  if (!ids) return null;
  const waiting = ids.filter((id) => !files.has(id) && context.files.at(`data/evidence/${id}.json`));
  if (!running && (waiting.length || (files.size === ids.length && !coverage))) {
    running = true;
    compute(context, waiting)
      .catch((error) => context.notice(error.message))
      .finally(() => {
        running = false;
        if (context.store.scene === 'method') context.stage.draw();
      });
  }
  const runs = [...files.values()].flatMap((file) => file.runs);
  return {
    runs,
    sources: ids.length,
    computed: files.size,
    known: (run) => files.get(run.source).rows.get(run.id),
    coverage,
  };
}
