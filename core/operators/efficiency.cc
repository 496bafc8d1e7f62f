#include "core/operators/efficiency.h"

#include <algorithm>
#include <cassert>

#include "core/base/units.h"

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
      return {peak.int4, "cluster.device.peak.int4"};
  }
  return {peak.fp32, "cluster.device.peak.fp32"};
}

// What a value is widened to where its own format has no unit.
Precision Wider(Precision precision) {
  switch (precision) {
    case Precision::kNvfp4:
    case Precision::kMxfp4:
      return Precision::kFp8;
    case Precision::kInt4:
    case Precision::kQ4KM:
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

// Rules for a device of which only the data sheet is known. Thresholds drawn over A100, H100, H200, B200, GB200, L40S and
// RTX PRO 6000 (ai-dynamo/aiconfigurator kernel tables at 095f58a): 8.3 % mean error of a bf16 product against 7.3 % with
// each device's own figures. Between two classes the power sets the rate: more arithmetic adds nothing, and takes nothing away.
double WattsPerTeraflops(const Device& device) { return device.tdp.base() / In(PeakRate(device, Precision::kBf16), kTFlops); }

double AssumedMatrixShare(const Device& device) {
  // MI300X, MI325X and MI355X reach 0.51 to 0.62 of their peak in published maximum-achievable matmul figures.
  if (device.architecture == Architecture::kCdna) return 0.6;
  return std::clamp(0.86 * WattsPerTeraflops(device) / 0.67, 0.77, 0.86);
}

double AssumedSustainedFall(const Device& device) {
  if (!TraitsOf(device.architecture).tiled) return 0;
  // The share of the peak is that of a long search over shapes: the clock has fallen there already.
  if (device.architecture == Architecture::kCdna) return 0.1;
  const double q = WattsPerTeraflops(device);
  return (q > 0.9 ? std::clamp(1.32 / q, 1.1, 1.2) : std::clamp(0.858 / q, 1.2, 1.28)) - 1;
}

double AssumedPowerFall(const Device& device) { return std::clamp(1.287 / WattsPerTeraflops(device), 1.0, 1.17) - 1; }

double AssumedStream(const Device& device) { return std::clamp(0.73 * (6000 * kGBps / device.memory.bandwidth), 0.73, 0.82); }

// Flash attention in training, forward and backward: FlashAttention-2 on Ampere, cuDNN and FlashAttention-3 after; MI300X
// 44 % forward; the rest estimates.
std::pair<double, double> AssumedAttention(Architecture architecture) {
  switch (architecture) {
    case Architecture::kHopper:
      return {0.65, 0.49};
    case Architecture::kBlackwell:
      return {0.85, 0.64};
    case Architecture::kTpu:
      return {0.8, 0.8};
    case Architecture::kCdna:
    case Architecture::kGaudi:
    case Architecture::kNeuron:
      return {0.5, 0.4};
    case Architecture::kVolta:
    case Architecture::kTuring:
    case Architecture::kApple:  // no FlashAttention-2 there: memory-efficient kernels
      return {0.4, 0.35};
    default:
      return {0.68, 0.62};
  }
}

bool IsHbm(const Device& device) { return device.memory.technology.find("HBM") != std::string::npos; }

template <class T>
void Fill(std::optional<T>& member, bool& assumed, T value) {
  if (member && !assumed) return;
  member = value;
  assumed = true;
}

struct AssumedRule {
  AssumedFlag flag;
  std::string_view path;  // of the cluster's device
  std::string_view rule;
};
constexpr std::string_view kDevicePath = "cluster.device";
constexpr AssumedRule kAssumedRules[] = {
    {&AssumedEfficiency::matrix, "cluster.device.efficiency.matrix",
     "a matrix product reaches 0.77 to 0.86 of the dense peak, the more watts a TFLOP/s the more; 0.6 on CDNA"},
    {&AssumedEfficiency::matrix_fp8, "cluster.device.efficiency.matrix_fp8",
     "an fp8 product reaches 0.94 of the share of a 16-bit one, 0.90 on Hopper"},
    {&AssumedEfficiency::power_fall, "cluster.device.efficiency.power_fall",
     "a long kernel is slower by up to 0.17, the fewer watts a TFLOP/s the more"},
    {&AssumedEfficiency::sustained_fall, "cluster.device.efficiency.sustained_fall",
     "a training step is slower by 0.1 to 0.28, the fewer watts a TFLOP/s the more; not at all with few large engines"},
    {&AssumedEfficiency::rated_power, "cluster.device.efficiency.rated_power", "the falls are those at its design power"},
    {&AssumedEfficiency::stream, "cluster.device.efficiency.stream",
     "a stream reaches 0.73 to 0.82 of the memory bandwidth, the wider the memory the less"},
    {&AssumedEfficiency::launch, "cluster.device.efficiency.launch",
     "a kernel costs 4 us to start on devices of 2021 or before, 2.5 us after, 2 us from 2024"},
    {&AssumedEfficiency::attention_forward, "cluster.device.efficiency.attention_forward",
     "flash attention forward reaches the share of the peak usual in the device's family"},
    {&AssumedEfficiency::attention_backward, "cluster.device.efficiency.attention_backward",
     "flash attention backward reaches the share of the peak usual in the device's family"},
    {&AssumedEfficiency::decode_stream, "cluster.device.efficiency.decode_stream",
     "decode attention reaches 0.9 of the bandwidth of stacked memory, 0.87 of another's, 0.8 on CDNA, 0.75 with few large engines"},
    {&AssumedEfficiency::cache_stream, "cluster.device.efficiency.cache_stream",
     "attention reads the last cache at 1.7 times the memory bandwidth, at least 3.5 TB/s"},
    {&AssumedEfficiency::cache_share, "cluster.device.efficiency.cache_share", "data read again is found in 0.6 of the last cache"},
    {&AssumedEfficiency::usable, "cluster.device.memory.usable", "a program can allocate 0.99 of the nominal size read as GiB"},
};

}  // namespace

KernelTraits TraitsOf(Architecture architecture) {
  KernelTraits traits;
  switch (architecture) {
    case Architecture::kHopper:
    case Architecture::kBlackwell:
      traits.asynchronous_mma = true;
      break;
    case Architecture::kTpu:
    case Architecture::kNeuron:
      traits.tiled = traits.cached = false;
      break;
    case Architecture::kGaudi:
      traits.tiled = false;
      break;
    case Architecture::kCdna:
      traits.lanes = 64;
      break;
    case Architecture::kApple:
      traits.row_grain = 1;
      break;
    default:
      break;
  }
  return traits;
}

bool Supports(const Device& device, Precision precision) { return RateOf(device.peak, precision).value.has_value(); }

Precision NativePrecision(const Device& device, Precision precision) {
  if (precision == Precision::kFp16 && !Supports(device, precision)) precision = Precision::kBf16;
  while (!Supports(device, precision) && precision != Precision::kFp32) precision = Wider(precision);
  return precision;
}

FlopsPerSecond PeakRate(const Device& device, Precision precision) {
  if (const auto& rate = RateOf(device.peak, NativePrecision(device, precision)).value) return *rate;
  // Nothing so wide: the widest there is.
  for (const auto& rate : {device.peak.tf32, device.peak.bf16, device.peak.fp16, device.peak.fp8, device.peak.int8, device.peak.fp4}) {
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

BytesPerSecond CacheRate(const Device& device) {
  const BytesPerSecond taken = static_cast<double>(device.units) * (20 * kB) * device.clock;
  return TraitsOf(device.architecture).tiled ? taken : max(taken, 1.5 * device.memory.bandwidth);
}

Bytes LastCache(const Device& device) {
  if (!TraitsOf(device.architecture).cached || device.caches.empty()) return {};
  return device.caches.back().capacity;
}

Bytes UsableMemory(const Device& device) {
  return device.memory.usable ? *device.memory.usable : 0.99 * In(device.memory.capacity, kGB) * kGiB;
}

double SustainedFall(const Device& device) {
  assert(device.efficiency.sustained_fall && device.efficiency.rated_power);
  const double lack = *device.efficiency.rated_power / device.tdp;
  return max(0.0, (1 + *device.efficiency.sustained_fall) * sqrt(max(1.0, lack)) - 1);
}

void CompleteEfficiency(Device& device) {
  Efficiency& e = device.efficiency;
  AssumedEfficiency& assumed = device.assumed;
  const bool old = device.year <= 2021, recent = device.year >= 2024;
  const bool few_engines = !TraitsOf(device.architecture).tiled;
  const double decode = few_engines ? 0.75 : device.architecture == Architecture::kCdna ? 0.8 : IsHbm(device) ? 0.9 : 0.87;
  Fill(e.matrix, assumed.matrix, AssumedMatrixShare(device));
  Fill(e.matrix_fp8, assumed.matrix_fp8, (device.architecture == Architecture::kHopper ? 0.90 : 0.94) * *e.matrix);
  Fill(e.power_fall, assumed.power_fall, AssumedPowerFall(device));
  Fill(e.sustained_fall, assumed.sustained_fall, AssumedSustainedFall(device));
  Fill(e.rated_power, assumed.rated_power, device.tdp);
  Fill(e.stream, assumed.stream, AssumedStream(device));
  Fill(e.launch, assumed.launch, (old ? 4.0 : recent ? 2.0 : 2.5) * kUs);
  Fill(e.attention_forward, assumed.attention_forward, AssumedAttention(device.architecture).first);
  Fill(e.attention_backward, assumed.attention_backward, AssumedAttention(device.architecture).second);
  Fill(e.decode_stream, assumed.decode_stream, decode);
  Fill(e.cache_stream, assumed.cache_stream, max(1.7 * device.memory.bandwidth, 3500 * kGBps));
  Fill(e.cache_share, assumed.cache_share, 0.6);
  Fill(device.memory.usable, assumed.usable, 0.99 * In(device.memory.capacity, kGB) * kGiB);
}

std::vector<std::string> AssumedPaths(const Device& device, std::string_view path, const std::vector<AssumedFlag>& used) {
  std::vector<std::string> paths;
  for (const AssumedRule& rule : kAssumedRules) {
    if (!(device.assumed.*rule.flag) || std::find(used.begin(), used.end(), rule.flag) == used.end()) continue;
    paths.push_back(std::string(path) + std::string(rule.path.substr(kDevicePath.size())));
  }
  return paths;
}

void AssumeRules(const Device& device, Trace& trace) {
  for (const AssumedRule& rule : kAssumedRules) {
    if (device.assumed.*rule.flag) trace.Assume(rule.path, rule.rule);
  }
}

std::string_view SourceInPlace(const Device& device) {
  return device.assumed.stream ? "not measured on this device: form and constants as on the devices that were" : "";
}

void ExplainShare(std::string_view symbol, double share, double own, std::string_view own_path, Trace& trace) {
  if (!trace.on()) return;
  if (share == own) return trace.Input(symbol, share, own_path);
  const double kernel_share = share / own, device_share = own;
  trace.Input("device_share", device_share, own_path);
  trace.Record(symbol, "kernel_share * device_share", share,
               Note{"Share that this kernel reaches", "the device's, times the kernel's own over that of a 16-bit product"},
               "kernel_share, device_share", kernel_share, device_share);
}

void ExplainSustainedFall(std::string_view symbol, const Device& device, Trace& trace) {
  if (!trace.on()) return;
  const double sustained_fall_at_rated_power = *device.efficiency.sustained_fall;
  const Watts rated_power = *device.efficiency.rated_power, tdp = device.tdp;
  trace.Input("sustained_fall_at_rated_power", sustained_fall_at_rated_power, "cluster.device.efficiency.sustained_fall");
  trace.Input("rated_power", rated_power, "cluster.device.efficiency.rated_power");
  trace.Input("tdp", tdp, "cluster.device.tdp");
  trace.Record(symbol, "max(0, (1 + sustained_fall_at_rated_power) * sqrt(max(1, rated_power / tdp)) - 1)", SustainedFall(device),
               Note{"Fall of the rate in a long run", "power lowers the clock"}, "sustained_fall_at_rated_power, rated_power, tdp",
               sustained_fall_at_rated_power, rated_power, tdp);
}

}  // namespace slipstick
