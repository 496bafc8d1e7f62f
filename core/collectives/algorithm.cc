#include "core/collectives/algorithm.h"

namespace slipstick {

std::span<const AlgorithmFamily> AlgorithmFamilies() {
  using enum CollectiveLibrary;
  static const AlgorithmFamily families[] = {
      {kMeasured, LibraryAlgorithms()},   {kMeasured, LibraryExchanges()},    {kMeasured, EngineAlgorithms()},
      {kAnalytic, RingAlgorithms()},      {kAnalytic, RecursiveAlgorithms()}, {kAnalytic, DirectAlgorithms()},
      {kAnalytic, TreeAlgorithms()},      {kAnalytic, GridAlgorithms()},      {kAnalytic, HierarchicalAlgorithms()},
      {kAnalytic, InNetworkAlgorithms()}, {kAlphaBeta, TextbookEquations()}};
  return families;
}

Bytes MinimumBytes(CollectiveType type, Bytes bytes, double ranks) {
  switch (type) {
    case CollectiveType::kAllReduce:
      return 2 * (ranks - 1) / ranks * bytes;
    case CollectiveType::kAllGather:
    case CollectiveType::kReduceScatter:
    case CollectiveType::kAllToAll:
      return (ranks - 1) / ranks * bytes;
    case CollectiveType::kBroadcast:
    case CollectiveType::kSendReceive:
      break;
  }
  return bytes;
}

}  // namespace slipstick
