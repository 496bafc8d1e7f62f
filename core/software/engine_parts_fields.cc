// Parts of a serving engine with field tables of their own: memory budget, constants of the other compositions,
// exceptions per device.
#include "core/base/field_table.h"
#include "core/software/engine.h"

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
    Of<&MemoryBudget::share>("share", "Share of the memory that the rule refers to").Above(0).AtMost(1),
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
    Of<&MemoryBudget::block>("block", "Tokens per KV-cache page").Between(1, 65536),
    Of<&MemoryBudget::activation_tokens>(
        "activation_tokens",
        "Tokens of the largest step, which activations are sized for where serving.prefill_chunk is not stated; 0: "
        "they are in the reserve")
        .Label("Tokens of the largest step")
        .Length()
        .Between(0, 1 << 24),
    Of<&MemoryBudget::logit_sequences>(
        "logit_sequences",
        "Sequences that the largest step samples, where serving.max_requests is not stated; 0: their logits are in the "
        "reserve")
        .Label("Sequences of the largest step")
        .Between(0, 1 << 20),
    Of<&MemoryBudget::large_devices>("large_devices", "Largest step on devices with much memory, by default")};
constinit const Fields Schema<MemoryBudget>::fields(kMemoryBudgetFields);

constexpr FieldRow kCompiledGraphFields[] = {
    Of<&CompiledGraph::gemm_efficiency>("matrix", "GEMM efficiency: share of the dense peak").Above(0).AtMost(1),
    Of<&CompiledGraph::bandwidth_efficiency>("stream", "Share of the memory bandwidth at which weights are read")
        .Above(0)
        .AtMost(1),
    Of<&CompiledGraph::kv_cache_bandwidth_efficiency>("cache_stream",
                                                      "Share of the memory bandwidth at which the KV cache is read")
        .Above(0)
        .AtMost(1),
    Of<&CompiledGraph::elementwise_bandwidth_efficiency>("element_stream",
                                                         "Share of the memory bandwidth for activations")
        .Above(0)
        .AtMost(1),
    Of<&CompiledGraph::layer_overhead>("layer", "Fixed cost per layer").In(kUs).Between(0, 1'000'000),
    Of<&CompiledGraph::all_reduce_overhead>("reduce", "Fixed cost per all-reduce").In(kUs).Between(0, 1'000'000),
    Of<&CompiledGraph::all_reduce_bandwidth_efficiency>("reduce_stream", "Share of the link bandwidth in an all-reduce")
        .Above(0)
        .AtMost(1),
    Of<&CompiledGraph::skips_masked_scores>("causal", "Attention computes only what the causal mask leaves"),
    Of<&CompiledGraph::fixed_shapes>("fixed_shapes", "Compiled for one KV length: every step reads the whole KV cache"),
    Of<&CompiledGraph::cores>("cores", "Tensor-parallel ranks per device").Between(1, 64),
    Of<&CompiledGraph::on_chip_capacity>("on_chip", "Activations above this size spill to memory; 0: no limit")
        .In(kMB)
        .AtLeast(0),
    Of<&CompiledGraph::spill_exponent>("spill", "Prefill time grows with (activations / limit) to this power")
        .Between(0, 1)};
constinit const Fields Schema<CompiledGraph>::fields(kCompiledGraphFields);

constexpr FieldRow kLayerPipelineFields[] = {
    Of<&LayerPipeline::bandwidth_efficiency>("stream", "Share of the memory bandwidth of matrix-vector products")
        .Above(0)
        .AtMost(1),
    Of<&LayerPipeline::bytes_per_clock>("bytes_per_clock", "Maximum bytes that an SM reads per clock")
        .Above(0)
        .AtMost(1024),
    Of<&LayerPipeline::clocks_per_layer>("clocks_per_layer", "Clocks of small dependent kernels per layer")
        .Between(0, 1'000'000'000),
    Of<&LayerPipeline::kv_cache_bandwidth_ratio>(
        "cache_stream", "Rate at which query heads read the KV cache, each for itself, over memory bandwidth")
        .Above(0)
        .AtMost(16),
    Of<&LayerPipeline::gemm_efficiency>("matrix", "GEMM efficiency in prefill: share of the dense peak")
        .Above(0)
        .AtMost(1),
    Of<&LayerPipeline::fp16_accumulate>("fp16_accumulate",
                                        "GEMMs accumulate in fp16, at that rate where a device has one"),
    Of<&LayerPipeline::attention_efficiency>("attention", "Prefill attention: share of the dense peak")
        .Above(0)
        .AtMost(1),
    Of<&LayerPipeline::activation_passes>("activation_passes",
                                          "Round trips of an activation to memory per layer of prefill")
        .Between(0, 1000),
    Of<&LayerPipeline::dequantized_bytes>("dequantised_bytes",
                                          "Memory traffic per quantized weight and micro-batch (bytes)")
        .Between(0, 64),
    Of<&LayerPipeline::score_passes>("score_passes", "Passes over the scores through memory, in fp32").Between(0, 1000),
    Of<&LayerPipeline::micro_batch>("micro_batch", "Tokens per prefill micro-batch").Between(1, 1 << 20),
    Of<&LayerPipeline::decode_hop>("hop", "Transfer to the next device, decode").In(kUs).Between(0, 1'000'000),
    Of<&LayerPipeline::prefill_hop>("prefill_hop", "Transfer to the next device, prefill")
        .In(kUs)
        .Between(0, 1'000'000),
    Of<&LayerPipeline::pipeline_efficiency>("pipeline", "Share of the ideal speed-up of micro-batches in flight")
        .Above(0)
        .AtMost(1),
    Of<&LayerPipeline::kernels_per_layer>("kernels_per_layer", "Kernel launches per layer of prefill")
        .Between(0, 1'000'000),
    Of<&LayerPipeline::kernels_per_quantized_layer>("kernels_per_quantised_layer",
                                                    "Kernel launches per layer of prefill with quantized weights")
        .Between(0, 1'000'000),
    Of<&LayerPipeline::launch_queue>("launch_queue", "Launches that a device queues before the host blocks")
        .Above(0)
        .AtMost(1'000'000'000),
    Of<&LayerPipeline::max_in_flight>("in_flight", "Maximum micro-batches in flight").Between(1, 64),
    Of<&LayerPipeline::usable_without_ecc>("usable_without_ecc",
                                           "Least usable memory without in-line ECC, GiB per GB of the data sheet")
        .Label("Least usable memory without ECC")
        .Between(0, 1),
    Of<&LayerPipeline::ecc_loss>("ecc_loss", "Share of the bandwidth of GDDR memory that in-line ECC costs")
        .Between(0, 1)};
constinit const Fields Schema<LayerPipeline>::fields(kLayerPipelineFields);

constexpr FieldRow kStoredProductsFields[] = {
    Of<&StoredProducts::per_clock>("per_clock", "Most FLOP of an SM per clock").In(kFlop).Above(0),
    Of<&StoredProducts::vector_per_clock>("vector_per_clock", "Most FLOP of an SM per clock in a matrix-vector kernel")
        .In(kFlop)
        .Above(0),
    Of<&StoredProducts::tile_rows>("tile_rows", "Most rows that share the weights of a tile").Between(1, 1024),
    Of<&StoredProducts::pass_bytes>("pass_bytes", "Bytes of an element that passes between the products of experts")
        .In(kB)
        .Between(1, 16),
    Of<&StoredProducts::token_walk>("token_walk",
                                    "Time per token in a layer with experts, whose rows are found token by token")
        .In(kUs)
        .Between(0, 1000),
    Of<&StoredProducts::vector_rows>("vector_rows", "Most rows of a matrix-vector kernel").Between(0, 1024),
    Of<&StoredProducts::vector_tokens>("vector_tokens", "Most tokens of a pass whose experts are matrix-vector kernels")
        .Between(0, 1024)};
constinit const Fields Schema<StoredProducts>::fields(kStoredProductsFields);

constexpr FieldRow kHostProductsFields[] = {
    Of<&HostProducts::bandwidth_efficiency>("stream",
                                            "Share of the host memory's bandwidth at which the processor reads weights")
        .Above(0)
        .AtMost(1),
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
    Of<&EngineOn::step>("step", "Scheduler overhead per step on this architecture").In(kUs).Between(0, 1'000'000),
    Of<&EngineOn::per_sequence>("sequence", "Scheduler overhead per sequence and step on this architecture")
        .In(kUs)
        .Between(0, 1'000'000),
    Of<&EngineOn::launch_gap>("launch_gap", "Kernel launch gap without graphs on this architecture")
        .In(kUs)
        .Between(0, 1'000'000),
    Of<&EngineOn::stored_per_clock>("stored_per_clock",
                                    "Most FLOP of an SM per clock with stored weights on this architecture")
        .In(kFlop)
        .Above(0),
    Of<&EngineOn::expert_gemm_efficiency>("expert_matrix", "Expert GEMM efficiency on this architecture")
        .Above(0)
        .AtMost(1),
    Of<&EngineOn::expert_bandwidth_efficiency>("expert_stream", "Expert bandwidth efficiency on this architecture")
        .Above(0)
        .AtMost(1),
    Of<&EngineOn::visits_held_experts>(
        "visits_held_experts",
        "Kernels of experts in fp8 with block scales take time for each that the device holds, hit or not")
        .Label("Kernels visit all held experts"),
    Of<&EngineOn::weight_only_gemm_efficiency>(
        "weight_only_matrix", "Expert GEMM efficiency on this architecture where only the weights are narrow")
        .Label("Expert GEMM efficiency, weight-only")
        .Above(0)
        .AtMost(1),
    Of<&EngineOn::weight_only_bandwidth_efficiency>(
        "weight_only_stream", "Expert bandwidth efficiency on this architecture where only the weights are narrow")
        .Label("Expert bandwidth efficiency, weight-only")
        .Above(0)
        .AtMost(1)};
constinit const Fields Schema<EngineOn>::fields(kEngineOnFields);

}  // namespace slipstick
