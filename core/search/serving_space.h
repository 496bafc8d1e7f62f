// Every way to serve a load on the devices, as a countable set: degrees, batch, number formats, chunks, pools.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/search/limits.h"
#include "core/serving/serving_load.h"
#include "core/workload/model.h"

namespace slipstick {

// The members a serving search chooses.
struct ServingChoice {
  ServingMapping mapping;
  Count batch = 1;
  ServingPrecision precision;
  std::optional<Count> prefill_chunk;
  std::optional<Disaggregated> disaggregated;
};

// Formats change what is served, so they are the load's own unless a limit lists others. Batches are powers of two and the
// load's own; chunks are none, the load's own and powers of two below the prompt; pools are one for all and every split into
// whole groups of tp·pp·attention_dp devices; contexts are split over all ranks that would hold copies of one cache, over none, or as the
// load has it.
class ServingSpace {
 public:
  ServingSpace(const Model& model, const ServingLoad& load, Count devices, const SpaceLimits& limits);
  [[nodiscard]] Count Size() const;
  [[nodiscard]] ServingChoice At(Count index) const;
  static std::vector<std::string_view> Members();

 private:
  struct Block {
    ServingMapping mapping;
    std::optional<Disaggregated> disaggregated;
  };
  void AddPools(Block block, const ServingLoad& load, Count devices, const SpaceLimits& limits);

  std::vector<Block> blocks_;
  std::vector<Count> batches_;
  std::vector<ServingPrecision> precisions_;
  std::vector<std::optional<Count>> chunks_;
};

}  // namespace slipstick
