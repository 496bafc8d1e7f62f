// Tables of nccl-tests as people paste them.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSlipstick } from '../support/module.js';
import { measurementReader } from '../support/pasted.js';

const { slipstick } = await loadSlipstick();
const read = measurementReader(slipstick);

const NCCL = (
  head,
  rows,
) => `# nThread 1 nGpus 8 minBytes 1048576 maxBytes 1073741824 step: 32(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
${Array.from({ length: 8 }, (_, i) => `#  Rank  ${i} Group  0 Pid  18416 on    node-1 device  ${i} [0x${i}7] NVIDIA H200`).join('\n')}
#
#                                                              out-of-place                       in-place          
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       
${rows}
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 300.1`;

test('a table of nccl-tests: which collective by its bandwidths, ranks and device by its head', () => {
  const found = read(
    NCCL(
      '',
      `     1048576        262144     float     sum      -1    40.20   26.08   45.65      0    39.50   26.55   46.46      0
    33554432       8388608     float     sum      -1   180.00  186.41  326.23      0   179.10  187.35  327.86      0
  1073741824     268435456     float     sum      -1  3950.00  271.83  475.71      0   3949.0  271.90  475.83      0`,
    ),
  );
  assert.equal(found.format.id, 'nccl-tests');
  assert.equal(found.cluster.id, 'dgx-h200');
  assert.deepEqual(
    found.measured.map(({ collective, value }) => [collective.kind, collective.bytes, collective.ranks, value]),
    [
      ['all_reduce', 1073741824, 8, 0.00395], // the largest and the smallest first
      ['all_reduce', 1048576, 8, 0.0000402],
      ['all_reduce', 33554432, 8, 0.00018],
    ],
  );
  assert.deepEqual(found.unread, []);
  const gathers = read(
    NCCL(
      '',
      '  1073741824     16777216     float    none      -1  2100.00  511.31  447.39      0  2100.00  511.31  447.39      0',
    ),
  );
  assert.equal(gathers.measured[0].collective.kind, 'all_gather');
  const scatters = read(
    NCCL(
      '',
      '  1073741824     16777216     float     sum      -1  2100.00  511.31  447.39      0  2100.00  511.31  447.39      0',
    ),
  );
  assert.equal(scatters.measured[0].collective.kind, 'reduce_scatter');
});

test('a size of nothing and a time without end are left out; where nothing else was measured, there is no measurement', () => {
  const row =
    '  1048576        262144     float     sum      -1    40.20   26.08   45.65      0    39.50   26.55   46.46      0';
  assert.equal(read(NCCL('', row.replace('1048576', '0'))), null);
  assert.equal(read(NCCL('', row.replace('40.20', '1e999'))), null);
  assert.equal(read(NCCL('', `${row}\n${row.replace('40.20', '1e999')}`)).measured.length, 1);
});
