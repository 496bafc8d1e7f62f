#include "core/search/training_moves.h"

#include <algorithm>
#include <numeric>

#include "core/search/framework_limits.h"

namespace slipstick {
namespace {

std::vector<Count> PrimeFactors(Count n) {
  std::vector<Count> factors;
  for (Count p = 2; p * p <= n; ++p) {
    if (n % p != 0) continue;
    factors.push_back(p);
    while (n % p == 0) n /= p;
  }
  if (n > 1) factors.push_back(n);
  return factors;
}

Count NearestMultipleOf(Count unit, Count wanted) {
  return std::max<Count>(1, (2 * wanted + unit) / (2 * unit)) * unit;
}

}  // namespace

TrainingMoves::TrainingMoves(const Model& model, const Cluster& cluster, const TrainingRun& run,
                             const TrainingFreedom& freedom)
    : model_(model),
      cluster_(cluster),
      run_(run),
      freedom_(freedom),
      devices_(*run.devices),
      factors_(PrimeFactors(devices_)) {
  for (std::size_t i = 0; i < free_.size(); ++i) {
    free_[i] = std::find(freedom.pinned.begin(), freedom.pinned.end(), kAxisNames[i]) == freedom.pinned.end();
  }
  for (const MappingAxis member : {MappingAxis::kEp, MappingAxis::kExpertTp}) {
    if (!model.moe) free_[static_cast<std::size_t>(member)] = false;
  }
  const FrameworkCapabilities& can = run.framework.capabilities;
  const auto has = [](const std::vector<std::string>& list, std::string_view name) {
    return list.empty() || std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const MappingAxis axis : {MappingAxis::kTp, MappingAxis::kCp, MappingAxis::kPp, MappingAxis::kEp}) {
    const auto index = static_cast<std::size_t>(axis);
    if (!has(can.parallelism, kAxisNames[index])) free_[index] = false;
  }
  const bool has_choice =
      std::find(can.dispatchers.begin(), can.dispatchers.end(), "dedicated") != can.dispatchers.end();
  if (!model.moe || !has_choice || run.mapping.dispatch)
    free_[static_cast<std::size_t>(MappingAxis::kDispatch)] = false;
  if (!model.moe || run.mapping.overlap.ep) free_[static_cast<std::size_t>(MappingAxis::kExpertOverlap)] = false;
  zeros_ = can.zero.empty() ? std::vector<Count>{0, 1, 2, 3} : can.zero;
  for (const auto& [schedule, name] : EnumNames<PipelineSchedule>::names) {
    if (has(can.schedules, name)) schedules_.push_back(schedule);
  }
  if (schedules_.empty()) schedules_.push_back(PipelineSchedule::kOneFOneB);
  if (freedom.global_batch && Columns().empty()) keeps_batch_near_ = false;
}

Degrees TrainingMoves::Pinned() const {
  const TrainingMapping& mapping = run_.mapping;
  Degrees degrees;
  const auto pin = [&](MappingAxis member, Count value) {
    if (!IsFree(member)) degrees[member] = value;
  };
  pin(MappingAxis::kTp, mapping.tp), pin(MappingAxis::kCp, mapping.cp), pin(MappingAxis::kPp, mapping.pp),
      pin(MappingAxis::kEp, mapping.ep);
  pin(MappingAxis::kExpertTp, mapping.expert_tp), pin(MappingAxis::kVirtualStages, mapping.virtual_stages);
  pin(MappingAxis::kMicroBatch, mapping.micro_batch), pin(MappingAxis::kZero, mapping.zero);
  pin(MappingAxis::kSchedule, static_cast<Count>(mapping.schedule)),
      pin(MappingAxis::kSequenceParallel, mapping.sequence_parallel ? 1 : 0);
  if (IsFree(MappingAxis::kSchedule)) degrees[MappingAxis::kSchedule] = static_cast<Count>(schedules_.front());
  return degrees;
}

TrainingMapping TrainingMoves::MappingOf(const Degrees& degrees) const {
  TrainingMapping mapping = run_.mapping;
  mapping.tp = degrees[MappingAxis::kTp], mapping.cp = degrees[MappingAxis::kCp];
  mapping.pp = degrees[MappingAxis::kPp], mapping.ep = degrees[MappingAxis::kEp];
  mapping.expert_tp = degrees[MappingAxis::kExpertTp];
  mapping.virtual_stages = degrees[MappingAxis::kVirtualStages],
  mapping.micro_batch = degrees[MappingAxis::kMicroBatch];
  mapping.zero = degrees[MappingAxis::kZero], mapping.schedule = degrees.Schedule();
  if (IsFree(MappingAxis::kSchedule) && mapping.pp == 1)
    mapping.schedule = PipelineSchedule::kOneFOneB;  // with one stage all schedules are the same
  mapping.sequence_parallel = degrees[MappingAxis::kSequenceParallel] != 0;
  mapping.dp = DataRanks(degrees);
  if (degrees[MappingAxis::kEp] * degrees[MappingAxis::kExpertTp] <= 1) return mapping;
  if (IsFree(MappingAxis::kDispatch)) mapping.dispatch = static_cast<ExpertDispatch>(degrees[MappingAxis::kDispatch]);
  if (IsFree(MappingAxis::kExpertOverlap) && degrees[MappingAxis::kExpertOverlap] != 0) mapping.overlap.ep = true;
  return mapping;
}

Count TrainingMoves::GlobalBatch(const Degrees& degrees) const {
  return freedom_.global_batch
             ? NearestMultipleOf(DataRanks(degrees) * degrees[MappingAxis::kMicroBatch], run_.global_batch)
             : Count(run_.global_batch);
}

bool TrainingMoves::FitsModel(const Degrees& degrees) const {
  const Count tp = degrees[MappingAxis::kTp], cp = degrees[MappingAxis::kCp], pp = degrees[MappingAxis::kPp],
              ep = degrees[MappingAxis::kEp];
  if (devices_ % degrees.ModelParallel() != 0 || model_.heads % tp != 0 || pp > model_.layers ||
      run_.sequence % cp != 0)
    return false;
  if (run_.mapping.cp_kind == ContextKind::kUlysses && model_.heads % (cp * tp) != 0) return false;
  if (model_.moe && (model_.moe->experts % ep != 0 || tp % degrees[MappingAxis::kExpertTp] != 0)) return false;
  return (devices_ / pp) % (ep * degrees[MappingAxis::kExpertTp]) == 0;
}

bool TrainingMoves::FitsSchedule(const Degrees& degrees) const {
  const Count pp = degrees[MappingAxis::kPp], chunks = degrees[MappingAxis::kVirtualStages];
  const PipelineSchedule schedule = degrees.Schedule();
  if (pp == 1) return chunks == 1;
  if (pp * chunks > model_.layers + 2) return false;
  if (schedule == PipelineSchedule::kZbV) return chunks == 2;
  if (schedule == PipelineSchedule::kDualPipe && pp % 2 != 0) return false;
  return chunks == 1 || schedule == PipelineSchedule::kOneFOneB;
}

bool TrainingMoves::FitsBatch(const Degrees& degrees) const {
  const Count dp = DataRanks(degrees), unit = dp * degrees[MappingAxis::kMicroBatch], batch = GlobalBatch(degrees);
  if (batch % unit != 0 || (run_.batch_ramp && run_.batch_ramp->start % unit != 0)) return false;
  const Count moved = batch > run_.global_batch ? batch - run_.global_batch : run_.global_batch - batch;
  if (keeps_batch_near_ && moved * freedom_.batch_near > run_.global_batch) return false;
  const bool is_dp_free = std::find(freedom_.pinned.begin(), freedom_.pinned.end(), "dp") == freedom_.pinned.end();
  if (!is_dp_free && run_.mapping.dp && *run_.mapping.dp != dp) return false;
  return !run_.mapping.shard_within || dp % *run_.mapping.shard_within == 0;
}

bool TrainingMoves::Matters(MappingAxis member, const Degrees& degrees) const {
  if (member == MappingAxis::kDispatch) return degrees[MappingAxis::kEp] * degrees[MappingAxis::kExpertTp] > 1;
  if (member != MappingAxis::kExpertOverlap) return true;
  TrainingMapping mapping = MappingOf(degrees);
  mapping.overlap.ep.reset();
  return MayOverlapExperts(run_.framework.capabilities, mapping);
}

bool TrainingMoves::IsTooWideForDispatch(const Degrees& degrees) const {
  return degrees[MappingAxis::kEp] * degrees[MappingAxis::kExpertTp] > run_.framework.capabilities.dedicated_ranks;
}

Degrees TrainingMoves::WithExchange(const Degrees& from, Degrees to) const {
  for (const auto& [member, start] :
       {std::pair{MappingAxis::kDispatch, Count{0}}, std::pair{MappingAxis::kExpertOverlap, Count{1}}}) {
    if (!IsFree(member)) continue;
    if ((member == MappingAxis::kDispatch && IsTooWideForDispatch(to)) || !Matters(member, to)) {
      to[member] = 0;
    } else if (!Matters(member, from)) {
      to[member] = start;
    }
  }
  return to;
}

bool TrainingMoves::IsLegal(const Degrees& degrees) const {
  return FitsModel(degrees) && FitsSchedule(degrees) && FitsBatch(degrees) && InterleavesBatch(degrees);
}

bool TrainingMoves::InterleavesBatch(const Degrees& degrees) const {
  const Count chunks = degrees[MappingAxis::kVirtualStages], pp = degrees[MappingAxis::kPp];
  if (!IsFree(MappingAxis::kVirtualStages) || chunks <= 1 || pp <= 1 ||
      degrees.Schedule() != PipelineSchedule::kOneFOneB)
    return true;
  const Count micro_batches = GlobalBatch(degrees) / (DataRanks(degrees) * degrees[MappingAxis::kMicroBatch]);
  return InterleavesBatches(run_.framework.capabilities, pp, micro_batches);
}

// Virtual stages that place layers evenly, with or without embedding and head counted, and the powers of two.
std::vector<Count> TrainingMoves::VirtualStages(Count pp) const {
  if (!run_.framework.capabilities.interleaves) return {1};
  const Count most = pp > 1 ? std::max<Count>(1, (model_.layers + 2) / pp) : 1;
  std::vector<Count> even{1}, powers{1};
  for (Count one = 2; one <= most; ++one) {
    const Count stages = pp * one;
    if (model_.layers % stages == 0 || (run_.framework.ends_as_layers && (model_.layers + 2) % stages == 0))
      even.push_back(one);
    if ((one & (one - 1)) == 0) powers.push_back(one);
  }
  return even.size() > 1 ? even : powers;
}

Degrees TrainingMoves::Settled(Degrees degrees) const {
  if (devices_ % degrees.ModelParallel() != 0) return degrees;
  const Count dp = DataRanks(degrees), pp = degrees[MappingAxis::kPp], tp = degrees[MappingAxis::kTp];
  if (IsFree(MappingAxis::kVirtualStages)) {
    Count kept = 1;
    for (const Count chunks : VirtualStages(pp)) {
      if (chunks <= degrees[MappingAxis::kVirtualStages]) kept = chunks;
    }
    const bool folds = degrees.Schedule() == PipelineSchedule::kZbV && pp > 1;
    degrees[MappingAxis::kVirtualStages] = folds ? 2 : degrees.Schedule() == PipelineSchedule::kOneFOneB ? kept : 1;
  }
  if (IsFree(MappingAxis::kMicroBatch) && !freedom_.global_batch && run_.global_batch % dp == 0) {
    degrees[MappingAxis::kMicroBatch] = std::gcd(degrees[MappingAxis::kMicroBatch], run_.global_batch / dp);
  }
  if (!InterleavesBatch(degrees)) degrees[MappingAxis::kVirtualStages] = 1;
  if (IsFree(MappingAxis::kZero)) {
    const bool shards = dp * degrees[MappingAxis::kCp] > 1;
    if (!shards || std::find(zeros_.begin(), zeros_.end(), degrees[MappingAxis::kZero]) == zeros_.end())
      degrees[MappingAxis::kZero] = 0;
    // Sharding the optimizer costs no time: a walk starts from the lowest ZeRO stage that does so.
    if (shards && degrees[MappingAxis::kZero] == 0) {
      const auto least = std::find_if(zeros_.begin(), zeros_.end(), [](Count zero) { return zero > 0; });
      degrees[MappingAxis::kZero] = least == zeros_.end() ? 0 : *least;
    }
  }
  if (IsFree(MappingAxis::kExpertTp)) degrees[MappingAxis::kExpertTp] = std::gcd(degrees[MappingAxis::kExpertTp], tp);
  if (IsFree(MappingAxis::kSequenceParallel)) degrees[MappingAxis::kSequenceParallel] = tp > 1 ? 1 : 0;
  return degrees;
}

void TrainingMoves::VisitStages(const Degrees& from, const Visit& visit) const {
  const auto with = [&](MappingAxis member, Count value) {
    Degrees to = from;
    to[member] = value;
    return to;
  };
  if (IsFree(MappingAxis::kVirtualStages)) {
    const std::vector<Count> chunks = VirtualStages(from[MappingAxis::kPp]);
    const auto at = std::find(chunks.begin(), chunks.end(), from[MappingAxis::kVirtualStages]);
    if (at != chunks.end() && at != chunks.begin()) visit(with(MappingAxis::kVirtualStages, *(at - 1)));
    if (at != chunks.end() && at + 1 != chunks.end()) visit(with(MappingAxis::kVirtualStages, *(at + 1)));
    if (at != chunks.end() && at + 2 < chunks.end()) visit(with(MappingAxis::kVirtualStages, chunks.back()));
  }
  if (IsFree(MappingAxis::kSchedule) && from[MappingAxis::kPp] > 1) {
    for (const PipelineSchedule schedule : schedules_) {
      if (schedule != from.Schedule()) visit(Settled(with(MappingAxis::kSchedule, static_cast<Count>(schedule))));
    }
  }
  for (const MappingAxis member : {MappingAxis::kDispatch, MappingAxis::kExpertOverlap}) {
    if (IsFree(member) && Matters(member, from))
      visit(with(member, 1 - from[member]));  // dropped by `visit` where WithExchange resets it
  }
  if (IsFree(MappingAxis::kZero) && DataRanks(from) * from[MappingAxis::kCp] > 1) {
    for (const Count zero : zeros_) {
      if (zero == from[MappingAxis::kZero]) continue;
      Degrees to = with(MappingAxis::kZero, zero);
      visit(to);
      // The memory that more sharding frees can hold a larger micro-batch, which gathers the weights less often.
      to[MappingAxis::kMicroBatch] *= 2;
      if (zero > from[MappingAxis::kZero] && IsFree(MappingAxis::kMicroBatch)) visit(to);
    }
  }
}

// Visits `to`, and also changes that pay only together with this move: another interleaving of a new pipeline, larger
// micro-batches on fewer data-parallel ranks, more sharding with larger micro-batches instead of stages, other expert
// groups.
void TrainingMoves::VisitAround(const Degrees& from, const Degrees& to, Count factor, const Visit& visit) const {
  const auto with = [&](const Degrees& base, MappingAxis member, Count value) {
    if (!IsFree(member) || value == base[member]) return;
    Degrees other = base;
    other[member] = value;
    visit(other);
  };
  const auto regroup = [&](const Degrees& base) {
    visit(base);
    const Count micro_batch = base[MappingAxis::kMicroBatch], ep = base[MappingAxis::kEp];
    if (base.ModelParallel() > from.ModelParallel()) with(base, MappingAxis::kMicroBatch, micro_batch * factor);
    if (base[MappingAxis::kTp] > from[MappingAxis::kTp])
      with(base, MappingAxis::kExpertTp, base[MappingAxis::kExpertTp] * factor);
    if (base[MappingAxis::kPp] < from[MappingAxis::kPp] && zeros_.back() > base[MappingAxis::kZero]) {
      Degrees sharded = base;
      sharded[MappingAxis::kMicroBatch] = IsFree(MappingAxis::kMicroBatch) ? micro_batch * factor : micro_batch;
      with(sharded, MappingAxis::kZero, zeros_.back());
    }
    with(base, MappingAxis::kEp, ep * factor);
    if (ep % factor == 0) with(base, MappingAxis::kEp, ep / factor);
  };
  regroup(to);
  if (to[MappingAxis::kPp] == from[MappingAxis::kPp] || !IsFree(MappingAxis::kVirtualStages)) return;
  const std::vector<Count> chunks = VirtualStages(to[MappingAxis::kPp]);
  for (const Count one : {chunks.back(), chunks[chunks.size() / 2]}) {
    Degrees other = to;
    other[MappingAxis::kVirtualStages] = one;
    if (one != to[MappingAxis::kVirtualStages]) regroup(other);
  }
}

void TrainingMoves::VisitSplits(const Degrees& from, const Visit& visit) const {
  // std::nullopt: the data-parallel ranks, which take the remaining devices.
  using Split = std::optional<MappingAxis>;
  constexpr std::array<Split, 4> kSplits{MappingAxis::kTp, MappingAxis::kCp, MappingAxis::kPp, std::nullopt};
  const auto is_divisible = [&](Split split, Count factor) {
    return !split || (IsFree(*split) && from[*split] % factor == 0);
  };
  for (const Count factor : factors_) {
    for (const Split less : kSplits) {
      if (!is_divisible(less, factor)) continue;
      for (const Split more : kSplits) {
        if (less == more || !is_divisible(more, 1)) continue;
        Degrees to = from;
        if (less) to[*less] /= factor;
        if (more) to[*more] *= factor;
        VisitAround(from, Settled(to), factor, visit);
      }
    }
  }
}

void TrainingMoves::VisitNewPipelines(const Degrees& from, const Visit& visit) const {
  if (from[MappingAxis::kPp] > 1 || !IsFree(MappingAxis::kPp)) return;
  const Visit visit_legal = [&](const Degrees& moved) {
    const Degrees to = WithExchange(from, moved);
    if (IsLegal(to)) visit(to);
  };
  for (const Count factor : factors_) {
    for (const Count stages : {factor, factor * factor}) {
      for (const PipelineSchedule schedule : schedules_) {
        if (!IsFree(MappingAxis::kSchedule) && schedule != from.Schedule()) continue;
        Degrees to = from;
        to[MappingAxis::kPp] = stages, to[MappingAxis::kSchedule] = static_cast<Count>(schedule);
        if (IsFree(MappingAxis::kZero)) to[MappingAxis::kZero] = 0;
        VisitAround(from, Settled(to), stages, visit_legal);
        if (!IsFree(MappingAxis::kTp) || to[MappingAxis::kTp] % stages != 0) continue;
        to[MappingAxis::kTp] /= stages;
        VisitAround(from, Settled(to), stages, visit_legal);
      }
    }
  }
}

void TrainingMoves::VisitNeighbors(const Degrees& from, const Visit& visit) const {
  const Visit visit_legal = [&](const Degrees& moved) {
    const Degrees to = WithExchange(from, moved);
    if (to == from || !IsLegal(to)) return;
    visit(to);
    // Before the move, the groups were too wide for dedicated dispatch.
    if (!IsFree(MappingAxis::kDispatch) || !IsTooWideForDispatch(from) || IsTooWideForDispatch(to)) return;
    Degrees dedicated = to;
    dedicated[MappingAxis::kDispatch] = 1;
    if (Matters(MappingAxis::kDispatch, to)) visit(dedicated);
  };
  VisitSplits(from, visit_legal);
  for (const MappingAxis member : {MappingAxis::kEp, MappingAxis::kExpertTp, MappingAxis::kMicroBatch}) {
    if (!IsFree(member)) continue;
    for (const Count factor : {Count{2}, Count{3}, Count{5}}) {
      Degrees up = from, down = from;
      up[member] *= factor;
      visit_legal(up);
      if (down[member] % factor != 0) continue;
      down[member] /= factor;
      visit_legal(down);
    }
  }
  VisitStages(from, visit_legal);
}

}  // namespace slipstick
