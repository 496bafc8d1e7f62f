#include "core/search/mapping_space.h"

#include <algorithm>
#include <cassert>

namespace slipstick {
namespace {

std::vector<Count> Divisors(Count n) {
  std::vector<Count> low, high;
  for (Count d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    low.push_back(d);
    if (d * d != n) high.push_back(n / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

bool Within(const SpaceLimits& limits, std::string_view member, Count value) {
  const auto found = limits.find(member);
  return found == limits.end() || (static_cast<double>(value) >= found->second.low && static_cast<double>(value) <= found->second.high);
}

// The candidates that the limits leave.
std::vector<Count> Kept(const SpaceLimits& limits, std::string_view member, std::vector<Count> candidates) {
  candidates.erase(std::remove_if(candidates.begin(), candidates.end(), [&](Count c) { return !Within(limits, member, c); }),
                   candidates.end());
  return candidates;
}

// Chunks a device may hold: those that cut the layers evenly, and one.
std::vector<Count> VirtualStages(Count layers, Count pp) {
  if (pp == 1) return {1};
  std::vector<Count> stages{1};
  if (layers % pp == 0) {
    for (const Count v : Divisors(layers / pp)) {
      if (v > 1) stages.push_back(v);
    }
  }
  return stages;
}

}  // namespace

std::vector<std::string_view> TrainingSpace::Members() {
  return {"tp", "cp", "ep", "expert_tp", "pp", "virtual_stages", "micro_batch", "zero", "sequence_parallel"};
}

TrainingSpace::TrainingSpace(const Model& model, const TrainingRun& run, Count devices, const SpaceLimits& limits) : base_(run.mapping) {
  recomputes_ = {Recompute::kNone, Recompute::kSelective, Recompute::kFull};
  if (run.flash_attention) recomputes_ = {Recompute::kNone, Recompute::kFull};  // the scores that selective drops are never kept
  const Count experts = model.moe ? model.moe->experts : 1;
  for (const Count tp : Kept(limits, "tp", Divisors(devices))) {
    if (model.heads % tp != 0) continue;
    for (const Count pp : Kept(limits, "pp", Divisors(devices / tp))) {
      if (pp > model.layers) continue;
      for (const Count cp : Kept(limits, "cp", Divisors(devices / tp / pp))) {
        if (cp > 1 && run.sequence % (2 * cp) != 0) continue;
        const Count dp = devices / tp / pp / cp;
        if (run.global_batch % dp != 0) continue;
        for (const Count expert_tp : Kept(limits, "expert_tp", model.moe ? Divisors(tp) : std::vector<Count>{1})) {
          for (const Count ep : Kept(limits, "ep", Divisors(experts))) {
            if ((devices / pp) % (ep * expert_tp) != 0) continue;
            Block block{tp, pp, cp, ep, expert_tp, dp, {}, {}, {}, {}, {}, size_};
            block.micro_batches = Kept(limits, "micro_batch", Divisors(run.global_batch / dp));
            block.virtual_stages = Kept(limits, "virtual_stages", VirtualStages(model.layers, pp));
            block.zeros = Kept(limits, "zero", dp * cp > 1 ? std::vector<Count>{0, 1, 2, 3} : std::vector<Count>{0});
            block.schedules = {PipelineSchedule::kOneFOneB};
            for (const Count sp : Kept(limits, "sequence_parallel", tp > 1 ? std::vector<Count>{0, 1} : std::vector<Count>{0})) {
              block.sequence_parallel.push_back(sp == 1);
            }
            const std::size_t count = block.micro_batches.size() * block.virtual_stages.size() * block.zeros.size() *
                                      block.schedules.size() * block.sequence_parallel.size() * recomputes_.size();
            if (count == 0) continue;
            size_ += static_cast<Count>(count);
            blocks_.push_back(std::move(block));
          }
        }
      }
    }
  }
}

TrainingChoice TrainingSpace::At(Count index) const {
  assert(index >= 0 && index < size_);
  const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), index, [](Count i, const Block& block) { return i < block.offset; });
  const Block& block = *(after - 1);
  auto rest = static_cast<std::size_t>(index - block.offset);
  const auto take = [&rest](const auto& values) {
    const auto value = values[rest % values.size()];
    rest /= values.size();
    return value;
  };
  TrainingChoice choice{base_, Recompute::kNone};
  choice.recompute = take(recomputes_);
  choice.mapping.zero = take(block.zeros);
  choice.mapping.sequence_parallel = take(block.sequence_parallel);
  choice.mapping.virtual_stages = take(block.virtual_stages);
  choice.mapping.schedule = take(block.schedules);
  choice.mapping.micro_batch = take(block.micro_batches);
  choice.mapping.tp = block.tp;
  choice.mapping.pp = block.pp;
  choice.mapping.cp = block.cp;
  choice.mapping.ep = block.ep;
  choice.mapping.expert_tp = block.expert_tp;
  choice.mapping.dp = block.dp;
  choice.mapping.shard_within.reset();
  return choice;
}

std::vector<std::string_view> ServingSpace::Members() { return {"tp", "pp", "ep", "attention_dp", "replicas", "batch"}; }

ServingSpace::ServingSpace(const Model& model, const ServingLoad& load, Count devices, const std::vector<ServingPrecision>& precisions,
                           const SpaceLimits& limits)
    : precisions_(precisions) {
  const auto same = [&](const ServingPrecision& p) {
    return p.weights == load.precision.weights && p.activations == load.precision.activations && p.kv_cache == load.precision.kv_cache;
  };
  if (std::none_of(precisions_.begin(), precisions_.end(), same)) precisions_.insert(precisions_.begin(), load.precision);
  for (const Count tp : Kept(limits, "tp", Divisors(devices))) {
    if (model.heads % tp != 0) continue;
    for (const Count pp : Kept(limits, "pp", Divisors(devices / tp))) {
      if (pp > model.layers) continue;
      for (const Count dp : Kept(limits, "attention_dp", model.moe ? Divisors(devices / tp / pp) : std::vector<Count>{1})) {
        const Count replicas = devices / tp / pp / dp;
        if (!Within(limits, "replicas", replicas)) continue;
        for (const Count ep : Kept(limits, "ep", model.moe ? Divisors(tp * dp) : std::vector<Count>{1})) {
          if (model.moe && model.moe->experts % ep != 0) continue;
          blocks_.push_back({tp, pp, ep, dp, replicas});
        }
      }
    }
  }
  for (Count batch = 1; batch <= 4096; batch *= 2) batches_.push_back(batch);
  batches_ = Kept(limits, "batch", std::move(batches_));
}

ServingChoice ServingSpace::At(Count index) const {
  assert(index >= 0 && index < Size());
  auto rest = static_cast<std::size_t>(index);
  const Count batch = batches_[rest % batches_.size()];
  rest /= batches_.size();
  const ServingPrecision& precision = precisions_[rest % precisions_.size()];
  rest /= precisions_.size();
  return {blocks_[rest], batch, precision};
}

}  // namespace slipstick
