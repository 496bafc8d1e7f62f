// All kinds of replicas that a deployment may consist of, as one indexed set.
#pragma once

#include <utility>
#include <vector>

#include "core/search/serving_space.h"
#include "core/sizing/sizing_problem.h"

namespace slipstick {

// On parts of the innermost network level, and on whole ones by powers of two; of a grid, on powers of two.
class ReplicaSpace {
 public:
  explicit ReplicaSpace(const SizingProblem& problem);
  [[nodiscard]] Count Size() const { return size_; }
  // The devices of a replica, and what a search chooses of it.
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
