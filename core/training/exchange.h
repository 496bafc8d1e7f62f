// Communication inside a layer: tensor-, context- and expert-parallel groups.
#pragma once

#include "core/training/context.h"
#include "core/training/layer_work.h"

namespace slipstick {

struct Exchange {
  Seconds link;     // time on the links, exposed or hidden
  Seconds exposed;  // at most link
};

// TP communication of one layer in one direction: `pairs` times an all-gather and a reduce-scatter of the residual stream, or an
// all-reduce without sequence parallelism. The backward pass needs the same.
Exchange TensorExchange(const TrainingContext& context, double pairs, Trace& trace);

// CP communication of one layer. A ring is hidden behind the blocks of attention that it feeds.
struct ContextExchange {
  Exchange forward, backward;
};
ContextExchange ExchangeContext(const TrainingContext& context, const AttentionWork& work, Seconds core_forward, Seconds core_backward,
                                Trace& trace);

// EP communication of one layer in one direction: dispatch and combine, and the gathers of expert tensor parallelism.
Exchange ExchangeExperts(const TrainingContext& context, const LayerWork& work, Trace& trace);

}  // namespace slipstick
