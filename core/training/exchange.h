// Communication inside a layer: tensor, context and expert parallel groups.
#pragma once

#include "core/training/context.h"
#include "core/training/layer_work.h"

namespace slipstick {

struct Exchange {
  Seconds link;     // time on the links, whether it shows or not
  Seconds exposed;  // what no compute hides; never above link
};

// Forward exchange of one layer's tensor-parallel ranks: `pairs` all-gathers and reduce-scatters (all-reduces without sequence
// parallelism) of the residual stream. The backward pass does the same again.
Exchange TensorExchange(const TrainingContext& context, double pairs, Trace& trace);

// Keys and values among context-parallel ranks. The ring hides behind the blocks of the core that it feeds.
struct ContextExchange {
  Exchange forward, backward;
};
ContextExchange ExchangeContext(const TrainingContext& context, const AttentionWork& work, Seconds core_forward, Seconds core_backward,
                                Trace& trace);

// Dispatch and combine of one direction, with the gathers of expert tensor parallelism.
Exchange ExchangeExperts(const TrainingContext& context, const LayerWork& work, Trace& trace);

}  // namespace slipstick
