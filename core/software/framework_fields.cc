#include "core/base/field_table.h"
#include "core/software/framework.h"

namespace slipstick {

constexpr FieldRow kTrainingAttentionFields[] = {
    Of<&TrainingAttention::architecture>("architecture", "Family of devices"),
    Of<&TrainingAttention::forward>("forward", "Forward pass, share of the dense peak").Above(0).AtMost(1),
    Of<&TrainingAttention::backward>("backward", "Backward pass, share of the dense peak").Above(0).AtMost(1),
    Of<&TrainingAttention::exponential>("exponential", "Share of the exponentials that the matrix work does not hide").Between(0, 1)};
constinit const Fields Schema<TrainingAttention>::fields(kTrainingAttentionFields);

constexpr FieldRow kQuantisePassesFields[] = {Of<&QuantisePasses::fp8>("fp8", "Bytes an element").Between(0, 64),
                                              Of<&QuantisePasses::mxfp8>("mxfp8", "Bytes an element").Between(0, 64),
                                              Of<&QuantisePasses::nvfp4>("nvfp4", "Bytes an element").Between(0, 64)};
constinit const Fields Schema<QuantisePasses>::fields(kQuantisePassesFields);

constexpr FieldRow kFrameworkComputeFields[] = {
    Of<&FrameworkCompute::element_wise>(
        "element_wise", "Share of the streaming rate of element-wise work, each operand counted once; above 1 fusion removes passes")
        .Above(0)
        .AtMost(4),
    Of<&FrameworkCompute::attention>("attention", "Flash attention kernels by family of devices; none: the device's own"),
    Of<&FrameworkCompute::skips_masked_tiles>("skips_masked_tiles", "Attention leaves out what the causal mask hides"),
    Of<&FrameworkCompute::balanced_context>("balanced_context", "Context parallel ranks get equal shares of the causal triangle"),
    Of<&FrameworkCompute::softmax_passes>("softmax_passes", "Unfused attention: passes over the scores, forward and backward together")
        .Between(0, 64),
    Of<&FrameworkCompute::fused_accumulation>("fused_accumulation", "Weight-gradient products add into the fp32 gradient"),
    Of<&FrameworkCompute::separate_accumulation>("separate_accumulation", "Gradients are added into the fp32 copy by a pass of its own"),
    Of<&FrameworkCompute::logit_traffic>("logit_traffic", "Softmax and loss: bytes moved a logit, forward and backward").Between(0, 256),
    Of<&FrameworkCompute::quantise>("quantise", "Passes that bring activations to a narrow format"),
    Of<&FrameworkCompute::selective_share>(
        "selective_share", "Selective recomputation repeats this share of a layer's forward pass; 0: the attention core only")
        .Between(0, 1),
    Of<&FrameworkCompute::layer_launch>("layer_launch", "Host time to launch a layer's kernels, forward and backward")
        .In(kMs)
        .Between(0, 10'000),
    Of<&FrameworkCompute::moe_layer_launch>("moe_layer_launch", "The same for a layer with experts").In(kMs).Between(0, 10'000)};
constinit const Fields Schema<FrameworkCompute>::fields(kFrameworkComputeFields);

constexpr FieldRow kFrameworkExpertsFields[] = {
    Of<&FrameworkExperts::grouped_efficiency>("grouped_efficiency", "Grouped products over plain ones, 16 bit").Above(0).AtMost(1),
    Of<&FrameworkExperts::grouped_efficiency_fp8>("grouped_efficiency_fp8", "Grouped products over plain ones, 8 and 4 bit")
        .Above(0)
        .AtMost(1),
    Of<&FrameworkExperts::imbalance>("imbalance", "Rows of the busiest device over the mean, where the model states none").Between(1, 64),
    Of<&FrameworkExperts::permute_traffic>("permute_traffic", "Bytes moved an element of a routed row, forward").Between(0, 256),
    Of<&FrameworkExperts::biased_inner_forward>(
        "biased_inner_forward", "Experts with biases, 16 bit: bytes moved besides an element between their two products, forward")
        .Between(0, 256),
    Of<&FrameworkExperts::biased_inner_backward>("biased_inner_backward", "The same, backward").Between(0, 256),
    Of<&FrameworkExperts::biased_output_forward>("biased_output_forward",
                                                 "Experts with biases, 16 bit: bytes moved besides an element of their outputs, forward")
        .Between(0, 256),
    Of<&FrameworkExperts::biased_output_backward>("biased_output_backward", "The same, backward").Between(0, 256),
    Of<&FrameworkExperts::exposed>("exposed", "Share of dispatch and combine that is not hidden").Between(0, 1),
    Of<&FrameworkExperts::exposed_overlapped>("exposed_overlapped", "Of that share, what stays where overlap.ep is on").Between(0, 1),
    Of<&FrameworkExperts::dispatch>("dispatch", "What carries tokens to their experts"),
    Of<&FrameworkExperts::dispatch_bytes>("dispatch_bytes", "Bytes an element travels in to the experts; 1.03 in fp8 with scales")
        .Between(0.5, 4),
    Of<&FrameworkExperts::dispatch_units>("dispatch_units", "Units (SMs) that dedicated kernels run on").Between(1, 1024),
    Of<&FrameworkExperts::expert_tp>(
        "expert_tp",
        "Expert tensor parallelism that the framework itself defaults to; a run here has 1 unless its mapping says otherwise")};
constinit const Fields Schema<FrameworkExperts>::fields(kFrameworkExpertsFields);

constexpr FieldRow kFrameworkExchangeFields[] = {
    Of<&FrameworkExchange::network_share>("network_share", "Share of the network between nodes that collectives of a step reach")
        .Above(0)
        .AtMost(1),
    Of<&FrameworkExchange::tensor_overlap>("tensor_overlap",
                                           "Tensor parallel exchange runs in chunks behind the products, with sequence parallelism"),
    Of<&FrameworkExchange::tensor_exposed>("tensor_exposed", "Share of it that still shows then").Between(0, 1),
    Of<&FrameworkExchange::pipeline_overlap>("pipeline_overlap", "Sends between interleaved stages run behind compute"),
    Of<&FrameworkExchange::pipeline_exposed>("pipeline_exposed", "Share of them that still shows then").Between(0, 1),
    Of<&FrameworkExchange::pipeline_scale>("pipeline_scale", "Sends over a plain send and receive").Between(1, 16),
    Of<&FrameworkExchange::scatters_sends>("scatters_sends", "Tensor parallel ranks each send their share of a stage's output"),
    Of<&FrameworkExchange::gradient_overlap>("gradient_overlap", "When gradients are reduced behind the backward pass"),
    Of<&FrameworkExchange::gradient_bytes>("gradient_bytes", "Bytes a gradient travels in").Between(0.5, 8),
    Of<&FrameworkExchange::reduces_whole_gradients>("reduces_whole_gradients", "All-reduce even where the optimizer is sharded"),
    Of<&FrameworkExchange::shard_broadcast>(
        "shard_broadcast", "Updated weights: each rank's share is broadcast in turn, over more than eight ranks; cost of one")
        .In(kMs)
        .Between(0, 10'000),
    Of<&FrameworkExchange::contention>("contention", "Compute lost while communication runs beside it, over the communication's time")
        .Between(0, 1)};
constinit const Fields Schema<FrameworkExchange>::fields(kFrameworkExchangeFields);

constexpr FieldRow kFrameworkMemoryFields[] = {
    Of<&FrameworkMemory::weights>("weights", "Bytes a parameter of the weights").Between(0, 16),
    Of<&FrameworkMemory::weights_fp8>("weights_fp8", "The same in an 8- or 4-bit recipe").Between(0, 16),
    Of<&FrameworkMemory::frozen_weights_fp8>("frozen_weights_fp8", "The same of frozen weights (LoRA); in 16 bit they take 2")
        .Between(0, 16),
    Of<&FrameworkMemory::weights_are_master>("weights_are_master", "The optimizer updates the weights themselves: no copy of its own"),
    Of<&FrameworkMemory::gradients>("gradients", "Bytes a parameter of the gradients").Between(0, 16),
    Of<&FrameworkMemory::gradients_fp8>("gradients_fp8", "The same in an 8- or 4-bit recipe").Between(0, 16),
    Of<&FrameworkMemory::data_parallel_gradients>("data_parallel_gradients", "More of them where there is data parallelism").Between(0, 16),
    Of<&FrameworkMemory::sharded_gradients>("sharded_gradients", "More of them where the optimizer is sharded").Between(0, 16),
    Of<&FrameworkMemory::sharded_optimizer>("sharded_optimizer", "More optimizer bytes a parameter of the shard").Between(0, 16),
    Of<&FrameworkMemory::fixed_static>("fixed_static", "Library workspaces that stay between steps").In(kGiB).AtLeast(0),
    Of<&FrameworkMemory::kept_hidden>("kept_hidden", "Bytes a token and hidden unit kept between steps").Between(0, 64),
    Of<&FrameworkMemory::splits_residual>(
        "splits_residual", "Tensor parallel ranks hold a share of the residual stream, with or without sequence parallelism"),
    Of<&FrameworkMemory::hidden>("hidden", "Activations of a layer: bytes a token and hidden unit").Between(0, 64),
    Of<&FrameworkMemory::gated>("gated", "Bytes a token and unit of a gated MLP").Between(0, 64),
    Of<&FrameworkMemory::plain>("plain", "Bytes a token and unit of a plain MLP").Between(0, 64),
    Of<&FrameworkMemory::hidden_saved_fp8>("hidden_saved_fp8", "Of the hidden bytes, saved where inputs are kept in 8 bit").Between(0, 64),
    Of<&FrameworkMemory::gated_saved_fp8>("gated_saved_fp8", "Of the MLP's bytes, saved where inputs are kept in 8 bit").Between(0, 64),
    Of<&FrameworkMemory::working_hidden>("working_hidden", "Working buffers of one layer: bytes a token and hidden unit").Between(0, 256),
    Of<&FrameworkMemory::working_hidden_tensor>("working_hidden_tensor", "The same with tensor parallelism (gathered inputs)")
        .Between(0, 256),
    Of<&FrameworkMemory::selective_kept>("selective_kept",
                                         "Share of the activations that stays under selective recomputation; 1: all but the attention core")
        .Between(0, 1),
    Of<&FrameworkMemory::head_gathered>("head_gathered",
                                        "Unsplit buffers of the output head with tensor parallelism: bytes a token and hidden unit")
        .Between(0, 256),
    Of<&FrameworkMemory::logits>("logits", "Bytes a logit at the peak").Between(0, 64),
    Of<&FrameworkMemory::constant>("constant", "Library buffers and what the allocator holds beyond").In(kGiB).AtLeast(0),
    Of<&FrameworkMemory::gathered_layers>("gathered_layers", "Layers whose sharded weights are gathered at once").Between(0, 64)};
constinit const Fields Schema<FrameworkMemory>::fields(kFrameworkMemoryFields);

constexpr FieldRow kFrameworkFields[] = {
    Of<&Framework::preset>("preset", "Catalogue entry that the other members override"),
    Of<&Framework::name>("name", "What to call it"),
    Of<&Framework::compute>("compute", "Kernels, fusion and launches").Advanced(),
    Of<&Framework::experts>("experts", "Mixture-of-experts layers").Advanced(),
    Of<&Framework::exchange>("exchange", "Communication and what hides it").Advanced(),
    Of<&Framework::memory>("memory", "What it keeps in memory").Advanced(),
    Of<&Framework::places_by_cost>("places_by_cost", "Uneven stages: layers in order until each stage has its share of the cost")
        .Advanced(),
    Of<&Framework::jitter>("jitter", "Slow-down of a step each time the devices double beyond eight").Between(0, 1).Advanced(),
    Of<&Framework::step_overhead>("step_overhead", "Host work between steps").In(kMs).Between(0, 100'000).Advanced(),
    Of<&Framework::lora_rank>("lora_rank", "Rank of low-rank adapters").Between(1, 1024).Advanced()};
constinit const Fields Schema<Framework>::fields(kFrameworkFields);

}  // namespace slipstick
