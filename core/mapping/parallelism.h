// How the work is spread over the devices: degrees, schedule, sharding, order of ranks.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "core/base/field.h"

namespace slipstick {

enum class ContextKind { kRing, kAllGather, kUlysses };
template <>
struct EnumNames<ContextKind> {
  static constexpr std::array<std::pair<ContextKind, std::string_view>, 3> names{
      {{ContextKind::kRing, "ring"}, {ContextKind::kAllGather, "all_gather"}, {ContextKind::kUlysses, "ulysses"}}};
};

enum class PipelineSchedule { kOneFOneB, kGpipe, kZbH1, kZbV, kDualPipe };  // interleaving is 1f1b with virtual_stages > 1
template <>
struct EnumNames<PipelineSchedule> {
  static constexpr std::array<std::pair<PipelineSchedule, std::string_view>, 5> names{{{PipelineSchedule::kOneFOneB, "1f1b"},
                                                                                       {PipelineSchedule::kGpipe, "gpipe"},
                                                                                       {PipelineSchedule::kZbH1, "zb-h1"},
                                                                                       {PipelineSchedule::kZbV, "zb-v"},
                                                                                       {PipelineSchedule::kDualPipe, "dualpipe"}}};
};

// Whether communication runs beside compute; absent: what the framework does.
struct Overlap {
  std::optional<bool> tp, dp, pp, ep;
  friend bool operator==(const Overlap&, const Overlap&) = default;
};
template <>
struct Schema<Overlap> {
  static constexpr auto fields = std::tuple{Of("tp", &Overlap::tp, "Tensor parallel exchange in chunks behind the matrix products"),
                                            Of("dp", &Overlap::dp, "Gradient reduction behind the backward pass"),
                                            Of("pp", &Overlap::pp, "Sends between pipeline stages behind compute"),
                                            Of("ep", &Overlap::ep, "Expert dispatch and combine behind compute")};
};

struct TrainingMapping {
  Count tp = 1;
  bool sequence_parallel = false;
  Count cp = 1;
  ContextKind cp_kind = ContextKind::kRing;
  Count ep = 1;
  Count expert_tp = 1;
  Count pp = 1;
  Count virtual_stages = 1;
  PipelineSchedule schedule = PipelineSchedule::kOneFOneB;
  std::optional<Count> dp;  // devices / (tp·pp·cp)
  Count zero = 0;
  std::optional<Count> shard_within;  // data-parallel ranks over which ZeRO shards; default all
  Count micro_batch = 1;
  std::string order = "tp-cp-ep-dp-pp";  // of ranks, innermost first
  Overlap overlap;
  friend bool operator==(const TrainingMapping&, const TrainingMapping&) = default;
};
template <>
struct Schema<TrainingMapping> {
  static constexpr auto fields = std::tuple{
      Of("tp", &TrainingMapping::tp, "Tensor parallel degree").Between(1, 1 << 20),
      Of("sequence_parallel", &TrainingMapping::sequence_parallel, "Norms and residuals are split over the tensor-parallel ranks"),
      Of("cp", &TrainingMapping::cp, "Context parallel degree").Between(1, 1 << 20),
      Of("cp_kind", &TrainingMapping::cp_kind, "How context parallelism exchanges keys and values").Advanced(),
      Of("ep", &TrainingMapping::ep, "Expert parallel degree").Between(1, 1 << 20),
      Of("expert_tp", &TrainingMapping::expert_tp, "Tensor parallel degree of the experts").Between(1, 1 << 20).Advanced(),
      Of("pp", &TrainingMapping::pp, "Pipeline parallel degree").Between(1, 1 << 20),
      Of("virtual_stages", &TrainingMapping::virtual_stages, "Model chunks a device holds (interleaving)").Between(1, 4096),
      Of("schedule", &TrainingMapping::schedule, "Order of forward and backward passes").Advanced(),
      Of("dp", &TrainingMapping::dp, "Data parallel degree: what devices, tp, pp and cp leave").Between(1, 1 << 24).Derived(),
      Of("zero", &TrainingMapping::zero, "ZeRO stage: 1 shards the optimizer, 2 gradients too, 3 weights too (FSDP)").Between(0, 3),
      Of("shard_within", &TrainingMapping::shard_within, "Data-parallel ranks that ZeRO shards over; the rest replicate")
          .Between(1, 1 << 24)
          .Advanced(),
      Of("micro_batch", &TrainingMapping::micro_batch, "Sequences in one pass").Between(1, 1 << 20),
      Of("order", &TrainingMapping::order, "Groups from the innermost network level out").Advanced(),
      Of("overlap", &TrainingMapping::overlap, "Which communication hides behind compute").Advanced()};
};

struct ServingMapping {
  Count tp = 1;
  Count cp = 1;
  Count pp = 1;
  Count ep = 1;
  Count attention_dp = 1;
  std::optional<Count> replicas;  // devices / (tp·pp·attention_dp)
  friend bool operator==(const ServingMapping&, const ServingMapping&) = default;
};
template <>
struct Schema<ServingMapping> {
  static constexpr auto fields = std::tuple{
      Of("tp", &ServingMapping::tp, "Tensor parallel degree of attention").Between(1, 1 << 20),
      Of("cp", &ServingMapping::cp, "Context parallel decode: of the tp ranks, so many share KV heads and split each sequence's cache")
          .Between(1, 1 << 20)
          .Advanced(),
      Of("pp", &ServingMapping::pp, "Pipeline parallel degree").Between(1, 1 << 20),
      Of("ep", &ServingMapping::ep, "Groups that a layer's experts lie on").Between(1, 1 << 20),
      Of("attention_dp", &ServingMapping::attention_dp, "Data parallel attention inside one replica").Between(1, 1 << 20),
      Of("replicas", &ServingMapping::replicas, "Copies of the model: what devices and the other degrees leave")
          .Between(1, 1 << 24)
          .Derived()};
};

}  // namespace slipstick
