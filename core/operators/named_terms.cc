#include "core/operators/named_terms.h"

#include <array>
#include <deque>
#include <string>

#include "core/base/bind_inputs.h"
#include "core/base/field_table.h"
#include "core/base/figure.h"
#include "core/operators/kernel_family_fields.h"

namespace slipstick {
namespace {

// A family whose constants have nodes, cited as those of a device that was measured or not.
struct NamedFamily {
  NamedFamily(const Device& device, Trace& trace) : family(*device.architecture) {
    const auto bind = [&](auto& table, std::string_view name, std::string_view source) {
      BindConstants(table, KernelTable(device, name), SourceOf(device, source), trace);
    };
    bind(family.traits, "traits", family.gemm.source);
    bind(family.gemm, "gemm", family.gemm.source);
    bind(family.attention.decode, "attention.decode", family.attention.decode_source);
    bind(family.attention.step, "attention.step", family.attention.step.source);
    bind(family.attention, "attention", family.attention.source);
    bind(family.latent.sparse, "latent.sparse", family.latent.sparse.source);
    bind(family.latent, "latent", family.latent.source);
    bind(family.experts, "experts", family.experts.source);
    bind(family.rowwise, "rowwise", family.rowwise.source);
    bind(family.recurrence, "recurrence", family.recurrence.source);
    // Of exchanges and sends, which no device's rules fill.
    BindConstants(family.step, KernelTable(device, "step"), family.step.source, trace);
    BindConstants(family.peer_reduce, KernelTable(device, "peer_reduce"), family.peer_reduce.source, trace);
    ExpertExchangeTable& exchange = family.expert_exchange;
    const std::string path = KernelTable(device, "expert_exchange");
    BindConstants(exchange.domain_dispatch, path + ".domain_dispatch", exchange.domain_source, trace);
    BindConstants(exchange.domain_combine, path + ".domain_combine", exchange.domain_source, trace);
    BindConstants(exchange, path, exchange.source, trace);
  }
  KernelFamily family;
};

// A device whose inputs have nodes.
struct NamedDevice {
  NamedDevice(const Device& stated, Trace& trace) : device(stated) {
    const std::string path = "cluster.device";
    BindInputs(device.peak, path + ".peak", trace);
    BindInputs(device.units, path + ".units", trace);
    BindInputs(device.clock, path + ".clock", trace);
    BindInputs(device.exponentials, path + ".exponentials", trace);
    BindInputs(device.memory, path + ".memory", trace);
    BindInputs(device.caches, path + ".caches", trace);
    BindInputs(device.tdp, path + ".tdp", trace);
    BindInputs(device.die.link_power, path + ".die.link_power", trace);
    BindInputs(device.efficiency, path + ".efficiency", trace);
    const bool is_measured = SourceOf(device, device.name) == device.name;
    const std::string key = KernelTable(device, is_measured ? "measured" : "assumed");
    device.architecture =
        Architecture(trace.Kept<NamedFamily>(key, [&] { return std::make_shared<NamedFamily>(stated, trace); }).family);
  }
  // Whether it has these numbers.
  [[nodiscard]] bool Is(const Device& other) const {
    return architecture == other.architecture && device.peak == other.peak &&
           Count{device.units} == Count{other.units} && device.clock == other.clock &&
           device.exponentials == other.exponentials && device.memory == other.memory &&
           device.caches == other.caches && device.tdp == other.tdp && device.die.link_power == other.die.link_power &&
           device.efficiency == other.efficiency;
  }
  Device device;
  Architecture architecture = device.architecture;  // as it was stated
};

}  // namespace

const Device& Named(const Device& device, Trace& trace) {
  if (!trace.on()) return device;
  using Devices = std::deque<NamedDevice>;
  Devices& known = trace.Kept<Devices>("device " + trace.DeviceHere(), [] { return std::make_shared<Devices>(); });
  for (const NamedDevice& one : known) {
    if (one.Is(device)) return one.device;
  }
  return known.emplace_back(device, trace).device;
}

FlopsPerSecond PeakRate(const Device& device, Precision precision, Trace& trace) {
  const FlopsPerSecond rate = PeakRate(Named(device, trace), precision);
  trace.Alias("peak_rate", rate, "rate of these units");
  return rate;
}

BytesPerSecond L2Rate(const Device& device, Trace& trace) {
  const BytesPerSecond rate = L2Rate(Named(device, trace));
  trace.Alias("l2_rate", rate, "rate of this cache");
  return rate;
}

Bytes L2Capacity(const Device& device, Trace& trace) {
  const Bytes capacity = L2Capacity(Named(device, trace));
  if (device.caches.empty() || !device.architecture->traits.has_l2) {
    trace.Input("l2_capacity", capacity, "cluster.device.caches");
  } else {
    trace.Alias("l2_capacity", capacity, "capacity of this cache");
  }
  return capacity;
}

Stream SlowestStream(const Device& device, Trace& trace) {
  const Stream stream = SlowestStream(Named(device, trace));
  trace.Alias("bandwidth", stream.bandwidth, "bandwidth of this stream");
  return stream;
}

Ratio SustainedClockDerating(const Device& device, Trace& trace) {
  const Ratio derating = SustainedClockDerating(Named(device, trace));
  trace.Alias("sustained_clock_derating", derating, "loss of this clock");
  return derating;
}

void AssumeRules(const Device& device, Trace& trace) {
  for (const FilledMember& member : FilledByRules(device)) trace.Assume(member.path, member.rule);
}

void ReplaceByUtilizations(const Cluster& stated, const Utilizations& utilizations, const std::string& path,
                           Trace& trace) {
  if (!trace.on()) return;
  const auto share = [&](double value, const char* name) {
    return Ratio::FromBase(value, trace.InputNode(path + "." + name, value, Ratio::kDimension));
  };
  const Ratio of_peaks = share(utilizations.compute, "compute"), of_memory = share(utilizations.memory, "memory"),
              of_network = share(utilizations.network, "network");
  const auto replace = [&](const std::string& input, auto own, Ratio utilization) {
    using Rate = decltype(own);
    const Trace::Scope scope(trace, input);
    const Rate bound = Rate::FromBase(own.base(), trace.InputNode(input, own.base(), Rate::kDimension));
    trace.Replace(input, Figure("Rate that every operator reaches", utilization * bound, "roofline"),
                  "roofline's rate");
  };
  PeakRates peaks = stated.device.peak;
  BindInputs(peaks, "cluster.device.peak", [&](const BoundNumber& peak) -> const Node* {
    replace(peak.path, FlopsPerSecond::FromBase(peak.value), of_peaks);
    return nullptr;
  });
  replace("cluster.device.memory.bandwidth", stated.device.memory.bandwidth, of_memory);
  for (std::size_t i = 0; i < stated.device.caches.size(); ++i) {
    const std::optional<BytesPerSecond>& bandwidth = stated.device.caches[i].bandwidth;
    if (bandwidth) replace("cluster.device.caches." + std::to_string(i) + ".bandwidth", *bandwidth, of_memory);
  }
  for (std::size_t i = 0; i < stated.networks.size(); ++i)
    replace("cluster.networks." + std::to_string(i) + ".bandwidth", stated.networks[i].bandwidth, of_network);
  // What the device would reach by itself.
  const auto set = [&](double value, std::initializer_list<const char*> members) {
    trace.Input("set", value, path);
    for (const char* member : members) trace.Replace(std::string("cluster.device.efficiency.") + member, value, "set");
  };
  set(1, {"matrix", "matrix_fp8", "stream", "decode_stream", "attention_forward", "attention_backward"});
  set(0, {"power_fall", "sustained_fall", "launch"});
}

LevelTimes TimesThroughCaches(const LevelTraffic& traffic, const Device& device, Trace& trace) {
  LevelTraffic named = traffic;
  named.l2 = trace.Carry("l2_traffic", traffic.l2);
  named.l1 = trace.Carry("l1_traffic", traffic.l1);
  return TimesThroughCaches(named, Named(device, trace));
}

Seconds SlowestLevel(Seconds work, std::string_view work_is, const LevelTimes& levels, Trace& trace) {
  const Seconds slowest = SlowestLevel(trace.Carry(work_is, work), levels);
  trace.Alias("bounded_time", slowest, "time of this level");
  return slowest;
}

namespace {

// A kernel's figures under the names of callers.
KernelTime Under(const KernelTime& kernel, Trace& trace, bool needs_bytes = true) {
  trace.Alias("flops", kernel.flops, "FLOPs of this kernel");
  if (needs_bytes) trace.Alias("bytes", kernel.bytes, "bytes of this kernel");
  trace.Alias("time", kernel.time, "time of this kernel");
  return kernel;
}

}  // namespace

KernelTime TimeOf(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters, Trace& trace) {
  if (!trace.on()) return TimeOf(gemm, device, parameters);
  Gemm named = gemm;
  named.m = trace.Carry("m", gemm.m);
  named.n = trace.Carry("n", gemm.n);
  named.k = trace.Carry("k", gemm.k);
  if (gemm.groups != 1) named.groups = trace.Carry("groups", gemm.groups);
  named.weight_size = trace.Carry("weight_size", ElementSize(gemm.weights));
  named.activation_size = trace.Carry("activation_size", ElementSize(NativePrecision(device, gemm.precision)));
  named.output_bytes = trace.Carry("output_size", gemm.output_bytes);
  // No figure of a training step rests on the bytes of its products.
  return Under(TimeOf(named, Named(device, trace), parameters), trace, parameters.setting != GemmSetting::kTraining);
}

KernelTime TimeOf(const MoeLayer& layer, const Device& device, const MoeKernelParameters& parameters, Trace& trace) {
  if (!trace.on()) return TimeOf(layer, device, parameters);
  MoeLayer named = layer;
  named.tokens = trace.Carry("group_tokens", layer.tokens);
  if (layer.held_tokens) named.held_tokens = trace.Carry("held_tokens", *layer.held_tokens);
  named.experts = trace.Carry("held_experts", layer.experts);
  named.top_k = trace.Carry("top_k", layer.top_k);
  named.hidden = trace.Carry("hidden", layer.hidden);
  named.ffn = trace.Carry("expert_ffn", layer.ffn);
  named.tp = trace.Carry("expert_tp", layer.tp);
  named.ep = trace.Carry("ep", layer.ep);
  named.imbalance = trace.Carry("imbalance", layer.imbalance);
  named.weight_size = trace.Carry("weight_size", ElementSize(layer.weights));
  named.activation_size = trace.Carry("activation_size", ElementSize(NativePrecision(device, layer.precision)));
  named.output_bytes = trace.Carry("output_size", layer.output_bytes);
  return Under(TimeOf(named, Named(device, trace), parameters), trace);
}

double ExpertsHit(const MoeLayer& layer, double rows, const Device& device, Trace& trace) {
  MoeLayer named = layer;
  named.experts = trace.Carry("held_experts", layer.experts);
  named.top_k = trace.Carry("top_k", layer.top_k);
  named.ep = trace.Carry("ep", layer.ep);
  const Ratio hit = ExpertsHit(named, trace.Carry("rows", Ratio(rows)),
                               Named(device, trace).architecture->experts.serving.routing_preference);
  trace.Alias("experts_hit", hit, "experts of this pass");
  return hit;
}

KernelTime TimeOf(const Attention& attention, const Device& device, Trace& trace) {
  if (!trace.on()) return TimeOf(attention, device);
  Attention named = attention;
  named.batch = trace.Carry("batch", attention.batch);
  named.q_len = trace.Carry("q_len", attention.q_len);
  named.kv_len = trace.Carry("kv_len", attention.kv_len);
  named.heads = trace.Carry("heads", attention.heads);
  named.kv_heads = trace.Carry("kv_heads", attention.kv_heads);
  named.head_dim = trace.Carry("head_dim", attention.head_dim);
  named.window = trace.Carry("window", attention.window);
  named.kv_element = trace.Carry("kv_element", ElementSize(attention.kv_precision));
  const Precision computed = ComputedIn(attention, IsolatedKernelParameters(attention, device), device);
  named.row_element = trace.Carry("row_element", ElementSize(computed));
  return Under(TimeOf(named, Named(device, trace)), trace);
}

KernelTime TimeOf(const LatentAttention& mla, const Device& device, Trace& trace) {
  if (!trace.on()) return TimeOf(mla, device);
  LatentAttention named = mla;
  named.batch = trace.Carry("batch", mla.batch);
  named.q_len = trace.Carry("q_len", mla.q_len);
  named.kv_len = trace.Carry("kv_len", mla.kv_len);
  named.heads = trace.Carry("heads", mla.heads);
  named.kv_lora_rank = trace.Carry("kv_lora_rank", mla.kv_lora_rank);
  named.rope_head_dim = trace.Carry("rope_head_dim", mla.rope_head_dim);
  named.nope_head_dim = trace.Carry("nope_head_dim", mla.nope_head_dim);
  named.value_head_dim = trace.Carry("value_head_dim", mla.value_head_dim);
  named.kv_element = trace.Carry("kv_element", ElementSize(mla.kv_precision));
  return Under(TimeOf(named, Named(device, trace)), trace);
}

namespace {

SparseAttention Named(const SparseAttention& attention, Trace& trace) {
  SparseAttention named = attention;
  named.batch = trace.Carry("batch", attention.batch);
  named.q_len = trace.Carry("q_len", attention.q_len);
  named.kv_len = trace.Carry("kv_len", attention.kv_len);
  named.top_k = trace.Carry("top_k", attention.top_k);
  named.block = trace.Carry("block", attention.block);
  named.ratio = trace.Carry("ratio", attention.ratio);
  named.always = trace.Carry("always", attention.always);
  named.entry = trace.Carry("entry", attention.entry);
  named.key = trace.Carry("key", attention.key);
  named.index_share = trace.Carry("index_share", attention.index_share);
  named.index_heads = trace.Carry("index_heads", attention.index_heads);
  named.index_dim = trace.Carry("index_dim", attention.index_dim);
  named.heads = trace.Carry("heads", attention.heads);
  named.kv_lora_rank = trace.Carry("kv_lora_rank", attention.kv_lora_rank);
  named.rope_head_dim = trace.Carry("rope_head_dim", attention.rope_head_dim);
  named.kv_element = trace.Carry("kv_element", ElementSize(attention.kv_precision));
  return named;
}

}  // namespace

SparseAttentionTime TimeOf(const SparseAttention& attention, const Device& device, Trace& trace) {
  if (!trace.on()) return TimeOf(attention, device);
  const SparseAttentionTime made = TimeOf(Named(attention, trace), Named(device, trace));
  Under(made.all, trace);
  return made;
}

IndexingTime IndexingOf(const SparseAttention& attention, const Device& device, Trace& trace) {
  return trace.on() ? IndexingOf(Named(attention, trace), Named(device, trace)) : IndexingOf(attention, device);
}

Bytes IndexKeyBytes(double index_dim, Trace& trace) {
  const Bytes key = IndexKeyBytes(trace.Carry("index_dim", Ratio(index_dim)));
  trace.Alias("key", key, "key of this token");
  return key;
}

Recurrence RecurrenceOf(const LinearAttention& layer, Trace& trace) {
  const auto input = [&trace](Count value, const std::string& path) {
    const Ratio number(value);
    return trace.on() ? Ratio::FromBase(number, trace.InputNode(path, number, Ratio::kDimension)) : number;
  };
  Recurrence recurrence;
  recurrence.by_channel = layer.kind == LinearAttentionKind::kMamba;
  recurrence.head_dim = input(layer.head_dim, "model.linear.head_dim");
  recurrence.state = input(layer.state, "model.linear.state");
  return recurrence;
}

KernelTime TimeOf(const Recurrence& recurrence, const Device& device, Trace& trace) {
  if (!trace.on()) return TimeOf(recurrence, device);
  Recurrence named = recurrence;
  named.rows = trace.Carry("rows", recurrence.rows);
  named.tokens = trace.Carry("tokens", recurrence.tokens);
  named.heads = trace.Carry("recurrent_heads", recurrence.heads);
  named.columns = trace.Carry("recurrent_columns", recurrence.columns);
  named.inner = trace.Carry("recurrent_inner", recurrence.inner);
  return Under(TimeOf(named, Named(device, trace)), trace);
}

TimeByBound SplitByBound(Seconds total, std::string_view total_is, const TimeByBound& operators,
                         const ByBound<Beside>& beside, std::string_view report, Trace& trace) {
  constexpr std::array<std::string_view, kBoundParts<Seconds>.size()> kNames{"compute", "l1",      "l2",    "memory",
                                                                             "network", "latency", "bubble"};
  ByBound<Ratio> shares = SharesOf(operators);
  ByBound<Seconds> others;
  std::array<std::string, kNames.size()> paths;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const auto& [time, symbol] = beside.*kBoundParts<Beside>[i];
    others.*kBoundParts<Seconds>[i] = trace.Carry(symbol, time);
    if (!trace.on()) continue;
    paths[i] = std::string(report) + "." + std::string(kNames[i]);
    Ratio& share = shares.*kBoundParts<Ratio>[i];
    const double value = share;
    share = Ratio::FromBase(value, value > 0 ? trace.tape().Constant(paths[i] + "_share", value, Ratio::kDimension,
                                                                     "Share of the operators",
                                                                     "that it bounds, by their times in the report")
                                             : nullptr);
  }
  const TimeByBound split = SplitByBound(trace.Carry(total_is, total), shares, others);
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const Seconds part = split.*kBoundParts<Seconds>[i];
    if (part > Seconds{}) trace.Report(paths[i], part);
  }
  return split;
}

}  // namespace slipstick
