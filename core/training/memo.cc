#include "core/training/memo.h"

#include "core/training_stage/hash.h"
#include "core/training_stage/schedule_types.h"

namespace slipstick {
namespace {

// A mapping with only the members that layers depend on; the others have their defaults.
TrainingMapping LayerMembers(const TrainingMapping& mapping) {
  TrainingMapping layer = mapping;
  const TrainingMapping standard;
  layer.pp = standard.pp;
  layer.virtual_stages = standard.virtual_stages;
  layer.schedule = standard.schedule;
  layer.order = standard.order;  // layers depend on it only through Strides
  if (mapping.zero < 3) {
    layer.zero = standard.zero;
    layer.dp = standard.dp;
    layer.shard_within = standard.shard_within;
  }
  return layer;
}

// A mapping with only the members that the placement of groups depends on.
TrainingMapping PlacementMembers(const TrainingMapping& mapping) {
  TrainingMapping placement = mapping;
  const TrainingMapping standard;
  placement.micro_batch = standard.micro_batch;
  placement.virtual_stages = standard.virtual_stages;
  placement.schedule = standard.schedule;
  placement.sequence_parallel = standard.sequence_parallel;
  placement.zero = mapping.zero > 0 ? 1 : 0;
  return placement;
}

}  // namespace

TrainingMemo::TrainingMemo(const Model& model, const Cluster& cluster, const TrainingRun& run)
    : model_(model), run_(run), prepared_(PrepareCluster(cluster, run.framework)), times_(kTimes) {}

const TrainingContext& TrainingMemo::Context() {
  TrainingMapping placement = PlacementMembers(run_.mapping);
  if (!context_ || !(placement == context_mapping_)) {
    context_mapping_ = std::move(placement);
    context_.emplace(MakeContext(model_, prepared_, run_));
    context_->collectives = &collectives_;
  } else {
    context_->shape = ShapeOf(run_);
  }
  return *context_;
}

const LayerWorks& TrainingMemo::Works() {
  TrainingMapping layer = LayerMembers(run_.mapping);
  if (!works_ || !(layer == works_mapping_)) {
    works_mapping_ = std::move(layer);
    works_ = WorksOf(*context_);
    plan_.reset();
  }
  return *works_;
}

const LayerTimes& TrainingMemo::Times(const RecomputeChoice& recompute) {
  TrainingMapping layer = LayerMembers(run_.mapping);
  const PipelineSchedule schedule = run_.mapping.schedule;
  // ZB-H1 represents all schedules that split the backward pass without pairing passes.
  if (SplitsBackward(*context_)) layer.schedule = PairsPasses(schedule) ? schedule : PipelineSchedule::kZbH1;
  if (HasPipelinedLaunches(*context_)) layer.pp = 2;  // represents every pipeline
  Strides strides = context_->strides;
  strides.pipeline = 1;
  if (layer.zero < 3) strides.data = 1;
  Hash hash;
  hash.Mix(layer.tp)
      .Mix(layer.cp)
      .Mix(layer.ep)
      .Mix(layer.expert_tp)
      .Mix(layer.micro_batch)
      .Mix(layer.zero)
      .Mix(layer.dp.value_or(0));
  hash.Mix(layer.pp).Mix(Count{layer.sequence_parallel});
  hash.Mix(recompute.full_share).Mix(recompute.selective.share).Mix(recompute.selective.core);
  hash.Mix(Count{layer.schedule != PipelineSchedule::kOneFOneB})
      .Mix(strides.tensor)
      .Mix(strides.context)
      .Mix(strides.data);
  hash.Mix(Count{layer.overlap.ep.value_or(false)})
      .Mix(static_cast<Count>(layer.dispatch.value_or(ExpertDispatch::kAllToAll)));
  std::unique_ptr<Timed>& entry = times_[hash.Modulo(kTimes)];
  if (entry && entry->mapping == layer && entry->recompute == recompute && entry->strides == strides)
    return entry->times;
  entry = std::make_unique<Timed>(Timed{layer, recompute, strides, TimeLayers(*context_, *works_, recompute, nullptr)});
  return entry->times;
}

const StagePlan& TrainingMemo::Plan() {
  const TrainingMapping& mapping = run_.mapping;
  if (!plan_ || plan_mapping_.pp != mapping.pp || plan_mapping_.virtual_stages != mapping.virtual_stages ||
      plan_mapping_.schedule != mapping.schedule) {
    plan_mapping_ = mapping;
    plan_ = PlanLayers(*context_, *works_);
  }
  return *plan_;
}

const StepFlops& TrainingMemo::FlopsOf(const RecomputeChoice& recompute) {
  for (const auto& [choice, flops] : flops_) {
    if (choice == recompute) return flops;
  }
  return flops_.emplace_back(recompute, CountFlops(model_, run_, recompute)).second;
}

}  // namespace slipstick
