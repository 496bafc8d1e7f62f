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

constexpr FieldRow kWholeLayerFields[] = {
    Of<&WholeLayer::matrix>("matrix", "Share of the dense peak").Above(0).AtMost(1),
    Of<&WholeLayer::stream>("stream", "Share of the memory bandwidth that weights stream at").Above(0).AtMost(1),
    Of<&WholeLayer::cache_stream>("cache_stream", "Share of the memory bandwidth that the cache streams at").Above(0).AtMost(1),
    Of<&WholeLayer::element_stream>("element_stream", "Share of the memory bandwidth for activations").Above(0).AtMost(1),
    Of<&WholeLayer::layer>("layer", "Fixed cost of a layer").In(kUs).Between(0, 1'000'000),
    Of<&WholeLayer::reduce>("reduce", "Fixed cost of an all-reduce").In(kUs).Between(0, 1'000'000),
    Of<&WholeLayer::reduce_stream>("reduce_stream", "Share of the link's bandwidth in an all-reduce").Above(0).AtMost(1),
    Of<&WholeLayer::causal>("causal", "Attention skips what the mask hides"),
    Of<&WholeLayer::fixed_shapes>("fixed_shapes", "Compiled for one length of the cache, which every step reads whole"),
    Of<&WholeLayer::score_passes>("score_passes", "Times a score goes to memory and back").Between(0, 16),
    Of<&WholeLayer::cores>("cores", "Tensor parallel ranks a device").Between(1, 64),
    Of<&WholeLayer::on_chip>("on_chip", "Activations beyond this spill; 0: no such limit").In(kMB).AtLeast(0),
    Of<&WholeLayer::spill>("spill", "Power of activations over the limit with which a prefill then grows").Between(0, 1)};
constinit const Fields Schema<WholeLayer>::fields(kWholeLayerFields);

constexpr FieldRow kLayerSplitFields[] = {
    Of<&LayerSplit::stream>("stream", "Share of the memory bandwidth of a matrix-vector product").Above(0).AtMost(1),
    Of<&LayerSplit::bytes_per_clock>("bytes_per_clock", "Bytes a unit takes in a clock, at most").Above(0).AtMost(1024),
    Of<&LayerSplit::clocks_per_layer>("clocks_per_layer", "Clocks of dependent small kernels in a layer").Between(0, 1'000'000'000),
    Of<&LayerSplit::cache_stream>("cache_stream", "Rate of the KV cache over the memory bandwidth").Above(0).AtMost(16),
    Of<&LayerSplit::cache_stream_large>("cache_stream_large", "The same where the last cache is large").Above(0).AtMost(16),
    Of<&LayerSplit::matrix>("matrix", "Share of the dense peak in prefill").Above(0).AtMost(1),
    Of<&LayerSplit::fp16_accumulate>("fp16_accumulate", "Products keep their sums in fp16, at that rate where a device has one"),
    Of<&LayerSplit::attention>("attention", "Share of the dense peak in prefill attention").Above(0).AtMost(1),
    Of<&LayerSplit::activation_passes>("activation_passes", "Passes over activations in a layer of prefill").Between(0, 1000),
    Of<&LayerSplit::dequantised_bytes>("dequantised_bytes", "Memory traffic of a quantised weight a micro-batch").Between(0, 64),
    Of<&LayerSplit::score_bytes>("score_bytes", "Memory traffic of a score").Between(0, 1000),
    Of<&LayerSplit::score_bytes_large>("score_bytes_large", "The same where the last cache is large").Between(0, 1000),
    Of<&LayerSplit::large_cache>("large_cache", "From this size the last cache is large").In(kMB).AtLeast(0),
    Of<&LayerSplit::micro_batch>("micro_batch", "Tokens of prefill at once").Between(1, 1 << 20),
    Of<&LayerSplit::hop>("hop", "To the next device, in decode").In(kUs).Between(0, 1'000'000),
    Of<&LayerSplit::prefill_hop>("prefill_hop", "To the next device, in prefill").In(kUs).Between(0, 1'000'000),
    Of<&LayerSplit::pipeline>("pipeline", "Share of the ideal gain of micro-batches in flight").Above(0).AtMost(1),
    Of<&LayerSplit::kernels_per_layer>("kernels_per_layer", "Launches in a layer of prefill").Between(0, 1'000'000),
    Of<&LayerSplit::kernels_per_quantised_layer>("kernels_per_quantised_layer", "The same where weights are quantised")
        .Between(0, 1'000'000),
    Of<&LayerSplit::launch_queue>("launch_queue", "Kernels that may wait on a device before the host must wait")
        .Above(0)
        .AtMost(1'000'000'000),
    Of<&LayerSplit::in_flight>("in_flight", "Micro-batches in flight at most").Between(1, 64)};
constinit const Fields Schema<LayerSplit>::fields(kLayerSplitFields);

constexpr FieldRow kEngineOnFields[] = {Of<&EngineOn::architecture>("architecture", "Family of devices"),
                                        Of<&EngineOn::graphs>("graphs", "As in the engine"),
                                        Of<&EngineOn::expert_matrix>("expert_matrix", "As in the engine").Above(0).AtMost(1),
                                        Of<&EngineOn::expert_stream>("expert_stream", "As in the engine").Above(0).AtMost(1)};
constinit const Fields Schema<EngineOn>::fields(kEngineOnFields);

constexpr FieldRow kEngineFields[] = {
    Of<&Engine::preset>("preset", "Catalogue entry that the other members override"),
    Of<&Engine::name>("name", "What to call it"),
    Of<&Engine::composition>("composition", "How a step is put together").Advanced(),
    Of<&Engine::graphs>("graphs", "Decode steps are launched as one graph").Advanced(),
    Of<&Engine::launch_gap>("launch_gap", "Between dependent kernels that are launched one by one")
        .In(kUs)
        .Between(0, 1'000'000)
        .Advanced(),
    Of<&Engine::prefill_gap>("prefill_gap", "The same in a prefill").In(kUs).Between(0, 1'000'000).Advanced(),
    Of<&Engine::element_kernels>("element_kernels", "Norms, activation and residual kernels of a layer").Between(0, 100).Advanced(),
    Of<&Engine::element_stream>("element_stream", "Share of the memory bandwidth of those kernels").Above(0).AtMost(1).Advanced(),
    Of<&Engine::element_bytes>("element_bytes", "Further bytes a row and hidden element (bias and transpose passes)")
        .Between(0, 1000)
        .Advanced(),
    Of<&Engine::step>("step", "Scheduler, sampling and token copy of a step").In(kUs).Between(0, 10'000'000).Advanced(),
    Of<&Engine::sequence>("sequence", "The same a sequence").In(kUs).Between(0, 1'000'000).Advanced(),
    Of<&Engine::prefill_step>("prefill_step", "Of a step that holds prefill").In(kUs).Between(0, 10'000'000).Advanced(),
    Of<&Engine::prefill_host>("prefill_host", "Of the host, a step that holds prefill, beside the devices")
        .In(kUs)
        .Between(0, 10'000'000)
        .Advanced(),
    Of<&Engine::prefill_launch>("prefill_launch", "Of the host, an operation of a prefill").In(kUs).Between(0, 1'000'000).Advanced(),
    Of<&Engine::host_sequence>("host_sequence", "Of the host, a sequence and step, beside the devices")
        .In(kUs)
        .Between(0, 1'000'000)
        .Advanced(),
    Of<&Engine::request>("request", "Handling of a request before its first token").In(kMs).Between(0, 100'000).Advanced(),
    Of<&Engine::steps_ahead>("steps_ahead", "Steps launched before their predecessor has ended").Between(0, 16).Advanced(),
    Of<&Engine::prefill_tokens>("prefill_tokens", "Tokens of prefill in a step, at most").Length().Between(1, 1 << 28).Advanced(),
    Of<&Engine::groups_prefills>("groups_prefills", "Requests admitted together share a prefill and wait for each other").Advanced(),
    Of<&Engine::queues_static_batch>("queues_static_batch", "Of a static batch only as many run as fit").Advanced(),
    Of<&Engine::max_sequences>("max_sequences", "Sequences at once, at most").Between(1, 1 << 24).Advanced(),
    Of<&Engine::attention>("attention", "Whose attention kernels run").Advanced(),
    Of<&Engine::fp8_attention>("fp8_attention", "An fp8 cache makes attention of a prefill compute in fp8").Advanced(),
    Of<&Engine::multi_query_from>("multi_query_from", "Query heads a KV head from which one kernel serves them together")
        .Between(1, 1024)
        .Advanced(),
    Of<&Engine::expert_library>("expert_library", "Whose kernels run a layer of experts, timed alone").Advanced(),
    Of<&Engine::experts>("experts", "Fixed cost of a layer of experts").In(kUs).Between(0, 1'000'000).Advanced(),
    Of<&Engine::expert_matrix>("expert_matrix", "Rate of the expert products over the best kernels'").Above(0).AtMost(1).Advanced(),
    Of<&Engine::expert_stream>("expert_stream", "The same while their weights stream").Above(0).AtMost(1).Advanced(),
    Of<&Engine::pads_heads>("pads_heads", "Heads are padded to a multiple of the tensor parallel ranks").Advanced(),
    Of<&Engine::all_reduce>("all_reduce", "The engine's own all-reduce kernels, a row a family of devices").Advanced(),
    Of<&Engine::rank_skew>("rank_skew", "That the engine's own all-reduce waits for the last rank")
        .In(kUs)
        .Between(0, 1'000'000)
        .Advanced(),
    Of<&Engine::nccl_launch>("nccl_launch", "Host launch of NCCL without graphs, a doubling of the ranks, in a decode step")
        .In(kUs)
        .Between(0, 1'000'000)
        .Advanced(),
    Of<&Engine::expert_exchange>("expert_exchange", "The engine's own dispatch and combine kernels; the first row that fits").Advanced(),
    Of<&Engine::two_batch_overlap>("two_batch_overlap",
                                   "One half of the batch computes while the other's tokens travel to their experts; used where it gains")
        .Advanced(),
    Of<&Engine::memory>("memory", "What the cache gets of the memory").Advanced(),
    Of<&Engine::whole_layer>("whole_layer", "Constants of an engine whose layer is one operator").Advanced(),
    Of<&Engine::layer_split>("layer_split", "Constants of an engine with one stream and layers split over the devices").Advanced(),
    Of<&Engine::on>("on", "What differs on one family of devices").Advanced()};
constinit const Fields Schema<Engine>::fields(kEngineFields);

}  // namespace slipstick
