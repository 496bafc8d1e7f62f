// Multi-head latent attention of one layer, dense or to the tokens that an indexer selects (DeepSeek V3 and V3.2).
#pragma once

#include "core/engine_step/deployment.h"
#include "core/operators/attention.h"
#include "core/operators/sparse_attention.h"

namespace slipstick {

// Heads and formats on one device; batch and lengths are left at 1.
LatentAttention LatentOf(const Deployment& deployment, AttentionPhase phase);

// The kernels of a sparse attention one after the other; some of the layers score and select.
SparseAttentionTime SparseTime(const Deployment& deployment, const LatentAttention& queries);

// A short prompt attends to all its tokens, masked to the selected ones, where that is faster: heads of their own width
// have fewer multiply-adds than the latent. The indexer scores and selects in any case.
KernelTime SparsePrefill(const Deployment& deployment, const LatentAttention& queries, const KernelTime& dense);

}  // namespace slipstick
