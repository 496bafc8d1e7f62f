// Bucket algorithms of meshes and tori: reduce-scatter dimension by dimension, then gather back.
#include "core/collectives/alpha_beta.h"

namespace slipstick {
namespace {

constexpr std::string_view kGridSource = "Chan et al., Collective communication: theory, practice and experience, 2007";

bool IsSolidGrid(const CollectiveInstance& instance) {
  if (!IsReductionOrGather(instance) || !IsFlat(instance) || !IsGrid(instance.view.levels[0])) return false;
  int used = 0;
  double ranks = 1;
  for (int i = 0; i < instance.view.levels[0].sides; ++i) {
    used += instance.view.levels[0].side[i] > 1;
    ranks *= instance.view.levels[0].side[i];
  }
  return used >= 2 && ranks == instance.view.ranks;
}

// Dimension by dimension: later dimensions carry data reduced by the earlier ones.
AlgorithmTime InTurn(const CollectiveInstance& instance, bool both_ways) {
  const LevelView& view = instance.view.levels[0];
  double hops = 0, load = 0, reduced = 1;
  for (int i = 0; i < view.sides; ++i) {
    const double side = view.side[i];
    hops += side - 1;
    load += (side - 1) / side / reduced / (both_ways && view.wrapped[i] ? 2 : 1);
    reduced *= side;
  }
  const Ratio passes = PassesOf(instance), ranks = view.ranks;
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = view.latency;
  const BytesPerSecond link = view.link;
  const Ratio steps = OfBlock("Steps of one pass", hops, view),
              share = OfBlock("Share of the buffer over one link", load, view, "over all sides");
  const Seconds latency = Figure("Steps along all sides", passes * steps * alpha, "", kGridSource);
  const Seconds transfer = Figure("Bytes through one link", passes * share * bytes / link, "", kGridSource);
  return Total(instance, latency, transfer, Reduces(instance) ? (ranks - 1) / ranks * bytes : Bytes());
}
AlgorithmTime OneWay(const CollectiveInstance& instance) { return InTurn(instance, false); }
AlgorithmTime BothWays(const CollectiveInstance& instance) { return InTurn(instance, true); }

bool OneWayGridApplies(const CollectiveInstance& instance) {
  return IsSolidGrid(instance) && !IsFlat(instance, Topology::kMesh);
}

// All dimensions at once, each with its part of the data in rotated order: every link is always busy. A side of length
// two has one link, used in one direction.
bool AtOnceApplies(const CollectiveInstance& instance) {
  if (!IsSolidGrid(instance)) return false;
  const LevelView& view = instance.view.levels[0];
  for (int i = 0; i < view.sides; ++i) {
    if ((!view.wrapped[i] && view.side[i] != 2) || view.side[i] != view.side[0]) return false;
  }
  return true;
}
AlgorithmTime AtOnce(const CollectiveInstance& instance) {
  const LevelView& view = instance.view.levels[0];
  const Ratio passes = PassesOf(instance), ranks = view.ranks, side = view.side[0], sides = view.sides;
  const double ways = view.wrapped[0] ? 2 : 1;
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = view.latency;
  const BytesPerSecond link = view.link;
  const Seconds latency = Figure("Steps along all sides", passes * sides * (side - 1) * alpha, "", kGridSource);
  const Seconds transfer =
      Figure("Bytes over all links at once", passes * (1 - 1 / ranks) * bytes / (ways * sides * link),
             "ways: directions along a side", kGridSource);
  return Total(instance, latency, transfer, Reduces(instance) ? (ranks - 1) / ranks * bytes : Bytes());
}

}  // namespace

const std::vector<Algorithm>& GridAlgorithms() {
  static const std::vector<Algorithm> rows{
      {"bucket_one_way", "Dimension by dimension, one direction", kGridSource, CollectiveLibrary::kAnalytic,
       OneWayGridApplies, OneWay},
      {"bucket", "Dimension by dimension, both directions where wrapped", kGridSource, CollectiveLibrary::kAnalytic,
       IsSolidGrid, BothWays},
      {"bucket_at_once", "All dimensions at once", kGridSource, CollectiveLibrary::kAnalytic, AtOnceApplies, AtOnce},
  };
  return rows;
}

}  // namespace slipstick
