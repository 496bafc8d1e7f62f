// Types of one pass of a model over its devices: the requests in it, its time, and its operators.
#pragma once

#include <array>
#include <cassert>
#include <string_view>

#include "core/operators/kernel.h"

namespace slipstick {

enum class Phase { kPrefill, kDecode };

// Names of the operators that wait for the host or the network, all-reduces aside.
inline constexpr std::string_view kStageSend = "pipeline P2P", kExpertExchange = "expert exchange",
                                  kContextExchange = "context-parallel exchange", kCacheFromHost = "KV cache from host",
                                  kPrefixFromHost = "cached prefix from host",
                                  kExpertsFromHost = "experts' weights from host",
                                  kExpertsOnHost = "experts on the processor";
constexpr bool WaitsForHost(std::string_view name) {
  return name == kCacheFromHost || name == kPrefixFromHost || name == kExpertsFromHost || name == kExpertsOnHost;
}

// Time in which the device does not work: it waits for the host, or for another stage.
inline KernelTime Waiting(Seconds time) { return {time, {}, {}, Bound::kLatency, {}, {}}; }
// Time of messages between devices, or of copies from the host.
inline KernelTime NetworkTime(Seconds time) { return {time, {}, {}, Bound::kNetwork, {}, {}}; }

// An operator of a pass: its time per run, and how often the pass runs it (in how many layers).
struct OperatorTime {
  std::string_view name;
  KernelTime kernel;
  Ratio count = 1;
};

class OperatorBreakdown {
 public:
  // Adds an operator, if it takes time and runs at all; returns its time per run.
  Seconds Add(std::string_view name, const KernelTime& kernel, Ratio count) {
    if (count > 0 && kernel.time > Seconds{}) {
      assert(size_ < static_cast<int>(operators_.size()));
      operators_[size_++] = {name, kernel, count};
    }
    return kernel.time;
  }
  [[nodiscard]] const OperatorTime* begin() const { return operators_.data(); }
  [[nodiscard]] const OperatorTime* end() const { return operators_.data() + size_; }
  // Multiplies every operator's count.
  void Repeat(Ratio times);
  [[nodiscard]] Bound BoundOf() const;  // the bound with the largest share of the time
  // Totals over all runs; FLOPs and bytes are those of one device.
  [[nodiscard]] Seconds TimeOf() const;
  [[nodiscard]] Flops FlopsOf() const;
  [[nodiscard]] Bytes BytesOf() const;

 private:
  std::array<OperatorTime, 48> operators_{};
  int size_ = 0;
};

// Cached prefixes from host memory and SSD.
struct PrefixLoad {
  Seconds time;     // over the links
  Seconds exposed;  // not hidden by the pass
  Seconds stalls;   // part of `exposed` for which the other requests of the pass wait, too
};

struct PassCost {
  Seconds time;       // of one pass through all pipeline stages
  Seconds occupancy;  // of the slowest stage: the next pass can start after this time
  Seconds fixed{};    // of a prefill: lower bound, however few its tokens (host launches or whole micro-batches)
  OperatorBreakdown operators;
  PrefixLoad load{};  // of a prefill
};

// Prefill of `sequences` prompts in one pass. Each has `tokens` tokens to compute, after `cached` tokens that are
// already in the KV cache.
struct PrefillPass {
  Ratio sequences = 1, tokens = 1, cached = 0;
};

// Decode step of the sequences of one attention group, with a mean context of `context` tokens and `checked` tokens per
// sequence (more than 1 when drafts are verified). With `grown` > 0: the mean step while contexts grow from context -
// grown/2 to context + grown/2. Attention uses Simpson's rule, which is exact for costs linear in the context.
struct DecodePass {
  Ratio sequences = 1, context = 1, checked = 1, grown = 0;
  bool splits_evenly = false;  // over the pipeline stages, as in a static batch
};

// Step that decodes and prefills at once: the chunks of the prompts share the GEMMs with the decoded tokens.
struct MixedPass {
  DecodePass decode{};
  PrefillPass prompts{};
};

}  // namespace slipstick
