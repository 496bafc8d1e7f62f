#include "core/operators/efficiency.h"

#include <algorithm>
#include <cassert>

#include "core/base/units.h"
#include "core/operators/cache_levels.h"

namespace slipstick {
namespace {

struct Rate {
  const std::optional<FlopsPerSecond>& value;
  std::string_view path;
};

Rate RateOf(const PeakRates& peak, Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      break;
    case Precision::kTf32:
      return {peak.tf32, "cluster.device.peak.tf32"};
    case Precision::kFp16:
      return {peak.fp16, "cluster.device.peak.fp16"};
    case Precision::kBf16:
      return {peak.bf16, "cluster.device.peak.bf16"};
    case Precision::kFp8:
    case Precision::kMxfp8:
      return {peak.fp8, "cluster.device.peak.fp8"};
    case Precision::kInt8:
    case Precision::kQ8_0:
      return {peak.int8, "cluster.device.peak.int8"};
    case Precision::kNvfp4:
    case Precision::kMxfp4:
      return {peak.fp4, "cluster.device.peak.fp4"};
    case Precision::kInt4:
    case Precision::kQ4KM:
    case Precision::kQ4_0:
      return {peak.int4, "cluster.device.peak.int4"};
  }
  return {peak.fp32, "cluster.device.peak.fp32"};
}

// The format that replaces one without units.
Precision Wider(Precision precision) {
  switch (precision) {
    case Precision::kNvfp4:
    case Precision::kMxfp4:
      return Precision::kFp8;
    case Precision::kInt4:
    case Precision::kQ4KM:
    case Precision::kQ4_0:
      return Precision::kInt8;
    case Precision::kFp8:
    case Precision::kMxfp8:
    case Precision::kInt8:
    case Precision::kQ8_0:
      return Precision::kBf16;
    case Precision::kBf16:
      return Precision::kFp16;
    case Precision::kFp16:
    case Precision::kTf32:
    case Precision::kFp32:
      return Precision::kFp32;
  }
  return Precision::kFp32;
}

// Rules for a device known by its data sheet alone (its family's `data_sheet`). Between two power classes the rate is
// power-limited and constant in this range.
JoulesPerFlop EnergyPerFlop(const Device& device) { return device.tdp / PeakRate(device, Precision::kBf16); }

double AssumedGemmEfficiency(const DataSheetRules& rules, const Device& device) {
  return std::clamp<double>(rules.max_gemm_efficiency * (EnergyPerFlop(device) / rules.max_gemm_energy),
                            rules.min_gemm_efficiency, rules.max_gemm_efficiency);
}

double DeratingOf(const PowerClass& devices, JoulesPerFlop energy) {
  return std::clamp<double>(devices.no_loss / energy, devices.min_time, devices.max_time) - 1;
}

double AssumedSustainedClockDerating(const DataSheetRules& rules, const Device& device) {
  if (rules.sustained_clock_derating) return *rules.sustained_clock_derating;
  const JoulesPerFlop energy = EnergyPerFlop(device);
  for (const PowerClass& devices : rules.sustained_classes) {
    if (energy > devices.above) return DeratingOf(devices, energy);
  }
  return 0;
}

double AssumedBandwidthEfficiency(const DataSheetRules& rules, const Device& device) {
  return std::clamp<double>(rules.min_bandwidth_efficiency * (rules.min_efficiency_bandwidth / device.memory.bandwidth),
                            rules.min_bandwidth_efficiency, rules.max_bandwidth_efficiency);
}

Seconds AssumedLaunch(const DataSheetRules& rules, const Device& device) {
  for (const LaunchFrom& row : rules.launch_latency) {
    if (device.year >= row.year) return row.launch;
  }
  return {};
}

double AssumedDecodeEfficiency(const DataSheetRules& rules, const Device& device) {
  for (const DecodeOfMemory& row : rules.decode_bandwidth_efficiency) {
    if (device.memory.technology.find(row.technology) != std::string::npos) return row.share;
  }
  return 1;
}

Bytes UsableBy(const DataSheetRules& rules, const Device& device) {
  return rules.usable * In(device.memory.capacity, kGB) * kGiB;
}

template <class T>
void Fill(std::optional<T>& member, bool& assumed, T value) {
  if (member && !assumed) return;
  member = value;
  assumed = true;
}

struct AssumedRule {
  AssumedFlag flag;
  std::string_view path;  // of the cluster's device
  std::string RuleTexts::* text;
};
constexpr std::string_view kDevicePath = "cluster.device";
constexpr AssumedRule kAssumedRules[] = {
    {&AssumedEfficiency::gemm_efficiency, "cluster.device.efficiency.matrix", &RuleTexts::gemm_efficiency},
    {&AssumedEfficiency::gemm_efficiency_fp8, "cluster.device.efficiency.matrix_fp8", &RuleTexts::gemm_efficiency_fp8},
    {&AssumedEfficiency::clock_derating, "cluster.device.efficiency.power_fall", &RuleTexts::clock_derating},
    {&AssumedEfficiency::sustained_clock_derating, "cluster.device.efficiency.sustained_fall",
     &RuleTexts::sustained_clock_derating},
    {&AssumedEfficiency::rated_power, "cluster.device.efficiency.rated_power", &RuleTexts::rated_power},
    {&AssumedEfficiency::bandwidth_efficiency, "cluster.device.efficiency.stream", &RuleTexts::bandwidth_efficiency},
    {&AssumedEfficiency::launch_latency, "cluster.device.efficiency.launch", &RuleTexts::launch_latency},
    {&AssumedEfficiency::attention_forward, "cluster.device.efficiency.attention_forward",
     &RuleTexts::attention_forward},
    {&AssumedEfficiency::attention_backward, "cluster.device.efficiency.attention_backward",
     &RuleTexts::attention_backward},
    {&AssumedEfficiency::decode_bandwidth_efficiency, "cluster.device.efficiency.decode_stream",
     &RuleTexts::decode_bandwidth_efficiency},
    {&AssumedEfficiency::l2_bandwidth, "cluster.device.efficiency.cache_stream", &RuleTexts::l2_bandwidth},
    {&AssumedEfficiency::usable_l2_fraction, "cluster.device.efficiency.cache_share", &RuleTexts::usable_l2_fraction},
    {&AssumedEfficiency::usable, "cluster.device.memory.usable", &RuleTexts::usable},
};

}  // namespace

bool Supports(const Device& device, Precision precision) { return RateOf(device.peak, precision).value.has_value(); }

Precision NativePrecision(const Device& device, Precision precision) {
  if (precision == Precision::kFp16 && !Supports(device, precision)) precision = Precision::kBf16;
  while (!Supports(device, precision) && precision != Precision::kFp32) precision = Wider(precision);
  return precision;
}

FlopsPerSecond PeakRate(const Device& device, Precision precision) {
  if (const auto& rate = RateOf(device.peak, NativePrecision(device, precision)).value) return *rate;
  // No wider format: the widest one.
  for (const auto& rate :
       {device.peak.tf32, device.peak.bf16, device.peak.fp16, device.peak.fp8, device.peak.int8, device.peak.fp4}) {
    if (rate) return *rate;
  }
  return 1 * kTFlops;
}

FlopsPerSecond PeakRate(const Device& device, Precision precision, Trace& trace) {
  const FlopsPerSecond rate = PeakRate(device, precision);
  const Rate own = RateOf(device.peak, NativePrecision(device, precision));
  if (own.value) trace.Input("peak_rate", rate, own.path);
  return rate;
}

BytesPerSecond L2Rate(const Device& device, Trace& trace) {
  const KernelTraits& traits = device.architecture->traits;
  const double units = static_cast<double>(device.units), cache_over_memory = traits.l2_over_memory;
  const Bytes cache_feed = traits.l2_bytes_per_clock;
  const Hertz clock = device.clock;
  const BytesPerSecond bandwidth = device.memory.bandwidth;
  trace.Input("units", units, "cluster.device.units");
  trace.Input("clock", clock, "cluster.device.clock");
  trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
  CONSTANTS(trace, KernelTable(device, "traits"), SourceOf(device, device.architecture->gemm.source), cache_feed,
            cache_over_memory);
  const Cache* cache = StatedL2(device);
  if (cache == nullptr) {
    FIGURE(trace, l2_rate, max(units * cache_feed * clock, cache_over_memory * bandwidth),
           (Note{"L2 bandwidth", "into all SMs together; at least a multiple of the memory's"}), units, cache_feed,
           clock, cache_over_memory, bandwidth);
    return l2_rate;
  }
  const BytesPerSecond l2_bandwidth = *cache->bandwidth;
  const double cache_efficiency = traits.l2_efficiency;
  BindBandwidth("l2_bandwidth", *cache, device, trace);
  CONSTANTS(trace, KernelTable(device, "traits"), SourceOf(device, device.architecture->gemm.source), cache_efficiency);
  FIGURE(trace, l2_rate,
         min(l2_bandwidth,
             max(units * cache_feed * clock, cache_over_memory * bandwidth, cache_efficiency * l2_bandwidth)),
         (Note{"L2 bandwidth", "that kernels reach, into all SMs together; at most the cache's own"}), l2_bandwidth,
         units, cache_feed, clock, cache_over_memory, bandwidth, cache_efficiency);
  return l2_rate;
}

BytesPerSecond L2Rate(const Device& device) {
  Trace off = Trace::Off();
  return L2Rate(device, off);
}

Bytes L2Capacity(const Device& device) {
  if (!device.architecture->traits.has_l2 || device.caches.empty()) return {};
  return device.caches.back().capacity;
}

Bytes L2Capacity(const Device& device, Trace& trace) {
  const Bytes l2_capacity = L2Capacity(device);
  if (!trace.on()) return l2_capacity;
  if (!device.architecture->traits.has_l2) {
    CONSTANTS(trace, KernelTable(device, "traits"),
              "no L2: the last level before the memory is a scratchpad that software manages", l2_capacity);
  } else if (device.caches.empty()) {
    trace.Input("l2_capacity", l2_capacity, "cluster.device.caches");
  } else {
    trace.Input("l2_capacity", l2_capacity,
                "cluster.device.caches." + std::to_string(device.caches.size() - 1) + ".capacity");
  }
  return l2_capacity;
}

std::string KernelTable(const Device& device, std::string_view table) {
  return "kernels." + device.architecture->id + "." + std::string(table);
}

Bytes UsableMemory(const Device& device) {
  return device.memory.usable ? *device.memory.usable : UsableBy(device.architecture->data_sheet, device);
}

double SustainedClockDerating(const Device& device, Trace& trace) {
  assert(device.efficiency.sustained_clock_derating && device.efficiency.rated_power);
  const double sustained_derating_at_rated_power = *device.efficiency.sustained_clock_derating;
  const Watts rated_power = *device.efficiency.rated_power, tdp = device.tdp, link_power = device.die.link_power;
  trace.Input("sustained_derating_at_rated_power", sustained_derating_at_rated_power,
              "cluster.device.efficiency.sustained_fall");
  trace.Input("rated_power", rated_power, "cluster.device.efficiency.rated_power");
  trace.Input("tdp", tdp, "cluster.device.tdp");
  trace.Input("link_power", link_power, "cluster.device.die.link_power");
  FIGURE(trace, circuit_power, max(tdp - link_power, 0.01 * tdp),
         (Note{"Power limit of the circuits", "less the links between dies"}), tdp, link_power);
  FIGURE(trace, sustained_clock_derating,
         max(0.0, (1 + sustained_derating_at_rated_power) * sqrt(max(1.0, rated_power / circuit_power)) - 1),
         (Note{"Clock derating in a long run", "the power limit lowers the clock"}), sustained_derating_at_rated_power,
         rated_power, circuit_power);
  return sustained_clock_derating;
}

double SustainedClockDerating(const Device& device) {
  Trace off = Trace::Off();
  return SustainedClockDerating(device, off);
}

void CompleteEfficiency(Device& device) {
  Efficiency& e = device.efficiency;
  AssumedEfficiency& assumed = device.assumed;
  const DataSheetRules& rules = device.architecture->data_sheet;
  Fill(e.gemm_efficiency, assumed.gemm_efficiency, AssumedGemmEfficiency(rules, device));
  Fill(e.gemm_efficiency_fp8, assumed.gemm_efficiency_fp8, rules.gemm_efficiency_fp8 * *e.gemm_efficiency);
  Fill(e.clock_derating, assumed.clock_derating, DeratingOf(rules.clock_derating, EnergyPerFlop(device)));
  Fill(e.sustained_clock_derating, assumed.sustained_clock_derating, AssumedSustainedClockDerating(rules, device));
  Fill(e.rated_power, assumed.rated_power, device.tdp);
  Fill(e.bandwidth_efficiency, assumed.bandwidth_efficiency, AssumedBandwidthEfficiency(rules, device));
  Fill(e.launch_latency, assumed.launch_latency, AssumedLaunch(rules, device));
  Fill(e.attention_forward, assumed.attention_forward, rules.attention_forward);
  Fill(e.attention_backward, assumed.attention_backward, rules.attention_backward);
  Fill(e.decode_bandwidth_efficiency, assumed.decode_bandwidth_efficiency, AssumedDecodeEfficiency(rules, device));
  Fill(e.l2_bandwidth, assumed.l2_bandwidth,
       max(rules.l2_over_memory * device.memory.bandwidth, rules.min_l2_bandwidth));
  Fill(e.usable_l2_fraction, assumed.usable_l2_fraction, rules.usable_l2_fraction);
  Fill(device.memory.usable, assumed.usable, UsableBy(rules, device));
}

std::vector<std::string> AssumedPaths(const Device& device, std::string_view path,
                                      const std::vector<AssumedFlag>& used) {
  std::vector<std::string> paths;
  for (const AssumedRule& rule : kAssumedRules) {
    if (!(device.assumed.*rule.flag) || std::find(used.begin(), used.end(), rule.flag) == used.end()) continue;
    paths.push_back(std::string(path) + std::string(rule.path.substr(kDevicePath.size())));
  }
  return paths;
}

void AssumeRules(const Device& device, Trace& trace) {
  for (const AssumedRule& rule : kAssumedRules) {
    if (device.assumed.*rule.flag) trace.Assume(rule.path, device.architecture->data_sheet.texts.*rule.text);
  }
}

std::string_view SourceInPlace(const Device& device) { return SourceOf(device, ""); }

std::string_view SourceOf(const Device& device, std::string_view source) {
  return device.assumed.bandwidth_efficiency ? "not measured on this device: form and constants of measured devices"
                                             : source;
}

void ExplainShare(std::string_view symbol, double share, double own, std::string_view own_path, Trace& trace) {
  if (!trace.on()) return;
  if (share == own) return trace.Input(symbol, share, own_path);
  ExplainKernelShare(symbol, share, own, own_path, trace);
}

void ExplainKernelShare(std::string_view symbol, double share, double own, std::string_view own_path, Trace& trace) {
  if (!trace.on()) return;
  const double kernel_share = share / own, device_share = own;
  trace.Input("device_share", device_share, own_path);
  trace.Record(symbol, "kernel_share * device_share", share,
               Note{"Efficiency of this kernel", "the device's, times the kernel's over that of a 16-bit GEMM"},
               "kernel_share, device_share", kernel_share, device_share);
}

}  // namespace slipstick
