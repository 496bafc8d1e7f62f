// All kinds of replicas of which a deployment may consist, as one indexed set.
#pragma once

#include <utility>
#include <vector>

#include "core/search/serving_space.h"
#include "core/sizing/sizing_problem.h"

namespace slipstick {

// A replica takes a part of the innermost network level, or whole levels: 2, 3, 4, 6, 8, 12 and so on. On a grid it
// takes a power of two.
class ReplicaSpace {
 public:
  explicit ReplicaSpace(const SizingProblem& problem);
  [[nodiscard]] Count Size() const { return size_; }
  // The number of devices of a replica, and the members that a search chooses for it.
  [[nodiscard]] std::pair<Count, ServingChoice> At(Count index) const;

 private:
  struct Block {
    Count offset, devices;
    ServingSpace space;
  };
  std::vector<Block> blocks_;
  Count size_ = 0;
};

}  // namespace slipstick
