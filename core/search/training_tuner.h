// The best mapping of a training run, by a bounded search.
//
// The best mapping has the highest throughput among those that fit, keeping the run's memory margin. The search starts
// from the shallowest pipeline that fits at each tensor- and expert-parallel degree, and from the best mapping that
// full sharding makes fit, and walks to ever better neighbors. It does not time what does not fit, nor schedule what a
// lower bound on its time rules out. If nothing fits, the mapping that needs the least memory wins. A batch that may
// move does so only if no fitting mapping divides it, or for the gain that TrainingFreedom names.
#pragma once

#include <vector>

#include "core/search/chosen.h"
#include "core/search/training_moves.h"

namespace slipstick {

struct TunedTraining {
  TrainingRun run;
  bool is_legal = false;  // false: the run has no legal mapping at all
  bool fits = false;
  std::vector<Chosen> chosen{};
  Count moves = 0, tried = 0;  // moves: of the longest walk; tried: mappings evaluated
};
// Bounds a walk. It also ends by itself, since each move is to a better mapping; it takes tens of moves.
inline constexpr Count kMostMoves = 1000;
// The model must be complete, the run's devices known.
TunedTraining TuneTraining(const Model& model, const Cluster& cluster, const TrainingRun& run,
                           const TrainingFreedom& freedom);

}  // namespace slipstick
