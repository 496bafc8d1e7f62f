#include "core/collectives/algorithm.h"

namespace slipstick {

const std::vector<AlgorithmFamily>& AlgorithmFamilies() {
  static const std::vector<AlgorithmFamily> families{LibraryAlgorithms,   LibraryExchanges,    EngineAlgorithms,
                                                     RingAlgorithms,      RecursiveAlgorithms, DirectAlgorithms,
                                                     TreeAlgorithms,      GridAlgorithms,      HierarchicalAlgorithms,
                                                     InNetworkAlgorithms, TextbookEquations};
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
