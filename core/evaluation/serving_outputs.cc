// What a report says of serving.
#include "core/base/output.h"
#include "core/evaluation/report.h"

namespace slipstick {
namespace {

// Parts of a report that are no struct of their own.
struct ServedMemory {
  const ServingReport& report;
};
struct OffloadedCache {
  const ServingReport& report;
};
struct ServedBound {
  const ServingReport& report;
};
struct ServedOperators {
  const ServingReport& report;
};

}  // namespace

template <>
struct Outputs<ServedMemory> {
  using P = const ServedMemory&;
  static constexpr auto rows = std::tuple{Give(
                                              "weights", [](P part) { return part.report.memory.weights; }, "Weights"),
                                          Give(
                                              "kv_cache", [](P part) { return part.report.memory.kv_cache; }, "KV cache"),
                                          Give(
                                              "activations", [](P part) { return part.report.memory.activations; }, "Activations"),
                                          Give(
                                              "workspace", [](P part) { return part.report.memory.workspace; }, "Workspace"),
                                          Give(
                                              "total", [](P part) { return part.report.memory.Total(); }, "Peak memory per GPU")
                                              .Short("Memory")
                                              .Less()
                                              .Sought(),
                                          Give(
                                              "capacity", [](P part) { return part.report.capacity; }, "Capacity")};
};

template <>
struct Outputs<OffloadedCache> {
  using P = const OffloadedCache&;
  static constexpr auto rows = std::tuple{Give(
                                              "bytes", [](P part) { return part.report.offloaded; }, "KV cache in host memory"),
                                          Give(
                                              "transfer_s", [](P part) { return part.report.offload_transfer; }, "Transfer time"),
                                          Give(
                                              "exposed_s", [](P part) { return part.report.offload_exposed; }, "Exposed transfer time")};
};

template <>
struct Outputs<ServedBound> {
  using P = const ServedBound&;
  static constexpr auto rows = std::tuple{Give(
                                              "prefill", [](P part) { return NameOf(part.report.prefill_bound); }, "Prefill bound"),
                                          Give(
                                              "decode", [](P part) { return NameOf(part.report.decode_bound); }, "Decode bound")};
};

template <>
struct Outputs<ServedOperator> {
  static constexpr auto rows = std::tuple{Give("name", &ServedOperator::name, "Operator"),
                                          Give("flops", &ServedOperator::flops, "FLOPs"),
                                          Give("bytes", &ServedOperator::bytes, "DRAM bytes"),
                                          Give("time_s", &ServedOperator::time, "Time"),
                                          Give("count", &ServedOperator::count, "Times per pass"),
                                          Give(
                                              "bound", [](const ServedOperator& one) { return NameOf(one.bound); }, "Bound")};
};

template <>
struct Outputs<ServedOperators> {
  using P = const ServedOperators&;
  static constexpr auto rows =
      std::tuple{Give(
                     "prefill", [](P part) -> const auto& { return part.report.prefill_operators; }, "Operators of prefill"),
                 Give(
                     "decode", [](P part) -> const auto& { return part.report.decode_operators; }, "Operators of a decode step")};
};

template <>
struct Outputs<ServingPart> {
  using P = const ServingPart&;
  static std::optional<JoulesPerToken> AtTheWall(P part, JoulesPerToken energy) {
    return part.worth.at_the_wall ? std::optional(energy) : std::nullopt;
  }
  static constexpr auto rows = std::tuple{
      Give(
          "feasible", [](P part) { return part.report.infeasible.empty(); }, "Feasible"),
      Give(
          "infeasible", [](P part) -> const auto& { return part.report.infeasible; }, "Why it is infeasible"),
      Give(
          "assumed", [](P part) -> const auto& { return part.report.assumed; }, "Inputs that no measurement set"),
      Give(
          "ttft_s", [](P part) { return part.report.ttft; }, "Time to first token (TTFT)")
          .Short("TTFT")
          .Less()
          .Sought(),
      Give(
          "tpot_s", [](P part) { return part.report.tpot; }, "Time per output token (TPOT)")
          .Short("TPOT")
          .Less()
          .Sought(),
      Give(
          "request_latency_s", [](P part) { return part.report.request_latency; }, "End-to-end latency")
          .Short("Latency")
          .Less()
          .Sought(),
      Give(
          "prefill_s", [](P part) { return part.report.prefill; }, "Prefill of one prompt")
          .Short("Prefill")
          .Less(),
      Give(
          "decode_step_s", [](P part) { return part.report.decode_step; }, "Decode step")
          .Less(),
      Give(
          "static_ttft_s", [](P part) { return part.report.static_ttft; }, "Time to first token, synchronized batch")
          .Less(),
      Give(
          "static_tpot_s", [](P part) { return part.report.static_tpot; }, "Time per output token, synchronized batch")
          .Less(),
      Give(
          "static_latency_s", [](P part) { return part.report.static_latency; }, "End-to-end latency, synchronized batch")
          .Less(),
      Give(
          "tokens_per_s", [](P part) { return part.report.tokens_per_s; }, "Throughput (tokens/s)")
          .Short("Throughput")
          .More()
          .Sought(),
      Give(
          "tokens_per_s_per_device", [](P part) { return part.report.tokens_per_s_per_device; }, "Throughput per GPU (tokens/s)")
          .Short("Throughput per GPU")
          .More()
          .Sought(),
      Give(
          "tokens_per_s_per_user", [](P part) { return part.report.tokens_per_s_per_user; }, "Interactivity (tokens/s/user)")
          .Short("Interactivity")
          .More()
          .Sought(),
      Give(
          "requests_per_s", [](P part) { return part.report.requests_per_s; }, "Request throughput")
          .In("/s")
          .More(),
      Give(
          "requests_in_flight", [](P part) { return part.report.requests_in_flight; }, "Requests in flight"),
      Give(
          "requests_waiting", [](P part) { return part.report.requests_waiting; }, "Requests waiting"),
      Give(
          "batch", [](P part) { return part.report.batch; }, "Concurrent requests per replica")
          .In("count"),
      Give(
          "kv_cache_bytes_per_token", [](P part) { return part.report.kv_cache_per_token; }, "KV cache per token (whole model)")
          .Less(),
      Give(
          "kv_cache_bytes", [](P part) { return part.report.kv_cache; }, "KV cache per GPU, full batch")
          .Less(),
      Give(
          "state_bytes_per_sequence", [](P part) { return part.report.state_per_sequence; }, "Recurrent state per sequence")
          .Less(),
      Give(
          "kv_offload", [](P part) { return OffloadedCache{part.report}; }, "KV-cache offload"),
      Give(
          "max_batch", [](P part) { return part.report.max_batch; }, "Max. concurrent sequences")
          .In("count")
          .More(),
      Give(
          "max_context", [](P part) { return part.report.max_context; }, "Max. context (one request)")
          .In("count")
          .More(),
      Give(
          "memory_bytes", [](P part) { return ServedMemory{part.report}; }, "Memory of the most loaded GPU"),
      Give(
          "memory_headroom_bytes", [](P part) { return part.report.capacity - part.report.memory.Total(); }, "Free memory per GPU")
          .More()
          .OfSearchAlone(),
      Give(
          "bound", [](P part) { return ServedBound{part.report}; }, "Bound"),
      Give(
          "cost_usd_per_million_tokens",
          [](P part) { return part.worth.token ? std::optional(slipstick::In(*part.worth.token, kUsdPerMToken)) : std::nullopt; },
          "Cost per 1 M output tokens")
          .Short("Cost per 1 M tokens")
          .In("$")
          .Less()
          .Sought(),
      Give(
          "tokens_per_usd", [](P part) { return part.worth.tokens_per_usd; }, "Output tokens per dollar")
          .More()
          .Sought(),
      Give(
          "tokens_per_j", [](P part) { return part.worth.tokens_per_j; }, "Tokens per joule (serving)")
          .More()
          .Sought(),
      Give(
          "energy_j_per_token", [](P part) { return part.worth.energy.total; }, "Energy per output token")
          .Short("Energy")
          .Less()
          .Sought(),
      Give(
          "device_energy_j_per_token", [](P part) { return part.worth.energy.devices; }, "Energy per output token, devices")
          .Less(),
      Give(
          "server_energy_j_per_token", [](P part) { return AtTheWall(part, part.worth.energy.servers); },
          "Energy per output token, rest of the servers")
          .Less(),
      Give(
          "building_energy_j_per_token", [](P part) { return AtTheWall(part, part.worth.energy.building); },
          "Energy per output token, cooling and power conversion (PUE)")
          .Less(),
      Give(
          "operators", [](P part) { return ServedOperators{part.report}; }, "Operators")};
};

Json WriteServing(const ServingPart& part) { return WriteOutputs(part); }
void DescribeServing(Json& out) { DescribeOutputs<ServingPart>("serving", out); }
std::vector<SoughtOutput<ServingPart>> SoughtOfServing() { return SoughtOutputs<ServingPart>(); }

}  // namespace slipstick
