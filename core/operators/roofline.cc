#include "core/operators/roofline.h"

#include <array>
#include <string>
#include <utility>

#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

using PeakMember = std::optional<FlopsPerSecond> PeakRates::*;
constexpr std::array<std::pair<PeakMember, std::string_view>, 9> kPeaks{
    {{&PeakRates::fp32, "fp32"},
     {&PeakRates::tf32, "tf32"},
     {&PeakRates::bf16, "bf16"},
     {&PeakRates::fp16, "fp16"},
     {&PeakRates::fp8, "fp8"},
     {&PeakRates::int8, "int8"},
     {&PeakRates::fp4, "fp4"},
     {&PeakRates::int4, "int4"},
     {&PeakRates::fp16_accumulate, "fp16_accumulate"}}};

// What the device would reach by itself gives way to the utilizations.
void SetEfficiency(Device& device) {
  Efficiency& e = device.efficiency;
  e.gemm_efficiency = e.gemm_efficiency_fp8 = e.bandwidth_efficiency = e.decode_bandwidth_efficiency = 1;
  e.attention_forward = e.attention_backward = 1;
  e.clock_derating = e.sustained_clock_derating = 0;
  e.rated_power = device.tdp;
  e.launch_latency = Seconds{};
  const bool usable = device.assumed.usable;
  device.assumed = {};
  device.assumed.usable = usable;
}

}  // namespace

Cluster AtUtilizations(Cluster cluster, const Utilizations& utilizations) {
  Device& device = cluster.device;
  CompleteEfficiency(device);  // the memory that a program can allocate is the device's own
  device.architecture = Architecture("roofline");
  SetEfficiency(device);
  for (const auto& [peak, name] : kPeaks) {
    if (device.peak.*peak) *(device.peak.*peak) *= utilizations.compute;
  }
  device.memory.bandwidth *= utilizations.memory;
  for (Cache& cache : device.caches) {
    if (cache.bandwidth) *cache.bandwidth *= utilizations.memory;
  }
  for (NetworkLevel& level : cluster.networks) level.bandwidth *= utilizations.network;
  if (!cluster.collectives.library) cluster.collectives.library = CollectiveLibrary::kAlphaBeta;
  return cluster;
}

void ExplainUtilizations(const Cluster& stated, const Cluster& scaled, const Utilizations& utilizations,
                         std::string_view path, Trace& trace) {
  if (!trace.on()) return;
  const std::string prefix(path);
  const double compute_utilization = utilizations.compute, memory_utilization = utilizations.memory,
               network_utilization = utilizations.network;
  trace.Input("compute_utilization", compute_utilization, prefix + ".compute");
  trace.Input("memory_utilization", memory_utilization, prefix + ".memory");
  trace.Input("network_utilization", network_utilization, prefix + ".network");
  const auto scale = [&](const std::string& input, auto own, auto used, std::string_view utilization_is,
                         double utilization) {
    const Trace::Scope scope(trace, input);
    trace.Input("data_sheet", own, input);
    trace.Record("rate", std::string(utilization_is) + " * data_sheet", used,
                 Note{"Rate that every operator reaches", "roofline"}, std::string(utilization_is) + ", data_sheet",
                 utilization, own);
    trace.Replace(input, used, "rate");
  };
  const std::string device = "cluster.device.";
  for (const auto& [peak, name] : kPeaks) {
    if (!(stated.device.peak.*peak)) continue;
    scale(device + "peak." + std::string(name), *(stated.device.peak.*peak), *(scaled.device.peak.*peak),
          "compute_utilization", compute_utilization);
  }
  scale(device + "memory.bandwidth", stated.device.memory.bandwidth, scaled.device.memory.bandwidth,
        "memory_utilization", memory_utilization);
  for (std::size_t i = 0; i < stated.device.caches.size(); ++i) {
    if (!stated.device.caches[i].bandwidth) continue;
    scale(device + "caches." + std::to_string(i) + ".bandwidth", *stated.device.caches[i].bandwidth,
          *scaled.device.caches[i].bandwidth, "memory_utilization", memory_utilization);
  }
  for (std::size_t i = 0; i < stated.networks.size(); ++i) {
    scale("cluster.networks." + std::to_string(i) + ".bandwidth", stated.networks[i].bandwidth,
          scaled.networks[i].bandwidth, "network_utilization", network_utilization);
  }
  const double full = 1, no_loss = 0;
  const Seconds no_launch;
  trace.Input("full", full, path);
  trace.Input("no_loss", no_loss, path);
  trace.Input("no_launch", no_launch, path);
  for (const std::string_view member :
       {"matrix", "matrix_fp8", "stream", "decode_stream", "attention_forward", "attention_backward"}) {
    trace.Replace(device + "efficiency." + std::string(member), full, "full");
  }
  for (const std::string_view member : {"power_fall", "sustained_fall"}) {
    trace.Replace(device + "efficiency." + std::string(member), no_loss, "no_loss");
  }
  trace.Replace(device + "efficiency.launch", no_launch, "no_launch");
}

}  // namespace slipstick
