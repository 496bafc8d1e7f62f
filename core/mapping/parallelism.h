// Parallelism: degrees, pipeline schedule, sharding, order of ranks.
#pragma once

#include <optional>
#include <string>

#include "core/base/field.h"
#include "core/base/tally.h"
#include "core/software/expert_dispatch.h"

namespace slipstick {

enum class ContextKind { kRing, kAllGather, kUlysses };
ENUM_NAMES(ContextKind, {kRing, "ring"}, {kAllGather, "all_gather"}, {kUlysses, "ulysses"});

enum class PipelineSchedule {
  kOneFOneB,
  kGpipe,
  kZbH1,
  kZbV,
  kDualPipe
};  // interleaving is 1f1b with virtual_stages > 1
ENUM_NAMES(PipelineSchedule, {kOneFOneB, "1f1b"}, {kGpipe, "gpipe"}, {kZbH1, "zb-h1"}, {kZbV, "zb-v"},
           {kDualPipe, "dualpipe"});

// Whether communication overlaps with compute; absent: the framework's default.
struct Overlap {
  std::optional<bool> tp, dp, pp, ep;
  friend bool operator==(const Overlap&, const Overlap&) = default;
};
FIELDS_OF(Overlap);

struct TrainingMapping {
  Tally tp = 1;
  bool sequence_parallel = false;
  Tally cp = 1;
  ContextKind cp_kind = ContextKind::kRing;
  Tally ep = 1;
  Tally expert_tp = 1;
  std::optional<ExpertDispatch> dispatch;  // absent: the framework's default
  Tally pp = 1;
  Tally virtual_stages = 1;
  PipelineSchedule schedule = PipelineSchedule::kOneFOneB;
  std::optional<Tally> dp;  // devices / (tp·pp·cp)
  Tally zero = 0;
  std::optional<Tally> shard_within;  // data-parallel ranks that ZeRO shards over; default: all
  Tally micro_batch = 1;
  std::string order = "tp-cp-ep-dp-pp";  // of parallel groups, innermost first
  Overlap overlap;
  friend bool operator==(const TrainingMapping&, const TrainingMapping&) = default;
};
// Devices of one data-parallel rank.
constexpr Count ModelParallelDevices(const TrainingMapping& mapping) { return mapping.tp * mapping.cp * mapping.pp; }
FIELDS_OF(TrainingMapping);

// Absent: the engine's default.
struct ServingOverlap {
  std::optional<bool> ep;
  friend bool operator==(const ServingOverlap&, const ServingOverlap&) = default;
};
FIELDS_OF(ServingOverlap);

struct ServingMapping {
  Tally tp = 1;
  Tally cp = 1;  // context parallelism of decode, within the tp ranks
  Tally pp = 1;
  Tally ep = 1;
  Tally attention_dp = 1;
  // groups of tp ranks, each with all weights, that split a prompt's tokens and its KV cache
  Tally prefill_cp = 1;
  std::optional<Tally> replicas;  // devices / (tp·pp·attention_dp·prefill_cp)
  ServingOverlap overlap;
  friend bool operator==(const ServingMapping&, const ServingMapping&) = default;
};
constexpr Count DevicesPerReplica(const ServingMapping& mapping) {
  return mapping.tp * mapping.pp * mapping.attention_dp * mapping.prefill_cp;
}
FIELDS_OF(ServingMapping);

}  // namespace slipstick
