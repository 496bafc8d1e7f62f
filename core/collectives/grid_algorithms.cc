// Bucket algorithms of meshes and tori: reduce-scatter dimension by dimension, then gather back.
#include <array>

#include "core/collectives/alpha_beta.h"

namespace slipstick {
namespace {

constexpr std::string_view kGridSource = "Chan et al., Collective communication: theory, practice and experience, 2007";

// A side of more than one rank, and its links: both ways around if it is closed, one if not, since a rank at the end of
// a line receives everything over its only link.
struct UsedSide {
  double ranks = 1, ways = 1;
};
struct UsedSides {
  std::array<UsedSide, kMaxSides> side{};
  int count = 0;
};
UsedSides SidesOf(const LevelView& view) {
  UsedSides sides;
  for (int i = 0; i < view.sides; ++i) {
    if (view.side[i] > 1) sides.side[sides.count++] = {view.side[i], view.wrapped[i] ? 2.0 : 1.0};
  }
  return sides;
}

bool HasSeveralSides(const CollectiveInstance& instance) {
  return IsWholeGrid(instance) && SidesOf(instance.view.levels[0]).count >= 2;
}
bool IsSolidGrid(const CollectiveInstance& instance) {
  return IsReductionOrGather(instance) && HasSeveralSides(instance);
}
// A broadcast scatters the buffer, which loads the links no more than a reduce-scatter, and gathers it.
bool ScatterOnGridApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kBroadcast) && HasSeveralSides(instance);
}
double GridPassesOf(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kBroadcast) ? 2 : PassesOf(instance);
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
  const Ratio passes = PassesOf(instance);
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = view.latency;
  const BytesPerSecond link = view.link;
  const Ratio steps = OfBlock("Steps of one pass", hops, view),
              share = OfBlock("Share of the buffer over one link", load, view, "over all sides");
  const Seconds latency = Figure("Steps along all sides", passes * steps * alpha, "", kGridSource);
  const Seconds transfer = Figure("Bytes through one link", passes * share * bytes / link, "", kGridSource);
  return Total(instance, latency, transfer, ReducedBytes(instance));
}
AlgorithmTime OneWay(const CollectiveInstance& instance) { return InTurn(instance, false); }
AlgorithmTime BothWays(const CollectiveInstance& instance) { return InTurn(instance, true); }

bool OneWayGridApplies(const CollectiveInstance& instance) {
  return IsSolidGrid(instance) && !IsFlat(instance, Topology::kMesh);
}

// All dimensions at once: the buffer is cut into a part per side. Each part passes all sides in rotated order, one per
// phase, so that in a phase every side carries one part. Part sizes are such that all take equally long in the first
// phase, which is the longest; a later one carries what the sides before have reduced, and lasts as long as its slowest
// part.
AlgorithmTime AtOnce(const CollectiveInstance& instance) {
  const LevelView& view = instance.view.levels[0];
  const UsedSides sides = SidesOf(view);
  double longest = 0, all_parts = 0;
  std::array<double, kMaxSides> part{}, reduced{};
  for (int i = 0; i < sides.count; ++i) {
    const auto [side, ways] = sides.side[i];
    longest = max(longest, side);
    part[i] = ways * side / (side - 1);
    all_parts += part[i];
    reduced[i] = 1;
  }
  double load = 0;  // of a link, in buffers
  for (int phase = 0; phase < sides.count; ++phase) {
    double slowest = 0;
    for (int i = 0; i < sides.count; ++i) {
      const auto [side, ways] = sides.side[(i + phase) % sides.count];
      slowest = max(slowest, part[i] / all_parts * (side - 1) / side / reduced[i] / ways);
      reduced[i] *= side;
    }
    load += slowest;
  }
  const Ratio passes = GridPassesOf(instance);
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = view.latency;
  const BytesPerSecond link = view.link;
  const Ratio steps = OfBlock("Steps of one pass", sides.count * (longest - 1), view, "as many phases as sides"),
              share = OfBlock("Share of the buffer over one link", load, view, "over all phases");
  const Seconds latency = Figure("Steps along all sides", passes * steps * alpha, "", kGridSource);
  const Seconds transfer = Figure("Bytes over all links at once", passes * share * bytes / link, "", kGridSource);
  return Total(instance, latency, transfer, ReducedBytes(instance));
}

}  // namespace

std::span<const Algorithm> GridAlgorithms() {
  static constexpr Algorithm rows[] = {
      {"bucket_one_way", "Dimension by dimension, one direction", OneWayGridApplies, OneWay},
      {"bucket", "Dimension by dimension, both directions where wrapped", IsSolidGrid, BothWays},
      {"bucket_at_once", "All dimensions at once", IsSolidGrid, AtOnce},
      {"scatter_all_gather_at_once", "Scatter, then all-gather, all dimensions at once", ScatterOnGridApplies, AtOnce},
  };
  return rows;
}

}  // namespace slipstick
