// The serving part of a report.
#include "core/base/output.h"
#include "core/evaluation/chosen_outputs.h"
#include "core/evaluation/collective_outputs.h"
#include "core/evaluation/interval_outputs.h"
#include "core/evaluation/report.h"
#include "core/evaluation/simulation_outputs.h"
#include "core/evaluation/time_by_bound_outputs.h"

namespace slipstick {
namespace {

// Parts of the report without a struct of their own.
struct ServedMemory {
  const ServingReport& report;
};
struct OffloadedCache {
  const ServingReport& report;
};
struct ServedBound {
  const ServingReport& report;
};
struct ServedTimes {
  const ServingReport& report;
};
struct ServedNetwork {
  const ServingReport& report;
};
struct ServedOperators {
  const ServingReport& report;
};

}  // namespace

template <>
struct Outputs<ServedMemory> {
  using P = const ServedMemory&;
  static constexpr auto rows = std::tuple{Output(
                                              "weights", [](P part) { return part.report.memory.weights; }, "Weights"),
                                          Output(
                                              "kv_cache", [](P part) { return part.report.memory.kv_cache; }, "KV cache"),
                                          Output(
                                              "activations", [](P part) { return part.report.memory.activations; }, "Activations"),
                                          Output(
                                              "workspace", [](P part) { return part.report.memory.workspace; }, "Workspace"),
                                          Output(
                                              "total", [](P part) { return part.report.memory.Total(); }, "Peak memory per GPU")
                                              .Short("Memory")
                                              .SmallerIsBetter()
                                              .Searchable(),
                                          Output(
                                              "capacity", [](P part) { return part.report.capacity; }, "Capacity")};
};

template <>
struct Outputs<ServedPrefixes> {
  static constexpr auto rows = std::tuple{Output("load_s", &ServedPrefixes::load, "Load of a prompt's cached prefix"),
                                          Output("exposed_s", &ServedPrefixes::exposed, "Exposed load"),
                                          Output("device_bytes", &ServedPrefixes::device, "Prefixes kept in device memory"),
                                          Output("host_bytes", &ServedPrefixes::host, "Prefixes kept in host memory"),
                                          Output("ssd_bytes", &ServedPrefixes::ssd, "Prefixes kept on SSD")};
};

template <>
struct Outputs<OffloadedCache> {
  using P = const OffloadedCache&;
  static constexpr auto rows = std::tuple{Output(
                                              "bytes", [](P part) { return part.report.offloaded; }, "KV cache in host memory"),
                                          Output(
                                              "transfer_s", [](P part) { return part.report.offload_transfer; }, "Transfer time"),
                                          Output(
                                              "exposed_s", [](P part) { return part.report.offload_exposed; }, "Exposed transfer time")};
};

template <>
struct Outputs<ServedBound> {
  using P = const ServedBound&;
  static constexpr auto rows = std::tuple{Output(
                                              "prefill", [](P part) { return NameOf(part.report.prefill_bound); }, "Prefill bound"),
                                          Output(
                                              "decode", [](P part) { return NameOf(part.report.decode_bound); }, "Decode bound")};
};

template <>
struct Outputs<ServedTimes> {
  using P = const ServedTimes&;
  static constexpr auto rows =
      std::tuple{Output(
                     "prefill", [](P part) -> const auto& { return part.report.prefill_by_bound; }, "Prefill by bound"),
                 Output(
                     "decode", [](P part) -> const auto& { return part.report.decode_by_bound; }, "Decode step by bound")};
};

template <>
struct Outputs<ServedNetwork> {
  using P = const ServedNetwork&;
  static constexpr auto rows =
      std::tuple{Output(
                     "prefill", [](P part) -> const auto& { return part.report.prefill_network_by_level; }, "Prefill by network level"),
                 Output(
                     "decode", [](P part) -> const auto& { return part.report.decode_network_by_level; }, "Decode step by network level")};
};

template <>
struct Outputs<TpotParts> {
  using P = const TpotParts&;
  static constexpr auto rows =
      std::tuple{Output(
                     "gemm", [](P parts) { return parts.step.gemm; }, "Matrix products"),
                 Output(
                     "attention", [](P parts) { return parts.step.attention; }, "Attention and KV cache"),
                 Output(
                     "communication", [](P parts) { return parts.step.communication; }, "Communication"),
                 Output(
                     "small_kernels", [](P parts) { return parts.step.small_kernels; }, "Small kernels and launches"),
                 Output(
                     "scheduler", [](P parts) { return parts.step.scheduler; }, "Scheduler and host"),
                 Output("prefill", &TpotParts::prefill, "Prefills of other requests")};
};

template <>
struct Outputs<TtftParts> {
  using P = const TtftParts&;
  static constexpr auto rows =
      std::tuple{Output("handling", &TtftParts::handling, "Request handling"),
                 Output("queue", &TtftParts::queue, "Queue"),
                 Output("others", &TtftParts::others, "Prefills of other requests"),
                 Output(
                     "gemm", [](P parts) { return parts.prefill.gemm; }, "Matrix products"),
                 Output(
                     "attention", [](P parts) { return parts.prefill.attention; }, "Attention and KV cache"),
                 Output(
                     "communication", [](P parts) { return parts.prefill.communication; }, "Communication"),
                 Output(
                     "small_kernels", [](P parts) { return parts.prefill.small_kernels; }, "Small kernels and launches"),
                 Output(
                     "scheduler", [](P parts) { return parts.prefill.scheduler; }, "Scheduler and host"),
                 Output("transfer", &TtftParts::transfer, "KV-cache transfer"),
                 Output("first_step", &TtftParts::first_step, "First decode step")};
};

template <>
struct Outputs<ServedOperator> {
  static constexpr auto rows = std::tuple{Output("name", &ServedOperator::name, "Operator"),
                                          Output("flops", &ServedOperator::flops, "FLOPs"),
                                          Output("bytes", &ServedOperator::bytes, "DRAM bytes"),
                                          Output("level_bytes", &ServedOperator::level_bytes, "Bytes at each memory level"),
                                          Output("level_time_s", &ServedOperator::level_time, "Time of each memory level at its bandwidth"),
                                          Output("time_s", &ServedOperator::time, "Time"),
                                          Output("count", &ServedOperator::count, "Times per pass"),
                                          Output(
                                              "bound", [](const ServedOperator& one) { return NameOf(one.bound); }, "Bound"),
                                          Output(
                                              "work", [](const ServedOperator& one) { return NameOf(one.work); }, "Kind of work")};
};

template <>
struct Outputs<ServedOperators> {
  using P = const ServedOperators&;
  static constexpr auto rows =
      std::tuple{Output(
                     "prefill", [](P part) -> const auto& { return part.report.prefill_operators; }, "Operators of prefill"),
                 Output(
                     "decode", [](P part) -> const auto& { return part.report.decode_operators; }, "Operators of a decode step")};
};

template <>
struct Outputs<ServingPart> {
  using P = const ServingPart&;
  static std::optional<Percentiles> Simulated(P part, Percentiles SimulatedServing::*percentiles) {
    return part.simulated ? std::optional((*part.simulated).*percentiles) : std::nullopt;
  }
  static constexpr auto rows = std::tuple{
      Output(
          "feasible", [](P part) { return part.report.infeasible.empty(); }, "Feasible"),
      Output(
          "infeasible", [](P part) -> const auto& { return part.report.infeasible; }, "Reasons for infeasibility"),
      Output(
          "assumed", [](P part) -> const auto& { return part.report.assumed; }, "Assumed inputs (not measured)"),
      Output(
          "chosen", [](P part) -> const auto& { return part.chosen; }, "Mapping chosen, and why"),
      Output(
          "ttft_interval", [](P part) { return IntervalIn(part.intervals, &ServingIntervals::ttft); },
          "Time to first token (TTFT), 90 % interval"),
      Output(
          "tpot_interval", [](P part) { return IntervalIn(part.intervals, &ServingIntervals::tpot); },
          "Time per output token (TPOT), 90 % interval"),
      Output(
          "throughput_interval", [](P part) { return IntervalIn(part.intervals, &ServingIntervals::throughput); },
          "Throughput (tokens/s), 90 % interval"),
      Output(
          "memory_interval", [](P part) { return IntervalIn(part.intervals, &ServingIntervals::memory); },
          "Peak memory per GPU, 90 % interval"),
      Output(
          "ttft_s", [](P part) { return part.report.ttft; }, "Time to first token (TTFT)")
          .Short("TTFT")
          .SmallerIsBetter()
          .Searchable(),
      Output(
          "tpot_s", [](P part) { return part.report.tpot; }, "Time per output token (TPOT)")
          .Short("TPOT")
          .SmallerIsBetter()
          .Searchable(),
      Output(
          "request_latency_s", [](P part) { return part.report.request_latency; }, "End-to-end latency")
          .Short("Latency")
          .SmallerIsBetter()
          .Searchable(),
      Output(
          "prefill_s", [](P part) { return part.report.prefill; }, "Prefill of one prompt")
          .Short("Prefill")
          .SmallerIsBetter(),
      Output(
          "decode_step_s", [](P part) { return part.report.decode_step; }, "Decode step")
          .SmallerIsBetter(),
      Output(
          "static_ttft_s", [](P part) { return part.report.static_ttft; }, "Time to first token, synchronized batch")
          .SmallerIsBetter(),
      Output(
          "static_tpot_s", [](P part) { return part.report.static_tpot; }, "Time per output token, synchronized batch")
          .SmallerIsBetter(),
      Output(
          "static_latency_s", [](P part) { return part.report.static_latency; }, "End-to-end latency, synchronized batch")
          .SmallerIsBetter(),
      Output(
          "ttft_percentiles_s", [](P part) { return Simulated(part, &SimulatedServing::ttft_percentiles); },
          "Time to first token (TTFT), simulated")
          .SmallerIsBetter(),
      Output(
          "tpot_percentiles_s", [](P part) { return Simulated(part, &SimulatedServing::tpot_percentiles); },
          "Time per output token (TPOT), simulated")
          .SmallerIsBetter(),
      Output(
          "latency_percentiles_s", [](P part) { return Simulated(part, &SimulatedServing::latency_percentiles); },
          "End-to-end latency, simulated")
          .SmallerIsBetter(),
      Output(
          "simulated", [](P part) -> const auto& { return part.simulated; }, "Simulation of the scheduler"),
      Output(
          "tokens_per_s", [](P part) { return part.report.tokens_per_s; }, "Throughput (tokens/s)")
          .Short("Throughput")
          .LargerIsBetter()
          .Searchable(),
      Output(
          "tokens_per_s_per_device", [](P part) { return part.report.tokens_per_s_per_device; }, "Throughput per GPU (tokens/s)")
          .Short("Throughput per GPU")
          .LargerIsBetter()
          .Searchable(),
      Output(
          "tokens_per_s_per_user", [](P part) { return part.report.tokens_per_s_per_user; }, "Interactivity (tokens/s/user)")
          .Short("Interactivity")
          .LargerIsBetter()
          .Searchable(),
      Output(
          "requests_per_s", [](P part) { return part.report.requests_per_s; }, "Request throughput")
          .In("/s")
          .LargerIsBetter(),
      Output(
          "requests_in_flight", [](P part) { return part.report.requests_in_flight; }, "Requests in flight"),
      Output(
          "requests_waiting", [](P part) { return part.report.requests_waiting; }, "Requests waiting"),
      Output(
          "batch", [](P part) { return part.report.batch; }, "Concurrent requests per replica")
          .In("count"),
      Output(
          "kv_cache_bytes_per_token", [](P part) { return part.report.kv_cache_per_token; }, "KV cache per token (whole model)")
          .SmallerIsBetter(),
      Output(
          "kv_cache_bytes", [](P part) { return part.report.kv_cache; }, "KV cache per GPU, full batch")
          .SmallerIsBetter(),
      Output(
          "state_bytes_per_sequence", [](P part) { return part.report.state_per_sequence; }, "Recurrent state per sequence")
          .SmallerIsBetter(),
      Output(
          "kv_offload", [](P part) { return OffloadedCache{part.report}; }, "KV-cache offload"),
      Output(
          "host_bytes", [](P part) { return part.report.host_weights; }, "Experts' weights in host memory, per replica"),
      Output(
          "prefix_cache", [](P part) -> const auto& { return part.report.prefix_cache; }, "Prefix-cache tiers"),
      Output(
          "max_batch", [](P part) { return part.report.max_batch; }, "Max. concurrent sequences")
          .In("count")
          .LargerIsBetter(),
      Output(
          "max_context", [](P part) { return part.report.max_context; }, "Max. context (one request)")
          .In("count")
          .LargerIsBetter(),
      Output(
          "memory_bytes", [](P part) { return ServedMemory{part.report}; }, "Memory of the most loaded GPU"),
      Output(
          "memory_headroom_bytes", [](P part) { return part.report.capacity - part.report.memory.Total(); }, "Free memory per GPU")
          .LargerIsBetter()
          .Searchable(),
      Output(
          "bound", [](P part) { return ServedBound{part.report}; }, "Bound"),
      Output(
          "tpot_parts_s", [](P part) -> const auto& { return part.report.latency_parts.tpot; }, "Time per output token by part"),
      Output(
          "ttft_parts_s", [](P part) -> const auto& { return part.report.latency_parts.ttft; }, "Time to first token by part"),
      Output(
          "time_by_bound", [](P part) { return ServedTimes{part.report}; }, "Time by bound"),
      Output(
          "network_by_level", [](P part) { return ServedNetwork{part.report}; }, "Communication-bound time by level"),
      Output(
          "cost_usd_per_million_tokens",
          [](P part) {
            return part.cost_efficiency.token ? std::optional(slipstick::In(*part.cost_efficiency.token, kUsdPerMToken)) : std::nullopt;
          },
          "Cost per 1 M output tokens")
          .Short("Cost per 1 M tokens")
          .In("$")
          .SmallerIsBetter()
          .Searchable(),
      Output(
          "tokens_per_usd", [](P part) { return part.cost_efficiency.tokens_per_usd; }, "Output tokens per dollar")
          .LargerIsBetter()
          .Searchable(),
      Output(
          "tokens_per_j", [](P part) { return part.cost_efficiency.tokens_per_j; }, "Tokens per joule (serving)")
          .LargerIsBetter()
          .Searchable(),
      Output(
          "energy_j_per_token", [](P part) { return part.cost_efficiency.energy.total; }, "Energy per output token")
          .Short("Energy")
          .SmallerIsBetter()
          .Searchable(),
      Output(
          "device_energy_j_per_token", [](P part) { return part.cost_efficiency.energy.devices; }, "Energy per output token, devices")
          .SmallerIsBetter(),
      Output(
          "server_energy_j_per_token", [](P part) { return part.cost_efficiency.energy.servers; },
          "Energy per output token, rest of the servers")
          .SmallerIsBetter(),
      Output(
          "building_energy_j_per_token", [](P part) { return part.cost_efficiency.energy.building; },
          "Energy per output token, cooling and power conversion (PUE)")
          .SmallerIsBetter(),
      Output(
          "operators", [](P part) { return ServedOperators{part.report}; }, "Operators"),
      Output(
          "collectives", [](P part) -> const auto& { return part.report.collectives.uses(); }, "Collectives")};
};

Json WriteServing(const ServingPart& part) { return WriteOutputs(part); }
void DescribeServing(Json& out) { DescribeOutputs<ServingPart>("serving", out); }
std::vector<SearchableOutput<ServingPart>> SearchableServingOutputs() { return SearchableOutputs<ServingPart>(); }

}  // namespace slipstick
