#include "core/training/framework_warnings.h"

#include <algorithm>
#include <utility>

#include "core/training_stage/exchange.h"
#include "core/training_stage/schedule_types.h"

namespace slipstick {

void WarnOfWholeExperts(const TrainingContext& context, std::vector<std::string>& warnings) {
  const TrainingMapping& mapping = context.run.mapping;
  const Framework& framework = context.framework();
  const bool differs =
      framework.experts.expert_tp == ExpertTensor::kTensorParallel && mapping.tp > 1 && mapping.expert_tp == 1;
  if (!context.model.moe || !differs) return;
  const std::string degree = std::to_string(mapping.tp);
  warnings.push_back("ETP is 1; the default of " + framework.name + " is TP (" + degree +
                     "): training.mapping.expert_tp " + degree);
}

void WarnBeyondFramework(const TrainingContext& context, std::vector<std::string>& warnings) {
  const TrainingMapping& mapping = context.run.mapping;
  const Framework& framework = context.framework();
  const FrameworkCapabilities& can = framework.capabilities;
  const std::string schedule(NameOf(mapping.schedule));
  const auto lacks = [](const auto& list, const auto& one) {
    return !list.empty() && std::find(list.begin(), list.end(), one) == list.end();
  };
  if (mapping.pp > 1 && lacks(can.schedules, schedule))
    warnings.push_back(framework.name + " does not run the schedule " + schedule);
  if (mapping.virtual_stages > 1 && !can.interleaves)
    warnings.push_back(framework.name + " does not interleave pipeline stages");
  const auto micro_batches = static_cast<Count>(context.shape.micro_batches);
  const bool is_interleaved = mapping.schedule == PipelineSchedule::kOneFOneB && mapping.virtual_stages > 1;
  if (is_interleaved && !InterleavesBatches(can, mapping.pp, micro_batches)) {
    const bool in_stages = can.interleaved_batches == InterleavedBatches::kStages;
    const std::string unit = std::to_string(in_stages ? Count(mapping.pp) : micro_batches / mapping.pp);
    warnings.push_back(framework.name + " refuses " + std::to_string(micro_batches) + " micro-batches over " +
                       std::to_string(mapping.pp) + " interleaved stages: it takes multiples of " + unit +
                       "; change training.global_batch or micro_batch, or set virtual_stages to 1");
  }
  const bool shards = mapping.zero > 0 || context.shape.data * context.shape.context > 1;
  if (shards && lacks(can.zero, mapping.zero))
    warnings.push_back(framework.name + " does not run ZeRO " + std::to_string(mapping.zero));
  const Count expert_ranks = mapping.ep * mapping.expert_tp;
  const bool overlaps = mapping.overlap.ep.value_or(false) && expert_ranks > 1 && !PairsPasses(mapping.schedule);
  if (overlaps && !can.schedules.empty() && !can.overlaps_experts)
    warnings.push_back(framework.name + " does not overlap expert dispatch");
  if (mapping.overlap.tp.value_or(false) && !ReachesTensorOverlap(context))
    warnings.push_back(framework.name + " does not overlap TP communication between nodes");
  if (mapping.dispatch == ExpertDispatch::kDedicated && expert_ranks > can.dedicated_ranks) {
    warnings.push_back("Dedicated dispatch serves at most " + std::to_string(can.dedicated_ranks) + " ranks, not " +
                       std::to_string(expert_ranks));
  }
  const std::pair<const char*, Count> degrees[]{
      {"tp", mapping.tp}, {"cp", mapping.cp}, {"pp", mapping.pp}, {"ep", mapping.ep}};
  for (const auto& [name, degree] : degrees) {
    if (degree > 1 && lacks(can.parallelism, name))
      warnings.push_back(framework.name + " does not run " + name + " > 1");
  }
}

}  // namespace slipstick
