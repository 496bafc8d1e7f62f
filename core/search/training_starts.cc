// Starting points of a walk through the mappings of a training run.
#include <algorithm>
#include <utility>

#include "core/search/limits.h"
#include "core/search/training_moves.h"

namespace slipstick {

std::vector<std::vector<Degrees>> TrainingMoves::Columns() const {
  const Count inner = cluster_.networks.empty() ? Tally(1) : cluster_.networks.front().size;
  const std::vector<Count> all = Divisors(devices_);
  // Only degrees that the model allows: a number of devices may have hundreds of divisors, and three degrees are
  // combined here.
  const auto values = [&](MappingAxis member) {
    std::vector<Count> degrees = IsFree(member) ? all : std::vector<Count>{Pinned()[member]};
    const auto is_illegal = [&](Count degree) {
      if (member == MappingAxis::kTp) return model_.heads % degree != 0;
      return member == MappingAxis::kCp ? run_.sequence % degree != 0 : degree > model_.layers;
    };
    degrees.erase(std::remove_if(degrees.begin(), degrees.end(), is_illegal), degrees.end());
    return degrees;
  };
  std::vector<Count> experts =
      IsFree(MappingAxis::kEp) ? Divisors(model_.moe->experts) : std::vector<Count>{Pinned()[MappingAxis::kEp]};
  std::vector<std::vector<Degrees>> columns;
  const auto add = [&](Count tp, Count expert_tp, Count ep, Count cp) {
    std::vector<Degrees> column;
    for (const Count pp : values(MappingAxis::kPp)) {
      Degrees one = Pinned();
      one[MappingAxis::kTp] = tp, one[MappingAxis::kEp] = ep, one[MappingAxis::kCp] = cp, one[MappingAxis::kPp] = pp;
      if (IsFree(MappingAxis::kExpertTp)) one[MappingAxis::kExpertTp] = expert_tp;
      one = WithExchange({}, Settled(one));
      if (IsLegal(one)) column.push_back(one);
    }
    if (!column.empty()) columns.push_back(std::move(column));
  };
  for (const bool within : {true, false}) {
    for (const Count cp : values(MappingAxis::kCp)) {
      for (const Count tp : values(MappingAxis::kTp)) {
        if (within && IsFree(MappingAxis::kTp) && tp > inner) continue;
        for (const Count ep : experts) {
          add(tp, 1, ep, cp);
          if (tp > 1 && IsFree(MappingAxis::kExpertTp)) add(tp, tp, ep, cp);
          // For long sequences: the ranks of a node beyond tensor parallelism share the context.
          if (IsFree(MappingAxis::kCp) && inner > tp * cp && inner % tp == 0) add(tp, 1, ep, inner / tp);
        }
      }
      if (!columns.empty()) return columns;
    }
  }
  return columns;
}

std::optional<Degrees> TrainingMoves::FullySharded(const Degrees& degrees) const {
  const bool shards = DataRanks(degrees) * degrees[MappingAxis::kCp] > 1;
  if (!shards || !IsFree(MappingAxis::kZero) || zeros_.back() <= degrees[MappingAxis::kZero]) return std::nullopt;
  Degrees sharded = degrees;
  sharded[MappingAxis::kZero] = zeros_.back();
  return sharded;
}

}  // namespace slipstick
