// The serving part of a report.
#include "core/base/output.h"
#include "core/evaluation/report.h"
#include "core/evaluation/shared_outputs.h"
#include "core/evaluation/simulation_outputs.h"

namespace slipstick {
namespace {

double InAMillion(DollarsPerToken price) { return In(price, kUsdPerMToken); }
double GramsInAMillion(GramsPerToken carbon) { return 1e6 * carbon.base(); }

}  // namespace

template <>
struct Outputs<ServingMemory> {
  using M = ServingMemory;
  static constexpr auto rows = std::tuple{
      Output("weights", &M::weights, "Weights"),
      Output("kv_cache", &M::kv_cache, "KV cache"),
      Output("activations", &M::activations, "Activations"),
      Output("workspace", &M::workspace, "Workspace"),
      Output("total", &M::Total, "Peak memory per GPU").Short("Memory").SmallerIsBetter().Searchable(),
      Output("capacity", &M::capacity, "Capacity"),
  };
};

template <>
struct Outputs<ServedPrefixes> {
  static constexpr auto rows = std::tuple{
      Output("load_s", &ServedPrefixes::load, "Load of a prompt's cached prefix"),
      Output("exposed_s", &ServedPrefixes::exposed, "Exposed load"),
      Output("device_bytes", &ServedPrefixes::device, "Prefixes kept in device memory"),
      Output("host_bytes", &ServedPrefixes::host, "Prefixes kept in host memory"),
      Output("ssd_bytes", &ServedPrefixes::ssd, "Prefixes kept on SSD"),
  };
};

template <>
struct Outputs<EncodedImages> {
  static constexpr auto rows = std::tuple{
      Output("tokens", &EncodedImages::tokens, "Tokens of a prompt's images"),
      Output("encode_s", &EncodedImages::time, "Encoding of a prompt's images"),
  };
};

template <>
struct Outputs<CacheSize> {
  static constexpr auto rows = std::tuple{
      Output("memory_bytes", &CacheSize::memory, "Memory for idle contexts"),
      Output("hit_rate", &CacheSize::hit_rate, "Prefix-cache hit rate with it").In("%"),
  };
};

template <>
struct Outputs<ServedSessions> {
  using S = ServedSessions;
  static constexpr auto rows = std::tuple{
      Output("hit_rate", &S::hit_rate, "Prefix-cache hit rate").In("%").LargerIsBetter(),
      Output("device_hit_rate", &S::device_hit_rate, "Hit rate in device memory").In("%").LargerIsBetter(),
      Output("host_hit_rate", &S::host_hit_rate, "Hit rate in host memory").In("%"),
      Output("ssd_hit_rate", &S::ssd_hit_rate, "Hit rate on SSD").In("%"),
      Output("best_hit_rate", &S::best_hit_rate, "Hit rate if nothing were evicted").In("%").LargerIsBetter(),
      Output("reentry_ttft_s", &S::reentry_ttft, "Time to first token of turns after the first")
          .Short("Re-entry TTFT")
          .SmallerIsBetter(),
      Output("stay_s", &S::stay, "How long an idle context stays in device memory").LargerIsBetter(),
      Output("waiting", &S::waiting, "Sessions between two turns"),
      Output("sessions_per_s", &S::per_s, "Sessions per second").In("/s").LargerIsBetter(),
      Output("room_bytes", &S::room, "Device memory for idle contexts").LargerIsBetter(),
      Output("needed_bytes", &S::needed, "Contexts of the sessions that wait").SmallerIsBetter(),
      Output("sizes", &S::sizes, "Hit rate by memory for idle contexts").EachExplained(),
      Output("output_tokens", &S::output, "Output tokens of a session"),
  };
};

template <>
struct Outputs<OffloadedCache> {
  static constexpr auto rows = std::tuple{
      Output("bytes", &OffloadedCache::bytes, "KV cache in host memory"),
      Output("transfer_s", &OffloadedCache::transfer, "Transfer time"),
      Output("exposed_s", &OffloadedCache::exposed, "Exposed transfer time"),
  };
};

template <>
struct Outputs<ByPass<Bound>> {
  static constexpr auto rows = std::tuple{
      Output("prefill", &ByPass<Bound>::prefill, "Prefill bound"),
      Output("decode", &ByPass<Bound>::decode, "Decode bound"),
  };
};

template <>
struct Outputs<ByPass<TimeByBound>> {
  static constexpr auto rows = std::tuple{
      Output("prefill", &ByPass<TimeByBound>::prefill, "Prefill by bound"),
      Output("decode", &ByPass<TimeByBound>::decode, "Decode step by bound"),
  };
};

template <>
struct Outputs<ByPass<std::vector<NetworkLevelTime>>> {
  using Times = ByPass<std::vector<NetworkLevelTime>>;
  static constexpr auto rows = std::tuple{
      Output("prefill", &Times::prefill, "Prefill by network level"),
      Output("decode", &Times::decode, "Decode step by network level"),
  };
};

template <>
struct Outputs<TpotParts> {
  static constexpr auto rows = std::tuple{
      Output("gemm", &TpotParts::step, &TimeByWork::gemm, "Matrix products"),
      Output("attention", &TpotParts::step, &TimeByWork::attention, "Attention and KV cache"),
      Output("communication", &TpotParts::step, &TimeByWork::communication, "Communication"),
      Output("small_kernels", &TpotParts::step, &TimeByWork::small_kernels, "Small kernels and launches"),
      Output("scheduler", &TpotParts::step, &TimeByWork::scheduler, "Scheduler and host"),
      Output("prefill", &TpotParts::prefill, "Prefills of other requests"),
  };
};

template <>
struct Outputs<TtftParts> {
  static constexpr auto rows = std::tuple{
      Output("handling", &TtftParts::handling, "Request handling"),
      Output("queue", &TtftParts::queue, "Queue"),
      Output("others", &TtftParts::others, "Prefills of other requests"),
      Output("gemm", &TtftParts::prefill, &TimeByWork::gemm, "Matrix products"),
      Output("attention", &TtftParts::prefill, &TimeByWork::attention, "Attention and KV cache"),
      Output("communication", &TtftParts::prefill, &TimeByWork::communication, "Communication"),
      Output("small_kernels", &TtftParts::prefill, &TimeByWork::small_kernels, "Small kernels and launches"),
      Output("scheduler", &TtftParts::prefill, &TimeByWork::scheduler, "Scheduler and host"),
      Output("transfer", &TtftParts::transfer, "KV-cache transfer"),
      Output("first_step", &TtftParts::first_step, "First decode step"),
  };
};

template <>
struct Outputs<ServedOperator> {
  using O = ServedOperator;
  static constexpr auto rows = std::tuple{
      Output("name", &O::name, "Operator"),
      Output("flops", &O::flops, "FLOPs"),
      Output("bytes", &O::bytes, "DRAM bytes"),
      Output("level_bytes", &O::level_bytes, "Bytes at each memory level"),
      Output("level_time_s", &O::level_time, "Time of each memory level at its bandwidth"),
      Output("time_s", &O::time, "Time"),
      Output("count", &O::count, "Times per pass"),
      Output("bound", &O::bound, "Bound"),
      Output("work", &O::work, "Kind of work"),
  };
};

template <>
struct Outputs<ByPass<std::vector<ServedOperator>>> {
  using Operators = ByPass<std::vector<ServedOperator>>;
  static constexpr auto rows = std::tuple{
      Output("prefill", &Operators::prefill, "Operators of prefill"),
      Output("decode", &Operators::decode, "Operators of a decode step"),
  };
};

template <>
struct Outputs<TokenCost> {
  using P = TokenCost;
  using E = EnergyParts<JoulesPerToken>;
  static constexpr auto rows = std::tuple{
      Output("cost_usd_per_million_tokens", &P::token, InAMillion, "Cost of the pool per 1 M output tokens")
          .In("$")
          .SmallerIsBetter(),
      Output("energy_j_per_token", &P::energy, &E::total, "Energy of the pool per output token").SmallerIsBetter(),
      Output("carbon_g_per_million_tokens", &P::emitted, GramsInAMillion,
             "Operational carbon of the pool per 1 M output tokens")
          .In("g")
          .SmallerIsBetter(),
      Output("embodied_g_per_million_tokens", &P::embodied, GramsInAMillion,
             "Embodied carbon of the pool per 1 M output tokens")
          .In("g")
          .SmallerIsBetter(),
  };
};

template <>
struct Outputs<ByPass<TokenCost>> {
  using Pools = ByPass<TokenCost>;
  static constexpr auto rows = std::tuple{
      Output("prefill", &Pools::prefill, "Prefill pool"),
      Output("decode", &Pools::decode, "Decode pool"),
  };
};

template <>
struct Outputs<ServingPart> {
  using P = ServingPart;
  using I = ServingIntervals;
  using S = SimulatedServing;
  using C = ServingCostEfficiency;
  using E = EnergyParts<JoulesPerToken>;
  static constexpr auto rows = std::tuple{
      Output("feasible", &P::infeasible, IsFeasible, "Feasible"),
      Output("infeasible", &P::infeasible, "Reasons for infeasibility"),
      Output("assumed", &P::assumed, "Assumed inputs (not measured)"),
      Output("chosen", &P::chosen, "Mapping chosen, and why"),
      Output("ttft_interval", &P::intervals, &I::ttft, "Time to first token (TTFT), 90 % interval"),
      Output("tpot_interval", &P::intervals, &I::tpot, "Time per output token (TPOT), 90 % interval"),
      Output("throughput_interval", &P::intervals, &I::throughput, "Throughput (tokens/s), 90 % interval"),
      Output("memory_interval", &P::intervals, &I::memory, "Peak memory per GPU, 90 % interval"),
      Output("ttft_s", &P::ttft, "Time to first token (TTFT)").Short("TTFT").SmallerIsBetter().Searchable(),
      Output("tpot_s", &P::tpot, "Time per output token (TPOT)").Short("TPOT").SmallerIsBetter().Searchable(),
      Output("request_latency_s", &P::request_latency, "End-to-end latency")
          .Short("Latency")
          .SmallerIsBetter()
          .Searchable(),
      Output("prefill_s", &P::prefill, "Prefill of one prompt").Short("Prefill").SmallerIsBetter(),
      Output("decode_step_s", &P::decode_step, "Decode step").SmallerIsBetter(),
      Output("static_ttft_s", &P::static_ttft, "Time to first token, synchronized batch").SmallerIsBetter(),
      Output("static_tpot_s", &P::static_tpot, "Time per output token, synchronized batch").SmallerIsBetter(),
      Output("static_latency_s", &P::static_latency, "End-to-end latency, synchronized batch").SmallerIsBetter(),
      Output("ttft_percentiles_s", &P::simulated, &S::ttft_percentiles, "Time to first token (TTFT), simulated")
          .SmallerIsBetter(),
      Output("tpot_percentiles_s", &P::simulated, &S::tpot_percentiles, "Time per output token (TPOT), simulated")
          .SmallerIsBetter(),
      Output("latency_percentiles_s", &P::simulated, &S::latency_percentiles, "End-to-end latency, simulated")
          .SmallerIsBetter(),
      Output("simulated", &P::simulated, "Simulation of the scheduler"),
      Output("tokens_per_s", &P::tokens_per_s, "Throughput (tokens/s)")
          .Short("Throughput")
          .LargerIsBetter()
          .Searchable(),
      Output("tokens_per_s_per_device", &P::tokens_per_s_per_device, "Throughput per GPU (tokens/s)")
          .Short("Throughput per GPU")
          .LargerIsBetter()
          .Searchable(),
      Output("tokens_per_s_per_user", &P::tokens_per_s_per_user, "Interactivity (tokens/s/user)")
          .Short("Interactivity")
          .LargerIsBetter()
          .Searchable(),
      Output("requests_per_s", &P::requests_per_s, "Request throughput").In("/s").LargerIsBetter(),
      Output("requests_in_flight", &P::requests_in_flight, "Requests in flight"),
      Output("requests_waiting", &P::requests_waiting, "Requests waiting"),
      Output("batch", &P::batch, "Concurrent requests per replica").In("count"),
      Output("kv_cache_bytes_per_token", &P::kv_cache_per_token, "KV cache per token (whole model)").SmallerIsBetter(),
      Output("kv_cache_bytes", &P::kv_cache, "KV cache per GPU, full batch").SmallerIsBetter(),
      Output("state_bytes_per_sequence", &P::state_per_sequence, "Recurrent state per sequence").SmallerIsBetter(),
      Output("kv_offload", &P::kv_offload, "KV-cache offload"),
      Output("host_bytes", &P::host_weights, "Experts' weights in host memory, per replica"),
      Output("prefix_cache", &P::prefix_cache, "Prefix-cache tiers"),
      Output("images", &P::images, "Images of a prompt"),
      Output("sessions", &P::sessions, "Sessions of several turns"),
      Output("session_usd", &P::cost_efficiency, &C::session, "Cost of a session").SmallerIsBetter(),
      Output("max_batch", &P::max_batch, "Max. concurrent sequences").In("count").LargerIsBetter(),
      Output("default_sequences", &P::default_sequences, "Concurrent sequences by the engine's default").In("count"),
      Output("max_context", &P::max_context, "Max. context (one request)").In("count").LargerIsBetter(),
      Output("memory_bytes", &P::memory, "Memory of the most loaded GPU"),
      Output("memory_headroom_bytes", &P::memory, &ServingMemory::Free, "Free memory per GPU")
          .LargerIsBetter()
          .Searchable(),
      Output("bound", &P::bound, "Bound"),
      Output("tpot_parts_s", &P::latency_parts, &LatencyParts::tpot, "Time per output token by part"),
      Output("ttft_parts_s", &P::latency_parts, &LatencyParts::ttft, "Time to first token by part"),
      Output("time_by_bound", &P::time_by_bound, "Time by bound"),
      Output("network_by_level", &P::network_by_level, "Communication-bound time by level"),
      Output("cost_usd_per_million_tokens", &P::cost_efficiency, &C::token, InAMillion, "Cost per 1 M output tokens")
          .Short("Cost per 1 M tokens")
          .In("$")
          .SmallerIsBetter()
          .Searchable(),
      Output("tokens_per_usd", &P::cost_efficiency, &C::tokens_per_usd, "Output tokens per dollar")
          .LargerIsBetter()
          .Searchable(),
      Output("tokens_per_j", &P::cost_efficiency, &C::tokens_per_j, "Tokens per joule (serving)")
          .LargerIsBetter()
          .Searchable(),
      Output("energy_j_per_token", &P::cost_efficiency, &C::energy, &E::total, "Energy per output token")
          .Short("Energy")
          .SmallerIsBetter()
          .Searchable(),
      Output("device_energy_j_per_token", &P::cost_efficiency, &C::energy, &E::devices,
             "Energy per output token, devices")
          .SmallerIsBetter(),
      Output("server_energy_j_per_token", &P::cost_efficiency, &C::energy, &E::servers,
             "Energy per output token, rest of the servers")
          .SmallerIsBetter(),
      Output("network_energy_j_per_token", &P::cost_efficiency, &C::energy, &E::network,
             "Energy per output token, network outside the servers")
          .SmallerIsBetter(),
      Output("building_energy_j_per_token", &P::cost_efficiency, &C::energy, &E::building,
             "Energy per output token, cooling and power conversion (PUE)")
          .SmallerIsBetter(),
      Output("carbon_g_per_million_tokens", &P::cost_efficiency, &C::emitted, GramsInAMillion,
             "Operational carbon per 1 M output tokens")
          .In("g")
          .SmallerIsBetter()
          .Searchable(),
      Output("embodied_g_per_million_tokens", &P::cost_efficiency, &C::embodied, GramsInAMillion,
             "Embodied carbon per 1 M output tokens, with servers and network")
          .In("g")
          .SmallerIsBetter(),
      Output("pools", &P::cost_efficiency, &C::pools, "What each of two pools costs"),
      Output("operators", &P::operators, "Operators"),
      Output("collectives", &P::collectives, &CollectiveLog::uses, "Collectives"),
  };
};

Json WriteServing(const ServingPart& part) { return WriteOutputs(part); }
void AddShown(const ServingPart& part, std::vector<ShownNumber>& shown) { AddShown(part, "serving", shown); }
void DescribeServing(Json& out) { DescribeOutputs<ServingPart>("serving", out); }
std::vector<SearchableOutput<ServingPart>> SearchableServingOutputs() { return SearchableOutputs<ServingPart>(); }

}  // namespace slipstick
