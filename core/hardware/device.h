// One accelerator: rates by precision, memory, caches, power, dies, and how near its kernels come to them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/architecture.h"
#include "core/base/field.h"
#include "core/hardware/chip_design.h"
#include "core/workload/precision.h"

namespace slipstick {

// Dense rates, sums kept in fp32 (int32); absent where the device has no such unit (the work then runs at the next wider
// format's rate).
struct PeakRates {
  std::optional<FlopsPerSecond> fp32, tf32, bf16, fp16, fp8, int8, fp4, int4;
  std::optional<FlopsPerSecond> fp16_accumulate;  // of fp16 with sums kept in fp16: twice the other on GeForce cards
};
template <>
struct Schema<PeakRates> {
  static constexpr auto fields = std::tuple{Of("fp32", &PeakRates::fp32, "Dense fp32 rate").In(kTFlops).Above(0),
                                            Of("tf32", &PeakRates::tf32, "Dense tf32 rate").In(kTFlops).Above(0),
                                            Of("bf16", &PeakRates::bf16, "Dense bf16 rate").In(kTFlops).Above(0),
                                            Of("fp16", &PeakRates::fp16, "Dense fp16 rate").In(kTFlops).Above(0),
                                            Of("fp8", &PeakRates::fp8, "Dense fp8 rate").In(kTFlops).Above(0),
                                            Of("int8", &PeakRates::int8, "Dense int8 rate").In(kTFlops).Above(0),
                                            Of("fp4", &PeakRates::fp4, "Dense fp4 rate").In(kTFlops).Above(0),
                                            Of("int4", &PeakRates::int4, "Dense int4 rate").In(kTFlops).Above(0),
                                            Of("fp16_accumulate", &PeakRates::fp16_accumulate,
                                               "Dense fp16 rate with sums kept in fp16, where it is the faster; only engines that keep "
                                               "them so use it (llama.cpp)")
                                                .In(kTFlops)
                                                .Above(0)
                                                .Advanced()};
};

struct DeviceMemory {
  std::string technology = "HBM";
  Bytes capacity = 80 * kGB;    // as the data sheet prints it
  std::optional<Bytes> usable;  // what a program can allocate; default 0.99 of the nominal number read as GiB
  BytesPerSecond bandwidth = 3350 * kGBps;
};
template <>
struct Schema<DeviceMemory> {
  static constexpr auto fields =
      std::tuple{Of("technology", &DeviceMemory::technology, "Kind of memory"),
                 Of("capacity", &DeviceMemory::capacity, "As the data sheet prints it").In(kGB).Above(0),
                 Of("usable", &DeviceMemory::usable, "What a program can allocate").In(kGiB).Above(0).Derived().Advanced(),
                 Of("bandwidth", &DeviceMemory::bandwidth, "Peak, reads and writes together").In(kGBps).Above(0).AtMost(1e9)};
};

struct Cache {
  std::string name = "L2";
  Bytes capacity = 50 * kMiB;               // of the whole device
  std::optional<BytesPerSecond> bandwidth;  // of the whole device
};
template <>
struct Schema<Cache> {
  static constexpr auto fields =
      std::tuple{Of("name", &Cache::name, "Which level"),
                 Of("capacity", &Cache::capacity, "Of the whole device; figures use that of the last level").In(kMiB).AtLeast(0),
                 Of("bandwidth", &Cache::bandwidth, "Of the whole device. Informational: no figure uses it yet").In(kTBps).Above(0)};
};

struct DieSize {
  SquareMillimetres area = 814 * kMm2;  // of one compute die
  std::string node = "5nm";
  Count count = 1;  // compute dies in the package
};
template <>
struct Schema<DieSize> {
  static constexpr auto fields =
      std::tuple{Of("area", &DieSize::area, "Of one compute die").In(kMm2).Above(0), Of("node", &DieSize::node, "Process node"),
                 Of("count", &DieSize::count, "Compute dies in the package").Between(1, 64)};
};

// How near kernels come to the data sheet. Absent members follow the rules for a device known by its data sheet only
// (operators/efficiency.h): explanations cite the rule, and each part of a report lists them.
struct Efficiency {
  std::optional<double> matrix;                                 // e_c: share of the dense peak in a short kernel with the best tile
  std::optional<double> power_fall;                             // d: fall of that rate in a long kernel
  std::optional<double> sustained_fall;                         // d_s: the same in a training step
  std::optional<double> stream;                                 // e_b: share of the memory bandwidth that a stream reaches
  std::optional<Seconds> launch;                                // t0: fixed cost of a kernel inside a graph
  std::optional<double> attention_forward, attention_backward;  // training kernels, share of the dense peak
  std::optional<double> matrix_fp8;                             // the same as `matrix` for fp8 with one scale a tensor
  std::optional<Watts> rated_power;                             // the limit under which the two falls were measured
  std::optional<double> decode_stream;         // u_d: share of the bandwidth that decode attention reaches on a large cache
  std::optional<BytesPerSecond> cache_stream;  // rate at which attention kernels read the last cache
  std::optional<double> cache_share;           // phi: share of the last cache that data read again is found in
};
template <>
struct Schema<Efficiency> {
  static constexpr auto fields = std::tuple{
      Of("matrix", &Efficiency::matrix, "Share of the dense peak in a short matrix product with the best tile").Above(0).AtMost(1),
      Of("power_fall", &Efficiency::power_fall, "Fall of that rate when a kernel runs long (power)").Between(0, 4),
      Of("sustained_fall", &Efficiency::sustained_fall, "The same in a training step").Between(0, 4),
      Of("stream", &Efficiency::stream, "Share of the memory bandwidth that a stream reaches").Above(0).AtMost(1),
      Of("launch", &Efficiency::launch, "Fixed cost of a kernel inside a graph").In(kUs).Between(0, 1e6),
      Of("attention_forward", &Efficiency::attention_forward,
         "Flash attention forward in training, share of the dense peak; acts where training.framework.compute.attention has no row for "
         "the device's family")
          .Above(0)
          .AtMost(1.1),
      Of("attention_backward", &Efficiency::attention_backward,
         "Flash attention backward in training, share of the dense peak; acts where training.framework.compute.attention has no row for "
         "the device's family")
          .Above(0)
          .AtMost(1.1),
      Of("matrix_fp8", &Efficiency::matrix_fp8, "Share of the dense fp8 peak in a short matrix product with the best tile")
          .Above(0)
          .AtMost(1),
      Of("rated_power", &Efficiency::rated_power, "Power limit under which the falls were measured; a lower tdp falls further")
          .In(kWatt)
          .Above(0)
          .AtMost(1e6),
      Of("decode_stream", &Efficiency::decode_stream, "Share of the memory bandwidth that decode attention reaches").Above(0).AtMost(1),
      Of("cache_stream", &Efficiency::cache_stream, "Rate at which attention reads the last cache").In(kTBps).Above(0).AtMost(1e6),
      Of("cache_share", &Efficiency::cache_share, "Share of the last cache in which data read again is found").Above(0).AtMost(1)};
};

// Which members of Efficiency and DeviceMemory came from rules, not from the device's own figures.
struct AssumedEfficiency {
  bool matrix = false, matrix_fp8 = false, power_fall = false, sustained_fall = false, rated_power = false, stream = false, launch = false;
  bool attention_forward = false, attention_backward = false, decode_stream = false, cache_stream = false, cache_share = false;
  bool usable = false;
};

// What a device has of its host: the link, one direction, and its share of the memory.
struct HostLink {
  BytesPerSecond bandwidth = 32 * kGBps;
  Bytes memory = 256 * kGB;
};
template <>
struct Schema<HostLink> {
  static constexpr auto fields =
      std::tuple{Of("bandwidth", &HostLink::bandwidth, "To the host's memory, one direction").In(kGBps).Above(0).AtMost(1e6),
                 Of("memory", &HostLink::memory, "The device's share of the host's memory").In(kGB).AtLeast(0)};
};

struct Device {
  std::string preset;
  std::string name = "custom";
  std::string vendor;
  Count year = 2023;  // announced
  Architecture architecture = Architecture::kGeneric;
  PeakRates peak;
  Count units = 132;         // SMs, compute units, matrix engines
  Hertz clock = 1.8 * kGHz;  // boost
  double exponentials = 16;  // a clock and unit, of the special-function units
  DeviceMemory memory;
  std::vector<Cache> caches;  // innermost first; the last is shared by all units
  HostLink host;
  Watts tdp = 700 * kWatt;
  Watts idle = 75 * kWatt;
  DieSize die;
  Efficiency efficiency;
  AssumedEfficiency assumed;         // no input: filled with the efficiency (operators/efficiency.h)
  std::optional<ChipDesign> design;  // where it is there, rates, memory, caches, power and die follow from it
};
template <>
struct Schema<Device> {
  static constexpr std::string_view preset_kind = "device";
  static constexpr auto fields =
      std::tuple{Of("preset", &Device::preset, "Catalogue entry that the other members override"),
                 Of("name", &Device::name, "What to call it"),
                 Of("vendor", &Device::vendor, "Who makes it").Advanced(),
                 Of("year", &Device::year, "When it was announced").Between(2010, 2100).Advanced(),
                 Of("architecture", &Device::architecture, "Family whose kernels it runs").Advanced(),
                 Of("peak", &Device::peak, "Dense arithmetic rates"),
                 Of("units", &Device::units, "SMs, compute units or matrix engines").Between(1, 1 << 20).Advanced(),
                 Of("clock", &Device::clock, "Boost clock").In(kGHz).Above(0).AtMost(100).Advanced(),
                 Of("exponentials", &Device::exponentials, "Exponentials a clock and unit").Above(0).AtMost(4096).Advanced(),
                 Of("memory", &Device::memory, "Device memory"),
                 Of("caches", &Device::caches, "On-chip levels, innermost first").Advanced(),
                 Of("host", &Device::host, "Link to the host and its memory").Advanced(),
                 Of("tdp", &Device::tdp, "Thermal design power").In(kWatt).Above(0).AtMost(1e6),
                 Of("idle", &Device::idle, "Power when nothing runs").In(kWatt).AtLeast(0).Advanced(),
                 Of("die", &Device::die, "Compute silicon").Advanced(),
                 Of("efficiency", &Device::efficiency, "How near kernels come to the data sheet").Advanced(),
                 Of("design", &Device::design, "Derive the device from a node and budgets instead").Advanced()};
};

}  // namespace slipstick
