#include "core/base/field_table.h"
#include "core/hardware/device.h"

namespace slipstick {

constexpr FieldRow kPeakRatesFields[] = {
    Of<&PeakRates::fp32>("fp32", "Dense fp32 peak throughput").Label("Peak throughput, fp32").In(kTFlops).Above(0),
    Of<&PeakRates::tf32>("tf32", "Dense tf32 peak throughput").Label("Peak throughput, tf32").In(kTFlops).Above(0),
    Of<&PeakRates::bf16>("bf16", "Dense bf16 peak throughput").Label("Peak throughput, bf16").In(kTFlops).Above(0),
    Of<&PeakRates::fp16>("fp16", "Dense fp16 peak throughput").Label("Peak throughput, fp16").In(kTFlops).Above(0),
    Of<&PeakRates::fp8>("fp8", "Dense fp8 peak throughput").Label("Peak throughput, fp8").In(kTFlops).Above(0),
    Of<&PeakRates::int8>("int8", "Dense int8 peak throughput").Label("Peak throughput, int8").In(kTFlops).Above(0),
    Of<&PeakRates::fp4>("fp4", "Dense fp4 peak throughput").Label("Peak throughput, fp4").In(kTFlops).Above(0),
    Of<&PeakRates::int4>("int4", "Dense int4 peak throughput").Label("Peak throughput, int4").In(kTFlops).Above(0),
    Of<&PeakRates::fp16_accumulate>(
        "fp16_accumulate",
        "Dense fp16 peak throughput with fp16 accumulation, if higher, as on GeForce cards. Engines that accumulate in "
        "fp16 (llama.cpp) use it; kernels with fp32 accumulation then come nearer to their own, lower peak")
        .In(kTFlops)
        .Above(0)
        .Advanced()};
constinit const Fields Schema<PeakRates>::fields(kPeakRatesFields);

constexpr FieldRow kDeviceMemoryFields[] = {
    Of<&DeviceMemory::technology>("technology", "Memory technology"),
    Of<&DeviceMemory::capacity>("capacity", "Capacity of the data sheet").Label("Memory capacity").In(kGB).Above(0),
    Of<&DeviceMemory::usable>("usable", "Memory that a program can allocate").In(kGiB).Above(0).Derived().Advanced(),
    Of<&DeviceMemory::bandwidth>("bandwidth", "Peak memory bandwidth, reads and writes together")
        .Label("Memory bandwidth")
        .In(kGBps)
        .Above(0)
        .AtMost(1'000'000'000)};
constinit const Fields Schema<DeviceMemory>::fields(kDeviceMemoryFields);

constexpr FieldRow kCacheFields[] = {
    Of<&Cache::name>("name", "Name of the cache level"),
    Of<&Cache::capacity>("capacity", "Capacity of the whole device; figures use the last level (L2)")
        .In(kMiB)
        .AtLeast(0),
    Of<&Cache::bandwidth>("bandwidth", "Bandwidth of the whole device; without one the level bounds no kernel")
        .In(kTBps)
        .Above(0)};
constinit const Fields Schema<Cache>::fields(kCacheFields);

constexpr FieldRow kDieSizeFields[] = {
    Of<&DieSize::area>("area", "Area per compute die").In(kMm2).Above(0), Of<&DieSize::node>("node", "Process node"),
    Of<&DieSize::count>("count", "Compute dies in the package").Between(1, 64),
    Of<&DieSize::link_power>("link_power", "Power of die-to-die links, out of the TDP")
        .In(kWatt)
        .AtLeast(0)
        .Advanced()};
constinit const Fields Schema<DieSize>::fields(kDieSizeFields);

constexpr FieldRow kEfficiencyFields[] = {
    Of<&Efficiency::gemm_efficiency>(
        "matrix",
        "GEMM efficiency, 16-bit: fraction of what the matrix units can do in a short GEMM with the best tile")
        .Share(),
    Of<&Efficiency::sustained_clock_derating>("sustained_fall",
                                              "Clock loss of long runs at the power limit: time grows by this share")
        .Between(0, 4),
    Of<&Efficiency::bandwidth_efficiency>("stream", "Achievable fraction of the memory bandwidth")
        .Label("Achievable bandwidth")
        .Share(),
    Of<&Efficiency::launch_latency>("launch", "Kernel launch latency inside a CUDA graph")
        .Label("Kernel launch latency")
        .In(kUs)
        .Between(0, 1'000'000),
    Of<&Efficiency::attention_forward>("attention_forward",
                                       "FlashAttention forward in training, fraction of the dense peak; used where "
                                       "training.framework.compute.attention has no row for "
                                       "the device's family")
        .Above(0)
        .AtMost(1.1),
    Of<&Efficiency::attention_backward>("attention_backward",
                                        "FlashAttention backward in training, fraction of the dense peak; used where "
                                        "training.framework.compute.attention has no row for "
                                        "the device's family")
        .Above(0)
        .AtMost(1.1),
    Of<&Efficiency::gemm_efficiency_fp8>(
        "matrix_fp8", "GEMM efficiency, fp8: fraction of the dense fp8 peak in a short GEMM with the best tile")
        .Share(),
    Of<&Efficiency::rated_power>("rated_power",
                                 "Power limit at which the clock losses were measured; a lower TDP loses more")
        .In(kWatt)
        .Above(0)
        .AtMost(1'000'000),
    Of<&Efficiency::decode_bandwidth_efficiency>("decode_stream",
                                                 "Achievable fraction of the memory bandwidth in decode attention")
        .Label("Achievable bandwidth in decode attention")
        .Share(),
    Of<&Efficiency::l2_bandwidth>("cache_stream", "L2-cache bandwidth in attention")
        .In(kTBps)
        .Above(0)
        .AtMost(1'000'000),
    Of<&Efficiency::usable_l2_fraction>("cache_share", "Fraction of the L2 cache in which reused data is still found")
        .Share()};
constinit const Fields Schema<Efficiency>::fields(kEfficiencyFields);

constexpr FieldRow kHostLinkFields[] = {
    Of<&HostLink::bandwidth>("bandwidth", "Bandwidth to host memory, one direction")
        .In(kGBps)
        .Above(0)
        .AtMost(1'000'000),
    Of<&HostLink::memory>("memory", "The device's share of the host memory").In(kGB).AtLeast(0)};
constinit const Fields Schema<HostLink>::fields(kHostLinkFields);

constexpr FieldRow kDeviceFields[] = {
    Of<&Device::preset>("preset", "Preset; fields below override it"),
    Of<&Device::name>("name", "Name"),
    Of<&Device::vendor>("vendor", "Vendor").Advanced(),
    Of<&Device::year>("year", "Year of announcement. Informational: no figure uses it").Between(2010, 2100).Advanced(),
    Of<&Device::architecture>("architecture",
                              "GPU family, which selects the kernel constants; of a chip design the newest, unless the "
                              "design names another")
        .Advanced(),
    Of<&Device::peak>("peak", "Dense peak throughput"),
    Of<&Device::units>("units", "SMs (compute units, matrix engines)")
        .Label("SMs (compute units)")
        .Between(1, 1 << 20)
        .Advanced(),
    Of<&Device::clock>("clock", "Boost clock").In(kGHz).Above(0).AtMost(100).Advanced(),
    Of<&Device::exponentials>("exponentials", "Exp throughput per SM and clock").Above(0).AtMost(4096).Advanced(),
    Of<&Device::memory>("memory", "Device memory"),
    Of<&Device::caches>("caches", "Caches, innermost first").Label("Cache").Advanced(),
    Of<&Device::host>("host", "Host link and host memory").Advanced(),
    Of<&Device::tdp>("tdp", "TDP (power limit)").In(kWatt).Above(0).AtMost(1'000'000),
    Of<&Device::idle>("idle", "Idle power").In(kWatt).AtLeast(0).Advanced(),
    Of<&Device::die>("die", "Compute dies").Advanced(),
    Of<&Device::efficiency>("efficiency", "Achieved fractions of the data-sheet rates").Advanced(),
    Of<&Device::design>("design", "Custom chip design: derive the device from a process node and budgets").Advanced()};
constinit const Fields Schema<Device>::fields(kDeviceFields);

}  // namespace slipstick
