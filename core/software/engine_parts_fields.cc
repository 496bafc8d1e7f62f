// Parts of a serving engine with their own field tables: memory budget, products with stored weights, exceptions per
// device.
#include "core/base/field_table.h"
#include "core/software/engine.h"
#include "core/software/expert_exchange.h"
#include "core/software/utilizations.h"

namespace slipstick {

constexpr FieldRow kLargeDeviceStepsFields[] = {
    Of<&LargeDeviceSteps::device_memory>("device_memory", "Usable memory from which a device is large")
        .In(kGiB)
        .Above(0),
    Of<&LargeDeviceSteps::devices>("devices", "Device families that the row applies to; none: any")
        .Label("Device families"),
    Of<&LargeDeviceSteps::activation_tokens>("activation_tokens",
                                             "Tokens of the largest step on a large device, by default")
        .Length()
        .Between(0, 1 << 24),
    Of<&LargeDeviceSteps::logit_sequences>("logit_sequences", "Sequences of that step, by default")
        .Between(0, 1 << 20)};
constinit const Fields Schema<LargeDeviceSteps>::fields(kLargeDeviceStepsFields);

constexpr FieldRow kMemoryBudgetFields[] = {
    Of<&MemoryBudget::rule>("rule", "Memory of the KV cache"),
    Of<&MemoryBudget::share>("share", "Share of the memory that the rule refers to; default: all but the headroom")
        .Share(),
    Of<&MemoryBudget::headroom>("headroom", "Memory beside weights and KV cache where no share is stated")
        .In(kGB)
        .AtLeast(0),
    Of<&MemoryBudget::headroom_per_token>("headroom_per_token", "Added to the headroom per token of the largest step")
        .In(kMiB)
        .AtLeast(0),
    Of<&MemoryBudget::reserve>("reserve", "Reserve: context and libraries of the process").In(kGB).AtLeast(0),
    Of<&MemoryBudget::reserve_parallel>("reserve_parallel",
                                        "Added to the reserve where several devices share a replica: communication")
        .In(kGB)
        .AtLeast(0),
    Of<&MemoryBudget::output_reserved>("output_reserved", "Share of a request's output reserved at admission")
        .Between(0, 1),
    Of<&MemoryBudget::window_share>(
        "window_share", "Share of a sequence's tokens that a layer with a sliding window holds; 0: its window only")
        .Between(0, 1),
    Of<&MemoryBudget::state_ratio>("state_ratio",
                                   "Memory of recurrent states over that of the KV cache, where the engine divides "
                                   "its free memory between two pools; empty: one pool holds both")
        .Label("Memory of recurrent states over KV cache")
        .Above(0)
        .AtMost(1000),
    Of<&MemoryBudget::sequence_states>(
        "sequence_states",
        "Recurrent states that a running sequence takes from the pool of states: its own "
        "and those that the prefix cache holds")
        .Label("Recurrent states per sequence")
        .Between(1, 64),
    Of<&MemoryBudget::block>("block", "Tokens per KV-cache page").Between(1, 65536),
    Of<&MemoryBudget::activation_tokens>("activation_tokens",
                                         "Tokens of the largest step, for which activations are sized if "
                                         "serving.prefill_chunk is not set; 0: the reserve holds them")
        .Label("Tokens of the largest step")
        .Length()
        .Between(0, 1 << 24),
    Of<&MemoryBudget::logit_sequences>(
        "logit_sequences",
        "Sequences that the largest step samples, where serving.max_requests is not stated; 0: their logits are in the "
        "reserve")
        .Label("Sequences of the largest step")
        .Between(0, 1 << 20),
    Of<&MemoryBudget::divides_step>("divides_step",
                                    "Ranks of data-parallel attention divide the tokens of the default step")
        .Label("Attention ranks divide the step"),
    Of<&MemoryBudget::large_devices>(
        "large_devices", "Largest step on devices with much memory, by default; the last row that applies")};
constinit const Fields Schema<MemoryBudget>::fields(kMemoryBudgetFields);

constexpr FieldRow kStoredProductsFields[] = {
    Of<&StoredProducts::per_clock>(
        "per_clock",
        "Most FLOP of an SM per clock; absent: only matrix-vector kernels of dense products multiply with stored "
        "weights")
        .Label("FLOP per clock with stored weights")
        .In(kFlop)
        .Above(0),
    Of<&StoredProducts::loads_ahead>("loads_ahead", "A matrix-vector kernel loads weights while it multiplies")
        .Label("Matrix-vector kernels load ahead"),
    Of<&StoredProducts::vector_per_clock>("vector_per_clock", "Most FLOP of an SM per clock in a matrix-vector kernel")
        .In(kFlop)
        .Above(0),
    Of<&StoredProducts::tile_rows>("tile_rows", "Most rows that share the weights of a tile").Between(1, 1024),
    Of<&StoredProducts::pass_bytes>("pass_bytes", "Bytes of an element that passes between the products of experts")
        .In(kB)
        .Between(1, 16),
    Of<&StoredProducts::token_walk>("token_walk",
                                    "Time per token in a layer with experts, to find the rows of each expert")
        .In(kUs)
        .Between(0, 1000),
    Of<&StoredProducts::vector_rows>("vector_rows", "Most rows of a matrix-vector kernel").Between(0, 1024),
    Of<&StoredProducts::vector_tokens>("vector_tokens", "Most tokens of a pass whose experts are matrix-vector kernels")
        .Between(0, 1024)};
constinit const Fields Schema<StoredProducts>::fields(kStoredProductsFields);

constexpr FieldRow kHostProductsFields[] = {
    Of<&HostProducts::bandwidth_efficiency>("stream",
                                            "Share of the host memory's bandwidth at which the processor reads weights")
        .Share(),
    Of<&HostProducts::overhead>("layer", "Fixed cost per layer that the processor computes")
        .In(kUs)
        .Between(0, 1'000'000),
    Of<&HostProducts::device_from>(
        "device_from", "Fewest tokens of a step for which weights are copied to the device and computed there")
        .Label("Tokens that the device computes")
        .Between(1, 1 << 24)};
constinit const Fields Schema<HostProducts>::fields(kHostProductsFields);

constexpr FieldRow kEngineOnFields[] = {
    Of<&EngineOn::architecture>("architecture", "Device architecture"),
    Of<&EngineOn::graphs>("graphs", "CUDA graphs on this architecture"),
    Of<&EngineOn::quantizes_apart>("quantizes_apart",
                                   "Activations are quantized by a separate kernel on this architecture"),
    Of<&EngineOn::mixes_attention>("mixes_attention",
                                   "In a step that decodes and prefills, decoded tokens run in the prompts' attention "
                                   "kernel, where each of their query heads takes a block of rows")
        .Label("Decoded tokens are in the prompts' attention call"),
    Of<&EngineOn::sparse_kv_cache>("sparse_kv_cache",
                                   "Where nobody wrote a format of the KV cache, that of latent attention to selected "
                                   "tokens on this architecture; absent: as for other models")
        .Label("KV cache of sparse latent attention")
        .OutsideReports(),
    Of<&EngineOn::triton_latent>("triton_latent",
                                 "Latent attention decodes in Triton's kernel on this architecture, whose splits of a "
                                 "sequence latent_splits_by_length says")
        .Label("Latent attention decodes in Triton's kernel"),
    Of<&EngineOn::latent_head_dim>("latent_head_dim",
                                   "Head dimension, without the rotary part, that the engine's latent kernels decode "
                                   "on this architecture; others decode in Triton's kernel")
        .Label("Head width of the latent kernels")
        .Between(1, 1024),
    Of<&EngineOn::step>("step", "Scheduler overhead per step on this architecture").In(kUs).Between(0, 1'000'000),
    Of<&EngineOn::per_sequence>("sequence", "Scheduler overhead per sequence and step on this architecture")
        .In(kUs)
        .Between(0, 1'000'000),
    Of<&EngineOn::launch_gap>("launch_gap", "Kernel launch gap without graphs on this architecture")
        .In(kUs)
        .Between(0, 1'000'000),
    Of<&EngineOn::stored_efficiency>(
        "stored_efficiency",
        "Rate of products with stored weights on this architecture, over that of the device in 16 bit")
        .Share(),
    Of<&EngineOn::stored_tile_rows>("stored_tile_rows",
                                    "Tokens of a tile of products with stored weights on this architecture")
        .Between(1, 1024),
    Of<&EngineOn::expert_gemm_efficiency>("expert_matrix", "Expert GEMM efficiency on this architecture").Share(),
    Of<&EngineOn::expert_bandwidth_efficiency>("expert_stream", "Expert bandwidth efficiency on this architecture")
        .Share(),
    Of<&EngineOn::visits_held_experts>(
        "visits_held_experts",
        "fp8 expert kernels with block scales take time for each held expert, even without tokens")
        .Label("Kernels visit all held experts"),
    Of<&EngineOn::weight_only_per_clock>("weight_only_per_clock",
                                         "Most FLOP per SM and clock in expert GEMMs with only narrow weights; the "
                                         "fastest library's efficiency still applies to it")
        .Label("Expert FLOP per clock, weight-only")
        .In(kFlop)
        .Above(0),
    Of<&EngineOn::weight_only_bandwidth_efficiency>(
        "weight_only_stream", "Expert bandwidth efficiency on this architecture where only the weights are narrow")
        .Label("Expert bandwidth efficiency, weight-only")
        .Share()};
constinit const Fields Schema<EngineOn>::fields(kEngineOnFields);

constexpr FieldRow kExchangeKernelsFields[] = {
    Of<&ExchangeKernels::min_ranks>("ranks", "Smallest number of expert-parallel ranks that the row applies to")
        .Between(2, 1 << 20),
    Of<&ExchangeKernels::min_domain_size>("domain", "Smallest scale-up domain, in devices, that the row applies to")
        .Between(1, 1 << 20),
    Of<&ExchangeKernels::decode>("decode", "Kernel in decode steps"),
    Of<&ExchangeKernels::prefill>("prefill", "Kernel in steps that hold prefill"),
    Of<&ExchangeKernels::units>("units", "SMs that a normal kernel occupies").Between(1, 1024)};
constinit const Fields Schema<ExchangeKernels>::fields(kExchangeKernelsFields);

constexpr FieldRow kUtilizationsFields[] = {
    Of<&Utilizations::compute>("compute", "Fraction of the dense peak that every operator reaches")
        .Label("Share of the dense peak")
        .Share(),
    Of<&Utilizations::memory>("memory",
                              "Fraction of the bandwidth of the memory and of each cache that every operator reaches")
        .Label("Share of memory and cache bandwidth")
        .Share(),
    Of<&Utilizations::network>("network", "Fraction of the bandwidth of each network level that every transfer reaches")
        .Label("Share of network bandwidth")
        .Share()};
constinit const Fields Schema<Utilizations>::fields(kUtilizationsFields);

}  // namespace slipstick
