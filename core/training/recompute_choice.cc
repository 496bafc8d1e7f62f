#include "core/training/recompute_choice.h"

namespace slipstick {

RecomputeChoice ChoiceFor(const TrainingRun& run) {
  RecomputeChoice choice;
  if (run.recompute == Recompute::kFull) choice.full_share = 1;
  if (run.recompute == Recompute::kSelective) {
    choice.selective.share = run.framework.compute.selective_share;
    choice.selective.framework_selection = run.framework.memory.selective_kept < 1;
    choice.selective.core = !choice.selective.framework_selection;
  }
  return choice;
}

}  // namespace slipstick
