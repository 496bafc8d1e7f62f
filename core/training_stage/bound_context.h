// Where the numbers of a training step get their nodes, for explanations.
#pragma once

#include "core/training_stage/context.h"

namespace slipstick {

// A context whose numbers have nodes. It refers to copies that the tape keeps.
TrainingContext ContextWithNodes(const Model& model, const Cluster& cluster, const TrainingRun& run, Tape& tape);

}  // namespace slipstick
