#include "core/base/field_table.h"
#include "core/hardware/device.h"

namespace slipstick {

constexpr FieldRow kPeakRatesFields[] = {
    Of<&PeakRates::fp32>("fp32", "Dense fp32 rate").In(kTFlops).Above(0),
    Of<&PeakRates::tf32>("tf32", "Dense tf32 rate").In(kTFlops).Above(0),
    Of<&PeakRates::bf16>("bf16", "Dense bf16 rate").In(kTFlops).Above(0),
    Of<&PeakRates::fp16>("fp16", "Dense fp16 rate").In(kTFlops).Above(0),
    Of<&PeakRates::fp8>("fp8", "Dense fp8 rate").In(kTFlops).Above(0),
    Of<&PeakRates::int8>("int8", "Dense int8 rate").In(kTFlops).Above(0),
    Of<&PeakRates::fp4>("fp4", "Dense fp4 rate").In(kTFlops).Above(0),
    Of<&PeakRates::int4>("int4", "Dense int4 rate").In(kTFlops).Above(0),
    Of<&PeakRates::fp16_accumulate>("fp16_accumulate",
                                    "Dense fp16 rate with sums kept in fp16, where it is the faster; only engines that keep "
                                    "them so use it (llama.cpp)")
        .In(kTFlops)
        .Above(0)
        .Advanced()};
constinit const Fields Schema<PeakRates>::fields(kPeakRatesFields);

constexpr FieldRow kDeviceMemoryFields[] = {
    Of<&DeviceMemory::technology>("technology", "Kind of memory"),
    Of<&DeviceMemory::capacity>("capacity", "As the data sheet prints it").In(kGB).Above(0),
    Of<&DeviceMemory::usable>("usable", "What a program can allocate").In(kGiB).Above(0).Derived().Advanced(),
    Of<&DeviceMemory::bandwidth>("bandwidth", "Peak, reads and writes together").In(kGBps).Above(0).AtMost(1'000'000'000)};
constinit const Fields Schema<DeviceMemory>::fields(kDeviceMemoryFields);

constexpr FieldRow kCacheFields[] = {
    Of<&Cache::name>("name", "Which level"),
    Of<&Cache::capacity>("capacity", "Of the whole device; figures use that of the last level").In(kMiB).AtLeast(0),
    Of<&Cache::bandwidth>("bandwidth", "Of the whole device. Informational: no figure uses it yet").In(kTBps).Above(0)};
constinit const Fields Schema<Cache>::fields(kCacheFields);

constexpr FieldRow kDieSizeFields[] = {Of<&DieSize::area>("area", "Of one compute die").In(kMm2).Above(0),
                                       Of<&DieSize::node>("node", "Process node"),
                                       Of<&DieSize::count>("count", "Compute dies in the package").Between(1, 64)};
constinit const Fields Schema<DieSize>::fields(kDieSizeFields);

constexpr FieldRow kEfficiencyFields[] = {
    Of<&Efficiency::gemm_efficiency>("matrix", "Share of the dense peak in a short matrix product with the best tile").Above(0).AtMost(1),
    Of<&Efficiency::clock_derating>("power_fall", "Fall of that rate when a kernel runs long (power)").Between(0, 4),
    Of<&Efficiency::sustained_clock_derating>("sustained_fall", "The same in a training step").Between(0, 4),
    Of<&Efficiency::bandwidth_efficiency>("stream", "Share of the memory bandwidth that a stream reaches").Above(0).AtMost(1),
    Of<&Efficiency::launch_latency>("launch", "Fixed cost of a kernel inside a graph").In(kUs).Between(0, 1'000'000),
    Of<&Efficiency::attention_forward>(
        "attention_forward",
        "Flash attention forward in training, share of the dense peak; acts where training.framework.compute.attention has no row for "
        "the device's family")
        .Above(0)
        .AtMost(1.1),
    Of<&Efficiency::attention_backward>(
        "attention_backward",
        "Flash attention backward in training, share of the dense peak; acts where training.framework.compute.attention has no row for "
        "the device's family")
        .Above(0)
        .AtMost(1.1),
    Of<&Efficiency::gemm_efficiency_fp8>("matrix_fp8", "Share of the dense fp8 peak in a short matrix product with the best tile")
        .Above(0)
        .AtMost(1),
    Of<&Efficiency::rated_power>("rated_power", "Power limit under which the falls were measured; a lower tdp falls further")
        .In(kWatt)
        .Above(0)
        .AtMost(1'000'000),
    Of<&Efficiency::decode_bandwidth_efficiency>("decode_stream", "Share of the memory bandwidth that decode attention reaches")
        .Above(0)
        .AtMost(1),
    Of<&Efficiency::l2_bandwidth>("cache_stream", "Rate at which attention reads the last cache").In(kTBps).Above(0).AtMost(1'000'000),
    Of<&Efficiency::usable_l2_fraction>("cache_share", "Share of the last cache in which data read again is found").Above(0).AtMost(1)};
constinit const Fields Schema<Efficiency>::fields(kEfficiencyFields);

constexpr FieldRow kHostLinkFields[] = {
    Of<&HostLink::bandwidth>("bandwidth", "To the host's memory, one direction").In(kGBps).Above(0).AtMost(1'000'000),
    Of<&HostLink::memory>("memory", "The device's share of the host's memory").In(kGB).AtLeast(0)};
constinit const Fields Schema<HostLink>::fields(kHostLinkFields);

constexpr FieldRow kDeviceFields[] = {
    Of<&Device::preset>("preset", "Catalogue entry that the other members override"),
    Of<&Device::name>("name", "What to call it"),
    Of<&Device::vendor>("vendor", "Who makes it").Advanced(),
    Of<&Device::year>("year", "When it was announced").Between(2010, 2100).Advanced(),
    Of<&Device::architecture>("architecture", "Family whose kernels it runs").Advanced(),
    Of<&Device::peak>("peak", "Dense arithmetic rates"),
    Of<&Device::units>("units", "SMs, compute units or matrix engines").Between(1, 1 << 20).Advanced(),
    Of<&Device::clock>("clock", "Boost clock").In(kGHz).Above(0).AtMost(100).Advanced(),
    Of<&Device::exponentials>("exponentials", "Exponentials a clock and unit").Above(0).AtMost(4096).Advanced(),
    Of<&Device::memory>("memory", "Device memory"),
    Of<&Device::caches>("caches", "On-chip levels, innermost first").Advanced(),
    Of<&Device::host>("host", "Link to the host and its memory").Advanced(),
    Of<&Device::tdp>("tdp", "Thermal design power").In(kWatt).Above(0).AtMost(1'000'000),
    Of<&Device::idle>("idle", "Power when nothing runs").In(kWatt).AtLeast(0).Advanced(),
    Of<&Device::die>("die", "Compute silicon").Advanced(),
    Of<&Device::efficiency>("efficiency", "How near kernels come to the data sheet").Advanced(),
    Of<&Device::design>("design", "Derive the device from a node and budgets instead").Advanced()};
constinit const Fields Schema<Device>::fields(kDeviceFields);

}  // namespace slipstick
