#include "core/training/memo.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace slipstick {
namespace {

// The members of a mapping that a layer's work depends on; the others at their defaults.
TrainingMapping OfALayer(const TrainingMapping& mapping) {
  TrainingMapping layer = mapping;
  const TrainingMapping standard;
  layer.pp = standard.pp;
  layer.virtual_stages = standard.virtual_stages;
  layer.schedule = standard.schedule;
  layer.order = standard.order;  // what it does is in the strides
  if (mapping.zero < 3) {
    layer.zero = standard.zero;
    layer.dp = standard.dp;
    layer.shard_within = standard.shard_within;
  }
  return layer;
}

// Those that the places of the groups depend on.
TrainingMapping OfPlaces(const TrainingMapping& mapping) {
  TrainingMapping places = mapping;
  const TrainingMapping standard;
  places.micro_batch = standard.micro_batch;
  places.virtual_stages = standard.virtual_stages;
  places.schedule = standard.schedule;
  places.sequence_parallel = standard.sequence_parallel;
  places.zero = mapping.zero > 0 ? 1 : 0;
  return places;
}

class Hash {
 public:
  Hash& Mix(double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    state_ = (state_ ^ bits) * 0x9E3779B97F4A7C15ULL;
    state_ ^= state_ >> 29;
    return *this;
  }
  Hash& Mix(Count value) { return Mix(static_cast<double>(value)); }
  [[nodiscard]] std::size_t Modulo(std::size_t size) const { return static_cast<std::size_t>(state_ % size); }

 private:
  std::uint64_t state_ = 0xD1B54A32D192ED03ULL;
};

}  // namespace

CollectiveMemo::Entry* CollectiveMemo::Place(CollectiveType type, Bytes bytes, const GroupPlacement& group) {
  if (group.extent.empty() || group.extent.size() > kLevels) return nullptr;
  if (entries_.empty()) entries_.resize(kEntries);
  Hash hash;
  hash.Mix(static_cast<Count>(type)).Mix(bytes.base());
  for (const double extent : group.extent) hash.Mix(extent);
  return &entries_[hash.Modulo(kEntries)];
}

bool CollectiveMemo::Holds(const Entry& entry, CollectiveType type, Bytes bytes, const GroupPlacement& group) {
  return entry.levels == group.extent.size() && entry.type == type && entry.bytes == bytes &&
         std::equal(group.extent.begin(), group.extent.end(), entry.extent.begin());
}

void CollectiveMemo::Fill(Entry& entry, CollectiveType type, Bytes bytes, const GroupPlacement& group, Seconds time) {
  entry = {type, bytes, group.extent.size(), {}, time};
  std::copy(group.extent.begin(), group.extent.end(), entry.extent.begin());
}

TrainingMemo::TrainingMemo(const Model& model, const Cluster& cluster, const TrainingRun& run)
    : model_(model), run_(run), prepared_(PrepareCluster(cluster, run.framework)), times_(kTimes) {}

const TrainingContext& TrainingMemo::Context() {
  TrainingMapping places = OfPlaces(run_.mapping);
  if (!context_ || !(places == placed_)) {
    placed_ = std::move(places);
    context_.emplace(MakeContext(model_, prepared_, run_));
    context_->collectives = &collectives_;
  } else {
    context_->shape = ShapeOf(run_);
  }
  return *context_;
}

const LayerWorks& TrainingMemo::Works() {
  TrainingMapping layer = OfALayer(run_.mapping);
  if (!works_ || !(layer == worked_)) {
    worked_ = std::move(layer);
    works_ = WorksOf(*context_);
    plan_.reset();
  }
  return *works_;
}

const LayerTimes& TrainingMemo::Times(const RecomputeChoice& recompute) {
  TrainingMapping layer = OfALayer(run_.mapping);
  if (SplitsBackward(*context_)) layer.schedule = PipelineSchedule::kZbH1;  // any that splits
  Strides strides = context_->strides;
  strides.pipeline = 1;
  if (layer.zero < 3) strides.data = 1;
  Hash hash;
  hash.Mix(layer.tp).Mix(layer.cp).Mix(layer.ep).Mix(layer.expert_tp).Mix(layer.micro_batch).Mix(layer.zero).Mix(layer.dp.value_or(0));
  hash.Mix(Count{layer.sequence_parallel}).Mix(recompute.full_share).Mix(recompute.rest.share).Mix(Count{recompute.rest.core});
  hash.Mix(Count{layer.schedule != PipelineSchedule::kOneFOneB}).Mix(strides.tensor).Mix(strides.context).Mix(strides.data);
  std::unique_ptr<Timed>& entry = times_[hash.Modulo(kTimes)];
  if (entry && entry->mapping == layer && entry->recompute == recompute && entry->strides == strides) return entry->times;
  Trace off = Trace::Off();
  entry.reset(new Timed{layer, recompute, strides, TimeLayers(*context_, *works_, recompute, off, nullptr)});
  return entry->times;
}

const StagePlan& TrainingMemo::Plan() {
  const TrainingMapping& mapping = run_.mapping;
  if (!plan_ || planned_.pp != mapping.pp || planned_.virtual_stages != mapping.virtual_stages || planned_.schedule != mapping.schedule) {
    planned_ = mapping;
    plan_ = PlanLayers(*context_, *works_);
  }
  return *plan_;
}

const StepFlops& TrainingMemo::FlopsOf(const RecomputeChoice& recompute) {
  for (const auto& [choice, flops] : flops_) {
    if (choice == recompute) return flops;
  }
  Trace off = Trace::Off();
  return flops_.emplace_back(recompute, CountFlops(model_, run_, recompute, off)).second;
}

}  // namespace slipstick
