// All valid ways to serve a load, as an indexed set: degrees, batch, precision, prefill chunk, pools.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/engine_step/serving_load.h"
#include "core/search/limits.h"
#include "core/workload/model.h"

namespace slipstick {

// The members that a serving search chooses.
struct ServingChoice {
  ServingMapping mapping;
  Count batch = 1;
  ServingPrecision precision;
  std::optional<Count> prefill_chunk;
  std::optional<Disaggregated> disaggregated;
};

// Precisions are the load's own unless a limit lists others, since they change the served model. Batches are powers of
// two and the load's own, or what a replica gets of the load's concurrency unless a limit is on the batch; prefill
// chunks are none, the load's own and powers of two below the prompt; pools are one shared pool and every split into
// whole groups of tp·pp·attention_dp devices. Context parallelism is none, the load's own, or covers all ranks that
// would hold copies of one KV cache. Prefill context parallelism is none, the load's own, or a power of two if the
// engine splits prompts and these are long. A load whose prefill pool has a device of its own keeps both pools and
// their devices: every layout of one is paired with every layout of the other.
class ServingSpace {
 public:
  // `devices`: total over all replicas, if all devices are of one kind.
  ServingSpace(const Model& model, const ServingLoad& load, Count devices, const SpaceLimits& limits);
  [[nodiscard]] Count Size() const;
  [[nodiscard]] ServingChoice At(Count index) const;
  // The load's concurrency, if it sets the batch.
  [[nodiscard]] const std::optional<Tally>& concurrency() const { return concurrency_; }
  static std::vector<std::string_view> Members();

 private:
  struct Block {
    ServingMapping mapping;
    std::optional<Disaggregated> pools;
  };
  void AddPools(Block block, Count devices, const SpaceLimits& limits);
  void AddPoolsOfTwoKinds(const Model& model, const ServingLoad& load, const Disaggregated& pools,
                          const SpaceLimits& limits);
  void AddAllowed(const Block& block, const SpaceLimits& limits);

  std::vector<Block> blocks_;
  std::vector<std::optional<ServingMapping>> prefill_mappings_{std::nullopt};  // absent: the block's mapping
  std::optional<Tally> concurrency_;
  std::vector<Count> batches_;
  std::vector<ServingPrecision> precisions_;
  std::vector<std::optional<Count>> chunks_;
};

}  // namespace slipstick
