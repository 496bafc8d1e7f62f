// The table of collective algorithms.
//
// To add one: a row {name, title, source, applies, time} in the file of its family, its name in a test of that family, and
// nothing else: the fastest row that applies is taken, and properties are tested over every row. A new family is a file
// and a line in collective.cc.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/trace.h"
#include "core/collectives/collective.h"
#include "core/collectives/group_view.h"

namespace slipstick {

struct Problem {
  const CollectiveCall& call;
  const GroupView& view;
};

struct AlgorithmTime {
  Seconds time;
  Seconds latency;             // of it, at no bytes
  std::optional<Bytes> bytes;  // that a rank sends; absent: the pattern's minimum
};

struct Algorithm {
  std::string_view name;
  std::string_view title;
  std::string_view source;
  Transport transport;
  bool (*applies)(const Problem& problem);
  AlgorithmTime (*time)(const Problem& problem, Trace& trace);
};
using AlgorithmFamily = const std::vector<Algorithm>& (*)();

// Libraries, on measured protocols.
const std::vector<Algorithm>& LibraryAlgorithms();  // NCCL, RCCL and their kin
const std::vector<Algorithm>& EngineAlgorithms();   // one-shot and two-shot kernels of serving engines

// The algorithms of the literature, on the stated latency and bandwidth.
const std::vector<Algorithm>& RingAlgorithms();
const std::vector<Algorithm>& RecursiveAlgorithms();     // halving, doubling, binomial, Bruck
const std::vector<Algorithm>& DirectAlgorithms();        // one-shot, two-shot, direct, pairwise, send
const std::vector<Algorithm>& TreeAlgorithms();          // binary trees, chain
const std::vector<Algorithm>& GridAlgorithms();          // torus and mesh, side by side
const std::vector<Algorithm>& HierarchicalAlgorithms();  // level by level
const std::vector<Algorithm>& InNetworkAlgorithms();     // switches that reduce

// Every family, in the order that ties are settled.
const std::vector<AlgorithmFamily>& AlgorithmFamilies();

// Bytes that a rank has to send whatever the algorithm (without in-network reduction).
Bytes MinimumBytes(Pattern pattern, Bytes bytes, double ranks);

}  // namespace slipstick
