#include "core/operators/efficiency.h"

#include <algorithm>
#include <cassert>
#include <type_traits>

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/operators/cache_levels.h"

namespace slipstick {
namespace {

const std::optional<FlopsPerSecond>& RateOf(const PeakRates& peak, Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      break;
    case Precision::kTf32:
      return peak.tf32;
    case Precision::kFp16:
      return peak.fp16;
    case Precision::kBf16:
      return peak.bf16;
    case Precision::kFp8:
    case Precision::kMxfp8:
      return peak.fp8;
    case Precision::kInt8:
    case Precision::kQ8_0:
      return peak.int8;
    case Precision::kNvfp4:
    case Precision::kMxfp4:
      return peak.fp4;
    case Precision::kInt4:
    case Precision::kQ4KM:
    case Precision::kQ4_0:
      return peak.int4;
  }
  return peak.fp32;
}

// The format that replaces one for which the device has no units.
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

// Rules for a device of which only the data sheet is known (its family's `data_sheet`).
JoulesPerFlop EnergyPerFlop(const Device& device) { return device.tdp / PeakRate(device, Precision::kBf16); }

double AssumedGemmEfficiency(const DataSheetRules& rules, const Device& device) {
  return std::clamp<double>(rules.max_gemm_efficiency * (EnergyPerFlop(device) / rules.max_gemm_energy),
                            rules.min_gemm_efficiency, rules.max_gemm_efficiency);
}

double DeratingOf(const PowerFall& fall, const Device& device) {
  return std::clamp<double>(fall.no_loss / EnergyPerFlop(device), fall.min_time, fall.max_time) - 1;
}

double AssumedBandwidthEfficiency(const DataSheetRules& rules, const Device& device) {
  return std::clamp<double>(rules.min_bandwidth_efficiency * (rules.min_efficiency_bandwidth / device.memory.bandwidth),
                            rules.min_bandwidth_efficiency, rules.max_bandwidth_efficiency);
}

Bytes UsableBy(const DataSheetRules& rules, const Device& device) {
  return rules.usable * In(device.memory.capacity, kGB) * kGiB;
}

template <class T>
void Fill(std::optional<T>& member, bool& assumed, std::type_identity_t<T> value) {
  if (member && !assumed) return;
  member = value;
  assumed = true;
}

struct AssumedRule {
  AssumedFlag flag;
  std::string_view path;  // of the cluster's device in the scenario
  std::string RuleTexts::* text;
};
constexpr std::string_view kDevicePath = "cluster.device";
constexpr AssumedRule kAssumedRules[] = {
    {&AssumedEfficiency::gemm_efficiency, "cluster.device.efficiency.matrix", &RuleTexts::gemm_efficiency},
    {&AssumedEfficiency::gemm_efficiency_fp8, "cluster.device.efficiency.matrix_fp8", &RuleTexts::gemm_efficiency_fp8},
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

bool Supports(const Device& device, Precision precision) { return RateOf(device.peak, precision).has_value(); }

Precision NativePrecision(const Device& device, Precision precision) {
  if (precision == Precision::kFp16 && !Supports(device, precision)) precision = Precision::kBf16;
  while (!Supports(device, precision) && precision != Precision::kFp32) precision = Wider(precision);
  return precision;
}

FlopsPerSecond PeakRate(const Device& device, Precision precision) {
  if (const auto& rate = RateOf(device.peak, NativePrecision(device, precision))) return *rate;
  // If there is no wider format, takes the widest one.
  for (const auto& rate :
       {device.peak.tf32, device.peak.bf16, device.peak.fp16, device.peak.fp8, device.peak.int8, device.peak.fp4}) {
    if (rate) return *rate;
  }
  return 1 * kTFlops;
}

namespace {

// Fraction of the matrix units that works at the stated peak; fp32 does not run on matrix units.
Ratio ShareOfUnits(const Device& device, Precision precision) {
  const Precision native = NativePrecision(device, precision);
  if (!device.peak.fp16_accumulate || native == Precision::kFp32) return 1;
  const FlopsPerSecond units =
      *device.peak.fp16_accumulate * (BytesPerElement(Precision::kFp16) / BytesPerElement(native));
  return Figure("Share of the matrix units that work", min(1.0, PeakRate(device, precision) / units),
                "at the peak: sums in fp32 leave the others idle");
}

}  // namespace

Ratio ReachedShare(const Device& device, Precision precision, Ratio busy) {
  const Ratio working = ShareOfUnits(device, precision);
  return working < 1 ? Figure("Fraction of the peak", min(1.0, busy / working),
                              "sums in fp32 leave units idle, which such a kernel does not need")
                     : busy;
}

FlopsPerSecond ReachedRate(const Device& device, Precision precision, Ratio busy) {
  return ReachedShare(device, precision, busy) * PeakRate(device, precision);
}

BytesPerSecond L2Rate(const Device& device) {
  const KernelTraits& traits = device.architecture->traits;
  const BytesPerSecond fed = max(Ratio(device.units) * traits.l2_bytes_per_clock * device.clock,
                                 traits.l2_over_memory * device.memory.bandwidth);
  const Cache* cache = StatedL2(device);
  if (cache == nullptr)
    return Figure("L2 bandwidth", fed, "into all SMs together; at least a multiple of the memory's");
  const BytesPerSecond own = *cache->bandwidth;
  return Figure("L2 bandwidth", min(own, max(fed, traits.l2_efficiency * own)),
                "that kernels reach, into all SMs together; at most the cache's own");
}

Bytes L2Capacity(const Device& device) {
  if (!device.architecture->traits.has_l2 || device.caches.empty()) return {};
  return device.caches.back().capacity;
}

std::string KernelTable(const Device& device, std::string_view table) {
  return "kernels." + device.architecture->id + "." + std::string(table);
}

Bytes UsableMemory(const Device& device) {
  return device.memory.usable ? *device.memory.usable : UsableBy(device.architecture->data_sheet, device);
}

Ratio SustainedClockDerating(const Device& device, Precision precision, Ratio reached) {
  const Efficiency& e = device.efficiency;
  assert(e.gemm_efficiency && e.gemm_efficiency_fp8 && e.sustained_clock_derating && e.rated_power);
  const Watts circuit_power =
      Figure("Power limit of the circuits", max(device.tdp - device.die.link_power, 0.01 * device.tdp),
             "less the links between dies");
  const Ratio best = IsEightBitFloat(NativePrecision(device, precision)) ? *e.gemm_efficiency_fp8 : *e.gemm_efficiency,
              working = ShareOfUnits(device, precision);
  const Ratio busy = min(1.0, working < 1 ? reached * min(1.0, working / best) : reached);
  return Figure("Clock derating in a long run",
                max(0.0, (1 + *e.sustained_clock_derating) * sqrt(max(1.0, *e.rated_power / circuit_power) * busy) - 1),
                "the power limit lowers the clock");
}

void CompleteEfficiency(Device& device) {
  Efficiency& e = device.efficiency;
  AssumedEfficiency& assumed = device.assumed;
  const DataSheetRules& rules = device.architecture->data_sheet;
  Fill(e.gemm_efficiency, assumed.gemm_efficiency, AssumedGemmEfficiency(rules, device));
  Fill(e.gemm_efficiency_fp8, assumed.gemm_efficiency_fp8, rules.gemm_efficiency_fp8 * *e.gemm_efficiency);
  Fill(e.sustained_clock_derating, assumed.sustained_clock_derating,
       rules.sustained_clock_derating.value_or(DeratingOf(rules.sustained, device)));
  Fill(e.rated_power, assumed.rated_power, device.tdp);
  Fill(e.bandwidth_efficiency, assumed.bandwidth_efficiency, AssumedBandwidthEfficiency(rules, device));
  Fill(e.launch_latency, assumed.launch_latency, rules.launch_latency);
  Fill(e.attention_forward, assumed.attention_forward, rules.attention_forward);
  Fill(e.attention_backward, assumed.attention_backward, rules.attention_backward);
  Fill(e.decode_bandwidth_efficiency, assumed.decode_bandwidth_efficiency, rules.decode_bandwidth_efficiency);
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

std::vector<FilledMember> FilledByRules(const Device& device) {
  std::vector<FilledMember> members;
  for (const AssumedRule& rule : kAssumedRules) {
    if (device.assumed.*rule.flag) members.push_back({rule.path, device.architecture->data_sheet.texts.*rule.text});
  }
  return members;
}

std::string_view SourceOf(const Device& device, std::string_view source) {
  return device.assumed.bandwidth_efficiency ? "not measured on this device: form and constants of measured devices"
                                             : source;
}

std::optional<Precision> SubstituteFor(const Device& device, Precision requested) {
  // Only devices with four-bit formats (Blackwell, CDNA 4) support block scales.
  if (requested == Precision::kMxfp8 && device.peak.fp8 && !device.peak.fp4) return Precision::kFp8;
  const Precision native = NativePrecision(device, requested);
  if (Supports(device, native)) return native == requested ? std::nullopt : std::optional(native);
  // If there is no wider format, PeakRate uses the widest one.
  for (const Precision wide :
       {Precision::kTf32, Precision::kBf16, Precision::kFp16, Precision::kFp8, Precision::kInt8}) {
    if (Supports(device, wide)) return wide;
  }
  return std::nullopt;
}

std::string SubstitutionText(const Device& device, Precision requested) {
  const std::optional<Precision> substitute = SubstituteFor(device, requested);
  if (!substitute) return "";
  return device.name + " has no " + std::string(NameOf(requested)) + " arithmetic: matrix products are computed in " +
         std::string(NameOf(*substitute));
}

}  // namespace slipstick
