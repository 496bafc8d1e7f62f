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
    BindConstants(exchange.domain, path + ".domain", exchange.domain_source, trace);
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

TimeByBound SplitByBound(Seconds total, const TimeByBound& operators, const ByBound<Seconds>& beside,
                         std::string_view report, Trace& trace) {
  constexpr std::array<std::string_view, kBoundParts<Seconds>.size()> kNames{"compute", "l1",      "l2",    "memory",
                                                                             "network", "latency", "bubble"};
  ByBound<Ratio> shares = SharesOf(operators);
  std::array<std::string, kNames.size()> paths;
  for (std::size_t i = 0; trace.on() && i < kNames.size(); ++i) {
    paths[i] = std::string(report) + "." + std::string(kNames[i]);
    Ratio& share = shares.*kBoundParts<Ratio>[i];
    const double value = share;
    share = Ratio::FromBase(value, value > 0 ? trace.tape().Constant(paths[i] + "_share", value, Ratio::kDimension,
                                                                     "Share of the operators",
                                                                     "that it bounds, by their times in the report")
                                             : nullptr);
  }
  const TimeByBound split = SplitByBound(total, shares, beside);
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const Seconds part = split.*kBoundParts<Seconds>[i];
    if (part > Seconds{}) trace.Report(paths[i], part);
  }
  return split;
}

}  // namespace slipstick
