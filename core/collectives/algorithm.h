// The table of collective algorithms.
//
// To add one: a row {name, title, applies, time} in the file of its family, and a value by hand in
// tests/core/collectives/algorithms_test.cc, whose EveryRow tests run over all rows. The fastest row that applies is
// chosen. A new family is a file and a line in algorithm.cc. `applies` and `time` get groups of at least two ranks.
// Figures of `time` cite the source.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/collectives/collective_types.h"
#include "core/collectives/group_view.h"

namespace slipstick {

struct CollectiveInstance {
  const CollectiveCall& call;
  const GroupView& view;
};

inline bool Is(const CollectiveInstance& instance, CollectiveType type) { return instance.call.type == type; }
inline bool IsReductionOrGather(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllReduce) || Is(instance, CollectiveType::kAllGather) ||
         Is(instance, CollectiveType::kReduceScatter);
}
// An all-reduce moves twice the data of an all-gather or reduce-scatter, in twice the steps.
inline double PassesOf(const CollectiveInstance& instance) { return Is(instance, CollectiveType::kAllReduce) ? 2 : 1; }

struct AlgorithmTime {
  Seconds time;
  Seconds latency;             // part of `time` that does not depend on the bytes
  std::optional<Bytes> bytes;  // sent per rank; absent: the collective's minimum
};

struct Algorithm {
  std::string_view name;
  std::string_view title;
  bool (*applies)(const CollectiveInstance& instance);
  AlgorithmTime (*time)(const CollectiveInstance& instance);
};
struct AlgorithmFamily {
  CollectiveLibrary library;
  std::span<const Algorithm> rows;
};

// For CollectiveLibrary::kMeasured.
std::span<const Algorithm> LibraryAlgorithms();  // NCCL, RCCL and similar libraries
std::span<const Algorithm> LibraryExchanges();   // their all-to-all and messages
std::span<const Algorithm> EngineAlgorithms();   // one-shot and two-shot kernels of serving engines

// For CollectiveLibrary::kAnalytic: closed forms of the literature.
std::span<const Algorithm> RingAlgorithms();
std::span<const Algorithm> RecursiveAlgorithms();     // halving, doubling, binomial, Bruck
std::span<const Algorithm> DirectAlgorithms();        // one-shot, two-shot, direct, pairwise, send
std::span<const Algorithm> TreeAlgorithms();          // binary trees, chain
std::span<const Algorithm> GridAlgorithms();          // torus and mesh, dimension by dimension
std::span<const Algorithm> HierarchicalAlgorithms();  // level by level
std::span<const Algorithm> InNetworkAlgorithms();     // reduction in the switches

// For CollectiveLibrary::kAlphaBeta.
std::span<const Algorithm> TextbookEquations();  // one latency, one bandwidth

// All families; if times are equal, the earlier family wins.
std::span<const AlgorithmFamily> AlgorithmFamilies();

// Lower bound on the bytes sent per rank by any algorithm without in-network reduction.
Bytes MinimumBytes(CollectiveType type, Bytes bytes, double ranks);

}  // namespace slipstick
