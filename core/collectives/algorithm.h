// The table of collective algorithms.
//
// To add one: a row {name, title, source, library, applies, time} in the file of its family, and a value by hand in
// tests/core/collectives/algorithms_test.cc, whose EveryRow tests run over all rows. The fastest row that applies is
// chosen. A new family is a file and a line in algorithm.cc. `applies` and `time` get groups of at least two ranks.
#pragma once

#include <string_view>
#include <vector>

#include "core/collectives/collective_types.h"
#include "core/collectives/group_view.h"

namespace slipstick {

struct CollectiveInstance {
  const CollectiveCall& call;
  const GroupView& view;
};

struct AlgorithmTime {
  Seconds time;
  Seconds latency;             // part of `time` that does not depend on the bytes
  std::optional<Bytes> bytes;  // sent per rank; absent: the collective's minimum
};

struct Algorithm {
  std::string_view name;
  std::string_view title;
  std::string_view source;
  CollectiveLibrary library;
  bool (*applies)(const CollectiveInstance& instance);
  AlgorithmTime (*time)(const CollectiveInstance& instance);
};
using AlgorithmFamily = const std::vector<Algorithm>& (*)();

// For CollectiveLibrary::kMeasured.
const std::vector<Algorithm>& LibraryAlgorithms();  // NCCL, RCCL and similar libraries
const std::vector<Algorithm>& LibraryExchanges();   // their all-to-all and messages
const std::vector<Algorithm>& EngineAlgorithms();   // one-shot and two-shot kernels of serving engines

// For CollectiveLibrary::kAnalytic: closed forms of the literature.
const std::vector<Algorithm>& RingAlgorithms();
const std::vector<Algorithm>& RecursiveAlgorithms();     // halving, doubling, binomial, Bruck
const std::vector<Algorithm>& DirectAlgorithms();        // one-shot, two-shot, direct, pairwise, send
const std::vector<Algorithm>& TreeAlgorithms();          // binary trees, chain
const std::vector<Algorithm>& GridAlgorithms();          // torus and mesh, dimension by dimension
const std::vector<Algorithm>& HierarchicalAlgorithms();  // level by level
const std::vector<Algorithm>& InNetworkAlgorithms();     // reduction in the switches

// For CollectiveLibrary::kAlphaBeta.
const std::vector<Algorithm>& TextbookEquations();  // one latency, one bandwidth

// All families; if times are equal, the earlier family wins.
const std::vector<AlgorithmFamily>& AlgorithmFamilies();

// Lower bound on the bytes sent per rank by any algorithm without in-network reduction.
Bytes MinimumBytes(CollectiveType type, Bytes bytes, double ranks);

}  // namespace slipstick
