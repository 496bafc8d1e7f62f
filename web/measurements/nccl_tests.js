// The table that a program of nccl-tests (or rccl-tests) prints: a message size a line, its time and bandwidths, out of place and in place.
/** @import {MeasurementFormat} from '../types.js' */
const KINDS = {
  all_reduce: 'all_reduce',
  all_gather: 'all_gather',
  reduce_scatter: 'reduce_scatter',
  alltoall: 'all_to_all',
  broadcast: 'broadcast',
  sendrecv: 'send_recv',
};
const MOST = 12; // sizes that are held against the computed ones

// {bytes, seconds, algorithm bandwidth, bus bandwidth} of a line, or null.
function rowOf(line) {
  const words = line.trim().split(/\s+/);
  if (words.length < 7 || !/^\d+$/.test(words[0]) || !/^\d+$/.test(words[1]) || !/^[a-z]/.test(words[2])) return null;
  const hasReduction = /^[a-z]/.test(words[3]);
  const [time, algorithm, bus] = words.slice(hasReduction ? 5 : 3).map(Number);
  return time > 0 && bus >= 0 && Number(words[0]) > 0 && Number.isFinite(time + bus)
    ? { bytes: Number(words[0]), seconds: time / 1e6, algorithm, bus, reduction: hasReduction ? words[3] : 'none' }
    : null;
}

// By the program's name, else by the ratio of bus bandwidth to algorithm bandwidth (doc/PERFORMANCE.md of nccl-tests).
function kindOf(text, rows, ranks) {
  const named = /\b(all_reduce|all_gather|reduce_scatter|alltoall|broadcast|sendrecv)_perf/.exec(text)?.[1];
  if (named) return KINDS[named];
  const { algorithm, bus, reduction } = rows.at(-1);
  const ratio = bus / algorithm;
  const isNear = (wanted) => Math.abs(ratio / wanted - 1) < 0.02;
  if (isNear((2 * (ranks - 1)) / ranks) && ranks > 2) return 'all_reduce';
  if (isNear((ranks - 1) / ranks)) return reduction === 'none' ? 'all_gather' : 'reduce_scatter';
  return reduction === 'none' ? 'broadcast' : 'all_reduce';
}

// Evenly spaced, with both ends.
const some = (rows) =>
  rows.length <= MOST
    ? rows
    : Array.from({ length: MOST }, (_, i) => rows[Math.round((i * (rows.length - 1)) / (MOST - 1))]);

/** @type {MeasurementFormat} */
export const ncclTests = {
  id: 'nccl-tests',
  title: 'nccl-tests',
  part: 'cluster',
  started: (text) => /algbw\s+busbw/.test(text) && text.split('\n').some((line) => rowOf(line)),

  read(text, { clusters }) {
    const lines = text.split('\n');
    const rows = lines.map(rowOf).filter(Boolean);
    const listed = lines
      .map((line) => /#\s+Rank\s+(\d+)\s.*\bon\s+(\S+)\s+device\s+\d+\s+\[\w+\]\s+(.*?)\s*$/.exec(line))
      .filter(Boolean);
    const started = [/nGpus\s+(\d+)/, /(?:^|\s)-g\s+(\d+)/]
      .map((pattern) => Number(pattern.exec(text)?.[1]))
      .find((count) => count > 1);
    const ranks = listed.length || started || 8;
    const device = listed[0]?.[3].match(/\b(GB\d+|[AHBV]\d{2,3}|MI\d+X?)\b/i)?.[1].toLowerCase();
    const cluster =
      device && clusters.find(({ id }) => id === `dgx-${device}` || id === `hgx-${device}` || id === `${device}-nvl72`);
    const kind = kindOf(text, rows, ranks);
    const measured = some(rows).map(({ bytes, seconds, bus }) => ({
      collective: { kind, bytes, ranks },
      value: seconds,
      bus,
    }));
    // The largest and the smallest first: they tell bandwidth and latency apart.
    const ordered = measured.length > 1 ? [measured.at(-1), measured[0], ...measured.slice(1, -1)] : measured;
    const unread = lines
      .filter(
        (line) =>
          line.trim() &&
          !line.trim().startsWith('#') &&
          !rowOf(line) &&
          !/_perf/.test(line) &&
          !/NCCL (INFO|version)/.test(line),
      )
      .map((line) => line.trim());
    return {
      inputs: {},
      cluster,
      measured: ordered,
      unread,
      missing: [listed.length === 0 && !started && 'ranks', !cluster && 'cluster'].filter(Boolean),
    };
  },
};
