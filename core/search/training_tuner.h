// The best mapping of a training run, by a bounded search.
//
// Best is the highest throughput among mappings that fit. From the best starts (the shallowest pipeline that fits at
// each tensor- and expert-parallel degree, and the best that full sharding makes fit) the search walks to ever better
// neighbors; what does not fit is not timed, and what a lower bound on its time rules out is not scheduled. Fitting
// keeps the run's memory margin. Where nothing fits, the mapping that needs least memory. A batch that may move does so
// only where no mapping that fits divides it, or for the gain that the freedom names.
#pragma once

#include <vector>

#include "core/search/chosen.h"
#include "core/search/training_moves.h"

namespace slipstick {

struct TunedTraining {
  TrainingRun run;
  bool is_legal = false;  // otherwise the run has no legal mapping at all
  bool fits = false;
  std::vector<Chosen> chosen{};
  Count moves = 0, tried = 0;  // of the longest walk, and mappings evaluated
};
// A walk ends by itself, since each move is to a better mapping; it takes tens of moves.
inline constexpr Count kMostMoves = 1000;
// The model must be complete, the run's devices known.
TunedTraining TuneTraining(const Model& model, const Cluster& cluster, const TrainingRun& run,
                           const TrainingFreedom& freedom);

}  // namespace slipstick
