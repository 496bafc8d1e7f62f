// The parts of a request's latencies.
#pragma once

#include "core/base/field.h"
#include "core/engine_step/step.h"

namespace slipstick {

struct Deployment;
struct ServingPerformance;

// The kind of work of an operator. In decode, GEMMs read weights, and attention reads the KV cache.
enum class Work { kGemm, kAttention, kCommunication, kSmallKernels, kScheduler };
ENUM_NAMES(Work, {kGemm, "gemm"}, {kAttention, "attention"}, {kCommunication, "communication"},
           {kSmallKernels, "small_kernels"}, {kScheduler, "scheduler"});
Work WorkOf(const OperatorTime& one);

struct TimeByWork {
  Seconds gemm, attention, communication, small_kernels, scheduler;

  [[nodiscard]] Seconds& Of(Work work) {
    constexpr Seconds TimeByWork::* kParts[] = {&TimeByWork::gemm, &TimeByWork::attention, &TimeByWork::communication,
                                                &TimeByWork::small_kernels, &TimeByWork::scheduler};
    return this->*kParts[static_cast<std::size_t>(work)];
  }
};

// The parts add up to the latency.
struct TpotParts {
  TimeByWork step;
  Seconds prefill;  // of other requests, between decode steps
};
struct TtftParts {
  Seconds handling;  // including the step in progress
  Seconds queue;     // waiting for a slot, or for a pool that is full
  Seconds others;    // prefills of other requests
  TimeByWork prefill;
  Seconds transfer, first_step;  // separate pools: transfer of the KV cache; the step that yields the first token
};
struct LatencyParts {
  TpotParts tpot;
  TtftParts ttft;
};
LatencyParts LatencyPartsOf(const Deployment& deployment, const ServingPerformance& performance);

}  // namespace slipstick
