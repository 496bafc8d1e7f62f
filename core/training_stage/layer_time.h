// Time of a layer, of the embedding and of the output head for one micro-batch on one device.
#pragma once

#include "core/training_stage/context.h"
#include "core/training_stage/layer_pass.h"
#include "core/training_stage/layer_work.h"
#include "core/training_stage/recompute_choice.h"
#include "core/training_stage/timed_operator.h"

namespace slipstick {

// A layer under selective recomputation. `operators`, where given, gets its operators.
LayerTime TimeLayer(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan,
                    LayerOperators* operators = nullptr);

// The same layer with its whole forward pass recomputed, TP communication included.
LayerTime WithFullRecompute(const TrainingContext& context, const LayerWork& work, LayerTime time);

// The embedding, on the first stage; the head and the loss, on the last.
LayerTime TimeEmbedding(const TrainingContext& context);
LayerTime TimeHead(const TrainingContext& context);

}  // namespace slipstick
