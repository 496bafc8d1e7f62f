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
  static const Fields fields;
};

struct DeviceMemory {
  std::string technology = "HBM";
  Bytes capacity = 80 * kGB;    // as the data sheet prints it
  std::optional<Bytes> usable;  // what a program can allocate; default 0.99 of the nominal number read as GiB
  BytesPerSecond bandwidth = 3350 * kGBps;
};
template <>
struct Schema<DeviceMemory> {
  static const Fields fields;
};

struct Cache {
  std::string name = "L2";
  Bytes capacity = 50 * kMiB;               // of the whole device
  std::optional<BytesPerSecond> bandwidth;  // of the whole device
};
template <>
struct Schema<Cache> {
  static const Fields fields;
};

struct DieSize {
  SquareMillimetres area = 814 * kMm2;  // of one compute die
  std::string node = "5nm";
  Count count = 1;  // compute dies in the package
};
template <>
struct Schema<DieSize> {
  static const Fields fields;
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
  static const Fields fields;
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
  static const Fields fields;
};

struct Device {
  std::string preset;
  std::string name = "custom";
  std::string vendor;
  Count year = 2023;  // announced
  Architecture architecture;
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
  static const Fields fields;
};

}  // namespace slipstick
