#include "core/base/field_table.h"
#include "core/software/engine.h"

namespace slipstick {

constexpr FieldRow kMemoryBudgetFields[] = {
    Of<&MemoryBudget::rule>("rule", "What the cache gets of the memory"),
    Of<&MemoryBudget::share>("share", "Share that the rule takes").Above(0).AtMost(1),
    Of<&MemoryBudget::reserve>("reserve", "Context, buffers and graphs").In(kGB).AtLeast(0),
    Of<&MemoryBudget::reserve_parallel>("reserve_parallel", "More of it where tensor parallelism is above 1").In(kGB).AtLeast(0),
    Of<&MemoryBudget::output_reserved>("output_reserved", "Share of a request's output that is reserved when it is admitted").Between(0, 1),
    Of<&MemoryBudget::block>("block", "Tokens that a page of the cache holds").Between(1, 65536),
    Of<&MemoryBudget::activation_tokens>("activation_tokens", "Tokens that activations are sized for; 0: they are in the reserve")
        .Length()
        .Between(0, 1 << 24),
    Of<&MemoryBudget::logit_sequences>("logit_sequences", "Sequences whose logits, gathered and in fp32, are held at once")
        .Between(0, 1 << 20)};
constinit const Fields Schema<MemoryBudget>::fields(kMemoryBudgetFields);

constexpr FieldRow kCompiledGraphFields[] = {
    Of<&CompiledGraph::gemm_efficiency>("matrix", "Share of the dense peak").Above(0).AtMost(1),
    Of<&CompiledGraph::bandwidth_efficiency>("stream", "Share of the memory bandwidth that weights stream at").Above(0).AtMost(1),
    Of<&CompiledGraph::kv_cache_bandwidth_efficiency>("cache_stream", "Share of the memory bandwidth that the cache streams at")
        .Above(0)
        .AtMost(1),
    Of<&CompiledGraph::elementwise_bandwidth_efficiency>("element_stream", "Share of the memory bandwidth for activations")
        .Above(0)
        .AtMost(1),
    Of<&CompiledGraph::layer_overhead>("layer", "Fixed cost of a layer").In(kUs).Between(0, 1'000'000),
    Of<&CompiledGraph::all_reduce_overhead>("reduce", "Fixed cost of an all-reduce").In(kUs).Between(0, 1'000'000),
    Of<&CompiledGraph::all_reduce_bandwidth_efficiency>("reduce_stream", "Share of the link's bandwidth in an all-reduce")
        .Above(0)
        .AtMost(1),
    Of<&CompiledGraph::skips_masked_scores>("causal", "Attention skips what the mask hides"),
    Of<&CompiledGraph::fixed_shapes>("fixed_shapes", "Compiled for one length of the cache, which every step reads whole"),
    Of<&CompiledGraph::score_passes>("score_passes", "Times a score goes to memory and back").Between(0, 16),
    Of<&CompiledGraph::cores>("cores", "Tensor parallel ranks a device").Between(1, 64),
    Of<&CompiledGraph::on_chip_capacity>("on_chip", "Activations beyond this spill; 0: no such limit").In(kMB).AtLeast(0),
    Of<&CompiledGraph::spill_exponent>("spill", "Power of activations over the limit with which a prefill then grows").Between(0, 1)};
constinit const Fields Schema<CompiledGraph>::fields(kCompiledGraphFields);

constexpr FieldRow kLayerPipelineFields[] = {
    Of<&LayerPipeline::bandwidth_efficiency>("stream", "Share of the memory bandwidth of a matrix-vector product").Above(0).AtMost(1),
    Of<&LayerPipeline::bytes_per_clock>("bytes_per_clock", "Bytes a unit takes in a clock, at most").Above(0).AtMost(1024),
    Of<&LayerPipeline::clocks_per_layer>("clocks_per_layer", "Clocks of dependent small kernels in a layer").Between(0, 1'000'000'000),
    Of<&LayerPipeline::kv_cache_bandwidth_ratio>("cache_stream", "Rate of the KV cache over the memory bandwidth").Above(0).AtMost(16),
    Of<&LayerPipeline::kv_cache_bandwidth_ratio_large_l2>("cache_stream_large", "The same where the last cache is large")
        .Above(0)
        .AtMost(16),
    Of<&LayerPipeline::gemm_efficiency>("matrix", "Share of the dense peak in prefill").Above(0).AtMost(1),
    Of<&LayerPipeline::fp16_accumulate>("fp16_accumulate", "Products keep their sums in fp16, at that rate where a device has one"),
    Of<&LayerPipeline::attention_efficiency>("attention", "Share of the dense peak in prefill attention").Above(0).AtMost(1),
    Of<&LayerPipeline::activation_passes>("activation_passes", "Passes over activations in a layer of prefill").Between(0, 1000),
    Of<&LayerPipeline::dequantized_bytes>("dequantised_bytes", "Memory traffic of a quantised weight a micro-batch").Between(0, 64),
    Of<&LayerPipeline::score_bytes>("score_bytes", "Memory traffic of a score").Between(0, 1000),
    Of<&LayerPipeline::score_bytes_large_l2>("score_bytes_large", "The same where the last cache is large").Between(0, 1000),
    Of<&LayerPipeline::large_l2>("large_cache", "From this size the last cache is large").In(kMB).AtLeast(0),
    Of<&LayerPipeline::micro_batch>("micro_batch", "Tokens of prefill at once").Between(1, 1 << 20),
    Of<&LayerPipeline::decode_hop>("hop", "To the next device, in decode").In(kUs).Between(0, 1'000'000),
    Of<&LayerPipeline::prefill_hop>("prefill_hop", "To the next device, in prefill").In(kUs).Between(0, 1'000'000),
    Of<&LayerPipeline::pipeline_efficiency>("pipeline", "Share of the ideal gain of micro-batches in flight").Above(0).AtMost(1),
    Of<&LayerPipeline::kernels_per_layer>("kernels_per_layer", "Launches in a layer of prefill").Between(0, 1'000'000),
    Of<&LayerPipeline::kernels_per_quantized_layer>("kernels_per_quantised_layer", "The same where weights are quantised")
        .Between(0, 1'000'000),
    Of<&LayerPipeline::launch_queue>("launch_queue", "Kernels that may wait on a device before the host must wait")
        .Above(0)
        .AtMost(1'000'000'000),
    Of<&LayerPipeline::max_in_flight>("in_flight", "Micro-batches in flight at most").Between(1, 64)};
constinit const Fields Schema<LayerPipeline>::fields(kLayerPipelineFields);

constexpr FieldRow kEngineOnFields[] = {Of<&EngineOn::architecture>("architecture", "Family of devices"),
                                        Of<&EngineOn::graphs>("graphs", "As in the engine"),
                                        Of<&EngineOn::expert_gemm_efficiency>("expert_matrix", "As in the engine").Above(0).AtMost(1),
                                        Of<&EngineOn::expert_bandwidth_efficiency>("expert_stream", "As in the engine").Above(0).AtMost(1)};
constinit const Fields Schema<EngineOn>::fields(kEngineOnFields);

constexpr FieldRow kEngineFields[] = {
    Of<&Engine::preset>("preset", "Catalogue entry that the other members override"),
    Of<&Engine::name>("name", "What to call it"),
    Of<&Engine::composition>("composition", "How a step is put together").Advanced(),
    Of<&Engine::kernels, &EngineKernels::graphs>("graphs", "Decode steps are launched as one graph").Advanced(),
    Of<&Engine::overhead, &EngineOverhead::launch_gap>("launch_gap", "Between dependent kernels that are launched one by one")
        .In(kUs)
        .Between(0, 1'000'000)
        .Advanced(),
    Of<&Engine::overhead, &EngineOverhead::prefill_launch_gap>("prefill_gap", "The same in a prefill")
        .In(kUs)
        .Between(0, 1'000'000)
        .Advanced(),
    Of<&Engine::kernels, &EngineKernels::elementwise_kernels>("element_kernels", "Norms, activation and residual kernels of a layer")
        .Between(0, 100)
        .Advanced(),
    Of<&Engine::kernels, &EngineKernels::elementwise_bandwidth_efficiency>("element_stream",
                                                                           "Share of the memory bandwidth of those kernels")
        .Above(0)
        .AtMost(1)
        .Advanced(),
    Of<&Engine::kernels, &EngineKernels::elementwise_bytes>("element_bytes",
                                                            "Further bytes a row and hidden element (bias and transpose passes)")
        .Between(0, 1000)
        .Advanced(),
    Of<&Engine::overhead, &EngineOverhead::step>("step", "Scheduler, sampling and token copy of a step")
        .In(kUs)
        .Between(0, 10'000'000)
        .Advanced(),
    Of<&Engine::overhead, &EngineOverhead::per_sequence>("sequence", "The same a sequence").In(kUs).Between(0, 1'000'000).Advanced(),
    Of<&Engine::overhead, &EngineOverhead::prefill_step>("prefill_step", "Of a step that holds prefill")
        .In(kUs)
        .Between(0, 10'000'000)
        .Advanced(),
    Of<&Engine::overhead, &EngineOverhead::prefill_step_host>("prefill_host", "Of the host, a step that holds prefill, beside the devices")
        .In(kUs)
        .Between(0, 10'000'000)
        .Advanced(),
    Of<&Engine::overhead, &EngineOverhead::prefill_launch>("prefill_launch", "Of the host, an operation of a prefill")
        .In(kUs)
        .Between(0, 1'000'000)
        .Advanced(),
    Of<&Engine::overhead, &EngineOverhead::per_sequence_host>("host_sequence", "Of the host, a sequence and step, beside the devices")
        .In(kUs)
        .Between(0, 1'000'000)
        .Advanced(),
    Of<&Engine::overhead, &EngineOverhead::per_request>("request", "Handling of a request before its first token")
        .In(kMs)
        .Between(0, 100'000)
        .Advanced(),
    Of<&Engine::scheduler, &EngineScheduler::steps_ahead>("steps_ahead", "Steps launched before their predecessor has ended")
        .Between(0, 16)
        .Advanced(),
    Of<&Engine::scheduler, &EngineScheduler::prefill_tokens>("prefill_tokens", "Tokens of prefill in a step, at most")
        .Length()
        .Between(1, 1 << 28)
        .Advanced(),
    Of<&Engine::scheduler, &EngineScheduler::groups_prefills>("groups_prefills",
                                                              "Requests admitted together share a prefill and wait for each other")
        .Advanced(),
    Of<&Engine::scheduler, &EngineScheduler::queues_static_batch>("queues_static_batch", "Of a static batch only as many run as fit")
        .Advanced(),
    Of<&Engine::scheduler, &EngineScheduler::max_sequences>("max_sequences", "Sequences at once, at most").Between(1, 1 << 24).Advanced(),
    Of<&Engine::kernels, &EngineKernels::attention>("attention", "Whose attention kernels run").Advanced(),
    Of<&Engine::kernels, &EngineKernels::fp8_attention>("fp8_attention", "An fp8 cache makes attention of a prefill compute in fp8")
        .Advanced(),
    Of<&Engine::kernels, &EngineKernels::multi_query_from>("multi_query_from",
                                                           "Query heads a KV head from which one kernel serves them together")
        .Between(1, 1024)
        .Advanced(),
    Of<&Engine::kernels, &EngineKernels::expert_library>("expert_library", "Whose kernels run a layer of experts, timed alone").Advanced(),
    Of<&Engine::kernels, &EngineKernels::moe_layer_overhead>("experts", "Fixed cost of a layer of experts")
        .In(kUs)
        .Between(0, 1'000'000)
        .Advanced(),
    Of<&Engine::kernels, &EngineKernels::expert_gemm_efficiency>("expert_matrix", "Rate of the expert products over the best kernels'")
        .Above(0)
        .AtMost(1)
        .Advanced(),
    Of<&Engine::kernels, &EngineKernels::expert_bandwidth_efficiency>("expert_stream", "The same while their weights stream")
        .Above(0)
        .AtMost(1)
        .Advanced(),
    Of<&Engine::kernels, &EngineKernels::pads_heads>("pads_heads", "Heads are padded to a multiple of the tensor parallel ranks")
        .Advanced(),
    Of<&Engine::communication, &EngineCommunication::all_reduce>("all_reduce",
                                                                 "The engine's own all-reduce kernels, a row a family of devices")
        .Advanced(),
    Of<&Engine::communication, &EngineCommunication::rank_skew>("rank_skew", "That the engine's own all-reduce waits for the last rank")
        .In(kUs)
        .Between(0, 1'000'000)
        .Advanced(),
    Of<&Engine::communication, &EngineCommunication::nccl_launch>(
        "nccl_launch", "Host launch of NCCL without graphs, a doubling of the ranks, in a decode step")
        .In(kUs)
        .Between(0, 1'000'000)
        .Advanced(),
    Of<&Engine::communication, &EngineCommunication::expert_exchange>(
        "expert_exchange", "The engine's own dispatch and combine kernels; the first row that fits")
        .Advanced(),
    Of<&Engine::communication, &EngineCommunication::two_batch_overlap>(
        "two_batch_overlap", "One half of the batch computes while the other's tokens travel to their experts; used where it gains")
        .Advanced(),
    Of<&Engine::memory>("memory", "What the cache gets of the memory").Advanced(),
    Of<&Engine::compiled_graph>("whole_layer", "Constants of an engine whose layer is one operator").Advanced(),
    Of<&Engine::layer_pipeline>("layer_split", "Constants of an engine with one stream and layers split over the devices").Advanced(),
    Of<&Engine::on>("on", "What differs on one family of devices").Advanced()};
constinit const Fields Schema<Engine>::fields(kEngineFields);

}  // namespace slipstick
