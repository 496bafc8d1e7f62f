// One accelerator: peak rates by precision, memory, caches, power, dies, and the fractions of these that kernels
// achieve.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/architecture.h"
#include "core/base/field.h"
#include "core/base/tally.h"
#include "core/hardware/chip_design.h"
#include "core/workload/precision.h"

namespace slipstick {

// Dense peak rates with fp32 (int32) accumulation. Absent: no units for the format; the work then runs at the rate of
// the next wider format.
struct PeakRates {
  std::optional<FlopsPerSecond> fp32, tf32, bf16, fp16, fp8, int8, fp4, int4;
  std::optional<FlopsPerSecond> fp16_accumulate;  // with fp16 accumulation: twice `fp16` on GeForce cards
  friend bool operator==(const PeakRates&, const PeakRates&) = default;
};
FIELDS_OF(PeakRates);

struct DeviceMemory {
  std::string technology = "HBM";
  Bytes capacity = 80 * kGB;    // as on the data sheet
  std::optional<Bytes> usable;  // memory that a program can allocate; default: 0.99 of the capacity read as GiB
  BytesPerSecond bandwidth = 3350 * kGBps;
  friend bool operator==(const DeviceMemory&, const DeviceMemory&) = default;
};
FIELDS_OF(DeviceMemory);

struct Cache {
  std::string name = "L2";
  Bytes capacity = 50 * kMiB;               // of the whole device
  std::optional<BytesPerSecond> bandwidth;  // of the whole device
  friend bool operator==(const Cache&, const Cache&) = default;
};
FIELDS_OF(Cache);

struct DieSize {
  SquareMillimetres area = 814 * kMm2;  // of one compute die
  std::string node = "5nm";
  Count count = 1;   // compute dies in the package
  Watts link_power;  // of the links between dies at full bandwidth; part of the power limit
};
FIELDS_OF(DieSize);

// Achieved fractions of data-sheet rates. Absent members follow the rules for a device of which only the data sheet is
// known (operators/efficiency.h): explanations cite the rule, and each part of a report lists them.
struct Efficiency {
  std::optional<Ratio> gemm_efficiency;  // e_c: fraction of the dense peak in a short 16-bit GEMM with the best tile
  std::optional<Ratio> sustained_clock_derating;  // d: rate loss in long runs at the power limit, rate / (1 + d)
  std::optional<Ratio> bandwidth_efficiency;      // e_b: fraction of the memory bandwidth reached by streaming
  std::optional<Seconds> launch_latency;          // t0: per kernel inside a graph
  std::optional<Ratio> attention_forward, attention_backward;  // training kernels, fraction of the dense peak
  std::optional<Ratio> gemm_efficiency_fp8;                    // with one scale per tensor
  std::optional<Watts> rated_power;                            // power limit at which both deratings were measured
  std::optional<Ratio> decode_bandwidth_efficiency;            // u_d: of decode attention on a large KV cache
  std::optional<BytesPerSecond> l2_bandwidth;                  // bandwidth at which attention kernels read the L2
  std::optional<Ratio> usable_l2_fraction;  // phi: fraction of the L2 in which reused data are still found
  friend bool operator==(const Efficiency&, const Efficiency&) = default;
};
FIELDS_OF(Efficiency);

// Members of Efficiency and DeviceMemory that were filled by rules.
struct AssumedEfficiency {
  bool gemm_efficiency = false, gemm_efficiency_fp8 = false, sustained_clock_derating = false;
  bool rated_power = false, bandwidth_efficiency = false, launch_latency = false;
  bool attention_forward = false, attention_backward = false;
  bool decode_bandwidth_efficiency = false, l2_bandwidth = false, usable_l2_fraction = false;
  bool usable = false;
};

struct HostLink {
  BytesPerSecond bandwidth = 32 * kGBps;  // one direction
  Bytes memory = 256 * kGB;               // the device's share of the host memory
};
FIELDS_OF(HostLink);

struct Device {
  std::string preset;
  std::string name = "custom";
  std::string vendor;
  Count year = 2023;  // of the announcement
  Architecture architecture;
  PeakRates peak;
  Tally units = 132;         // SMs, compute units, matrix engines
  Hertz clock = 1.8 * kGHz;  // boost
  Ratio exponentials = 16;   // per clock and SM (special-function units)
  DeviceMemory memory;
  std::vector<Cache> caches;  // innermost first; the last one (L2) is shared by all SMs
  HostLink host;
  Watts tdp = 700 * kWatt;
  Watts idle = 75 * kWatt;
  DieSize die;
  Efficiency efficiency;
  AssumedEfficiency assumed;         // not an input: set when the efficiency is filled (operators/efficiency.h)
  std::optional<ChipDesign> design;  // if given, rates, memory, caches, power and die are derived from it
};
template <>
struct Schema<Device> {
  static constexpr std::string_view preset_kind = "device";
  static const Fields fields;
};

}  // namespace slipstick
