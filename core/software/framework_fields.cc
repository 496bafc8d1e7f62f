#include "core/base/field_table.h"
#include "core/software/framework.h"

namespace slipstick {

constexpr FieldRow kTrainingAttentionFields[] = {
    Of<&TrainingAttention::architecture>("architecture", "Device architecture"),
    Of<&TrainingAttention::forward>("forward", "Forward pass: share of the dense peak").Share(),
    Of<&TrainingAttention::backward>("backward", "Backward pass: share of the dense peak").Share(),
    Of<&TrainingAttention::exponential>("exponential", "Share of the exponentials that the tensor cores do not hide")
        .Between(0, 1)};
constinit const Fields Schema<TrainingAttention>::fields(kTrainingAttentionFields);

constexpr FieldRow kQuantizePassesFields[] = {
    Of<&QuantizePasses::fp8>("fp8", "Bytes per element").Label("Bytes per element, fp8").Between(0, 64),
    Of<&QuantizePasses::mxfp8>("mxfp8", "Bytes per element").Label("Bytes per element, mxfp8").Between(0, 64),
    Of<&QuantizePasses::nvfp4>("nvfp4", "Bytes per element").Label("Bytes per element, nvfp4").Between(0, 64)};
constinit const Fields Schema<QuantizePasses>::fields(kQuantizePassesFields);

constexpr FieldRow kFrameworkComputeFields[] = {
    Of<&FrameworkCompute::element_wise>("element_wise",
                                        "Rate of elementwise passes over achievable memory bandwidth, each operand "
                                        "counted once; above 1 where fusion removes passes")
        .Above(0)
        .AtMost(4),
    Of<&FrameworkCompute::attention>(
        "attention", "Flash-attention kernels per device architecture; none: the device's own efficiency"),
    Of<&FrameworkCompute::flash_version>(
        "flash_version",
        "Version of FlashAttention: attention is as much slower as its kernels are than the fastest; empty: the "
        "fastest. If the GPU family has no such kernel, the nearest version counts")
        .Label("FlashAttention version"),
    Of<&FrameworkCompute::skips_masked_tiles>("skips_masked_tiles", "Attention skips tiles that the causal mask hides"),
    Of<&FrameworkCompute::balanced_context>("balanced_context",
                                            "Context-parallel ranks get equal shares of the causal triangle"),
    Of<&FrameworkCompute::softmax_passes>("softmax_passes",
                                          "Unfused attention: passes over the scores, forward and backward together")
        .Between(0, 64),
    Of<&FrameworkCompute::fused_accumulation>("fused_accumulation", "Weight-gradient GEMMs add into the fp32 gradient"),
    Of<&FrameworkCompute::separate_accumulation>("separate_accumulation",
                                                 "A separate pass adds gradients into the fp32 copy"),
    Of<&FrameworkCompute::logit_traffic>("logit_traffic",
                                         "Softmax and loss: bytes moved per logit, forward and backward")
        .Between(0, 256),
    Of<&FrameworkCompute::quantize>("quantise", "Passes that quantize activations"),
    Of<&FrameworkCompute::selective_share>(
        "selective_share", "Share of the forward pass that selective recomputation repeats; 0: only the attention core")
        .Between(0, 1),
    Of<&FrameworkCompute::stops_recomputing>("stops_recomputing",
                                             "Full recomputation of a layer stops once its backward pass has all it "
                                             "needs, before the last GEMM of a dense MLP")
        .Label("Full recomputation stops early"),
    Of<&FrameworkCompute::layer_launch>("layer_launch", "Host time to launch a layer's kernels, forward and backward")
        .In(kMs)
        .Between(0, 10'000),
    Of<&FrameworkCompute::moe_layer_launch>("moe_layer_launch",
                                            "Host time to launch an MoE layer's kernels, forward and backward")
        .In(kMs)
        .Between(0, 10'000),
    Of<&FrameworkCompute::pipelined_launch>(
        "pipelined_launch", "Added to a layer's launches per TP rank, where tensor and pipeline parallelism meet")
        .In(kMs)
        .Between(0, 10'000),
    Of<&FrameworkCompute::adapter_launch>("adapter_launch",
                                          "Added to a layer's launches where it has low-rank adapters")
        .In(kMs)
        .Between(0, 10'000),
    Of<&FrameworkCompute::unpack_operations>(
        "unpack_operations",
        "Operations to unpack a quantized weight, at the fp32 peak; 0: as fast as the memory reads and writes it")
        .Between(0, 4096),
    Of<&FrameworkCompute::backward_launches>(
        "backward_launches", "Launches of a backward pass with recomputation, relative to one without it")
        .Label("Launches of a repeating backward pass")
        .Between(1, 10),
    Of<&FrameworkCompute::loss_forward>("loss_forward", "Share of softmax and loss in the forward pass").Between(0, 1),
    Of<&FrameworkCompute::adapter_traffic>(
        "adapter_traffic", "Thin GEMMs of low-rank adapters: share of their operands that passes the memory")
        .Label("Memory traffic of low-rank adapters")
        .Between(0, 4)};
constinit const Fields Schema<FrameworkCompute>::fields(kFrameworkComputeFields);

constexpr FieldRow kFrameworkExpertsFields[] = {
    Of<&FrameworkExperts::grouped_efficiency>("grouped_efficiency",
                                              "Efficiency of grouped GEMMs over plain ones, 16-bit")
        .Label("Grouped-GEMM efficiency, 16-bit")
        .Share(),
    Of<&FrameworkExperts::grouped_efficiency_fp8>("grouped_efficiency_fp8",
                                                  "Efficiency of grouped GEMMs over plain ones, 8- and 4-bit")
        .Label("Grouped-GEMM efficiency, 8- and 4-bit")
        .Share(),
    Of<&FrameworkExperts::imbalance>("imbalance",
                                     "Rows of the busiest device over the mean, where the model sets no imbalance")
        .Between(1, 64),
    Of<&FrameworkExperts::permute_traffic>("permute_traffic", "Bytes moved per element of a routed row, forward")
        .Between(0, 256),
    Of<&FrameworkExperts::unfused_biases>("unfused_biases",
                                          "16-bit experts with biases: separate kernels add and clamp")
        .Label("Unfused expert biases"),
    Of<&FrameworkExperts::exposed>("exposed", "Exposed share of dispatch and combine").Between(0, 1),
    Of<&FrameworkExperts::exposed_overlapped>("exposed_overlapped",
                                              "Factor on the exposed share where overlap.ep is on")
        .Between(0, 1),
    Of<&FrameworkExperts::dispatch>("dispatch", "Dispatch and combine kernels"),
    Of<&FrameworkExperts::dispatch_bytes>("dispatch_bytes", "Bytes per dispatched element; 1.03 in fp8 with scales")
        .Between(0.5, 4),
    Of<&FrameworkExperts::dispatch_units>("dispatch_units", "SMs that dedicated kernels occupy").Between(1, 1024),
    Of<&FrameworkExperts::expert_tp>(
        "expert_tp",
        "Default expert tensor parallelism of the framework; a run here has 1 unless its mapping sets it")};
constinit const Fields Schema<FrameworkExperts>::fields(kFrameworkExpertsFields);

constexpr FieldRow kFrameworkExchangeFields[] = {
    Of<&FrameworkExchange::network_share>("network_share",
                                          "Share of the bandwidth between nodes that collectives of a step reach")
        .Label("Share of the bandwidth between nodes")
        .Share(),
    Of<&FrameworkExchange::tensor_overlap>(
        "tensor_overlap", "TP communication overlaps with GEMMs in chunks, under sequence parallelism"),
    Of<&FrameworkExchange::tensor_exposed>("tensor_exposed", "Exposed share of overlapped TP communication")
        .Between(0, 1),
    Of<&FrameworkExchange::repeats_gathers>("repeats_gathers",
                                            "Selective recomputation repeats the all-gathers of sequence parallelism"),
    Of<&FrameworkExchange::pipeline_overlap>("pipeline_overlap",
                                             "Sends between interleaved stages overlap with compute"),
    Of<&FrameworkExchange::pipeline_exposed>("pipeline_exposed", "Exposed share of overlapped sends").Between(0, 1),
    Of<&FrameworkExchange::scatters_sends>("scatters_sends", "Each TP rank sends its share of a stage's output"),
    Of<&FrameworkExchange::gradient_overlap>("gradient_overlap",
                                             "When the gradient reduction overlaps with the backward pass"),
    Of<&FrameworkExchange::gradient_bytes>("gradient_bytes", "Bytes per gradient in the reduction").Between(0.5, 8),
    Of<&FrameworkExchange::reduces_whole_gradients>("reduces_whole_gradients",
                                                    "All-reduce even where the optimizer is sharded"),
    Of<&FrameworkExchange::reduces_once>("reduces_once",
                                         "ZeRO 2 and 3 reduce gradients in the last micro-batch of a step only "
                                         "(no_sync of PyTorch and Accelerate); until "
                                         "then a rank holds them whole, in their format under training.state"),
    Of<&FrameworkExchange::reduces_at_end>(
        "reduces_at_end",
        "ZeRO 3 within a group of ranks: gradients are reduced between the groups once per step, after "
        "the last layer, where nothing hides it"),
    Of<&FrameworkExchange::shard_broadcast>(
        "shard_broadcast", "Updated weights are broadcast rank by rank, above eight ranks; time per broadcast")
        .In(kMs)
        .Between(0, 10'000),
    Of<&FrameworkExchange::contention>("contention",
                                       "Compute time lost to concurrent communication, over the communication time")
        .Between(0, 1),
    Of<&FrameworkExchange::contention_share>("contention_share",
                                             "Share of the innermost network's bandwidth from which contention is full")
        .Label("Bandwidth of full contention")
        .Share(),
    Of<&FrameworkExchange::hiding_share>(
        "hiding_share", "Share of the last backward and first forward passes that hides the gradients' exchange")
        .Label("Share of a pass that hides gradients")
        .Between(0, 1),
    Of<&FrameworkExchange::last_bucket>("last_bucket", "Share of the gradients' exchange that nothing hides")
        .Between(0, 1)};
constinit const Fields Schema<FrameworkExchange>::fields(kFrameworkExchangeFields);

constexpr FieldRow kFrameworkMemoryFields[] = {
    Of<&FrameworkMemory::weights>("weights", "Weights: bytes per parameter").Between(0, 16),
    Of<&FrameworkMemory::weights_fp8>("weights_fp8", "Weights in an 8- or 4-bit recipe: bytes per parameter")
        .Between(0, 16),
    Of<&FrameworkMemory::frozen_weights_fp8>(
        "frozen_weights_fp8", "Frozen weights (LoRA) in an 8- or 4-bit recipe: bytes per parameter; 2 in 16-bit")
        .Between(0, 16),
    Of<&FrameworkMemory::weights_are_master>("weights_are_master",
                                             "The optimizer updates the weights themselves, without master weights"),
    Of<&FrameworkMemory::gradients>("gradients", "Gradients: bytes per parameter").Between(0, 16),
    Of<&FrameworkMemory::gradients_fp8>("gradients_fp8", "Gradients in an 8- or 4-bit recipe: bytes per parameter")
        .Between(0, 16),
    Of<&FrameworkMemory::frees_gradients>(
        "frees_gradients",
        "Gradients are freed after the update and made anew by the backward pass: on one data-parallel rank with one "
        "micro-batch per step none lie beside the logits"),
    Of<&FrameworkMemory::data_parallel_gradients>("data_parallel_gradients",
                                                  "Added gradient bytes per parameter under data parallelism")
        .Between(0, 16),
    Of<&FrameworkMemory::sharded_gradients>("sharded_gradients",
                                            "Added gradient bytes per parameter where the optimizer is sharded; only "
                                            "between steps: activations reuse the space")
        .Between(0, 16),
    Of<&FrameworkMemory::sharded_optimizer>("sharded_optimizer", "Added optimizer bytes per parameter of the shard")
        .Between(0, 16),
    Of<&FrameworkMemory::update>(
        "update", "Copies that the update makes: bytes per updated parameter; sharded_optimizer is a part of them")
        .Between(0, 32),
    Of<&FrameworkMemory::fixed_static>("fixed_static", "Library workspaces that persist between steps")
        .In(kGiB)
        .AtLeast(0),
    Of<&FrameworkMemory::kept_hidden>("kept_hidden", "Bytes per token and hidden unit that persist between steps")
        .Between(0, 64),
    Of<&FrameworkMemory::splits_residual>(
        "splits_residual", "TP ranks keep a share of the residual stream, even without sequence parallelism"),
    Of<&FrameworkMemory::hidden>("hidden", "Activations of a layer: bytes per token and hidden unit").Between(0, 64),
    Of<&FrameworkMemory::gated>("gated", "Activations of a gated MLP: bytes per token and inner unit").Between(0, 64),
    Of<&FrameworkMemory::plain>("plain", "Activations of a plain MLP: bytes per token and inner unit").Between(0, 64),
    Of<&FrameworkMemory::gathered>(
        "gathered",
        "Gathered inputs of a layer that sequence parallelism keeps: bytes per token and hidden unit; 4: both in "
        "16 bits (nanotron without tp_recompute_allgather); 0: gathered again")
        .Label("Gathered inputs kept")
        .Between(0, 64),
    Of<&FrameworkMemory::hidden_saved_fp8>("hidden_saved_fp8", "Hidden bytes saved where inputs are kept in 8-bit")
        .Between(0, 64),
    Of<&FrameworkMemory::gated_saved_fp8>("gated_saved_fp8", "MLP bytes saved where inputs are kept in 8-bit")
        .Between(0, 64),
    Of<&FrameworkMemory::working_hidden>("working_hidden",
                                         "Working buffers of one layer: bytes per token and hidden unit")
        .Between(0, 256),
    Of<&FrameworkMemory::working_hidden_tensor>(
        "working_hidden_tensor",
        "Working buffers of one layer with tensor parallelism (gathered inputs): bytes per token and hidden unit")
        .Between(0, 256),
    Of<&FrameworkMemory::selective_kept>(
        "selective_kept", "Share of the activations kept under selective recomputation; 1: all but the attention core")
        .Between(0, 1),
    Of<&FrameworkMemory::head_gathered>(
        "head_gathered", "Unsplit buffers of the LM head with tensor parallelism: bytes per token and hidden unit")
        .Between(0, 256),
    Of<&FrameworkMemory::fp32_logits>("fp32_logits",
                                      "The loss gets an fp32 copy of the logits: where it works in place, 8 bytes per "
                                      "logit (16 bits, the copy, the gradient in 16 bits) in place of 2"),
    Of<&FrameworkMemory::logits>("logits", "Bytes per logit at the peak").Between(0, 64),
    Of<&FrameworkMemory::constant>("constant", "Library buffers and allocator overhead").In(kGiB).AtLeast(0),
    Of<&FrameworkMemory::communication>("communication", "Communication buffers and buckets, with more than one device")
        .In(kGiB)
        .AtLeast(0),
    Of<&FrameworkMemory::outside>("outside",
                                  "Memory that the framework's allocator cannot reserve (driver, collectives), "
                                  "where the other constants do not count it")
        .In(kGiB)
        .AtLeast(0),
    Of<&FrameworkMemory::gathered_layers>("gathered_layers", "Layers whose sharded weights are gathered at once")
        .Between(0, 64)};
constinit const Fields Schema<FrameworkMemory>::fields(kFrameworkMemoryFields);

constexpr FieldRow kFrameworkOptimizerFields[] = {
    Of<&FrameworkOptimizer::master_weights_fp8>(
        "master_weights_fp8",
        "Master weights in an 8- or 4-bit recipe: bytes per parameter; 2: only the bits that "
        "16-bit weights lack")
        .Label("Master weights in 8-bit recipes")
        .Between(0, 16)};
constinit const Fields Schema<FrameworkOptimizer>::fields(kFrameworkOptimizerFields);

constexpr FieldRow kFrameworkOffloadFields[] = {
    Of<&FrameworkOffload::gradients>(
        "gradients", "Gradients go to the host with the optimizer state, unless the run states their share"),
    Of<&FrameworkOffload::keeps_master_weights>("keeps_master_weights",
                                                "Master weights stay on the device beside their copies in host memory")
        .Label("Master weights stay on the device"),
    Of<&FrameworkOffload::host_update>(
        "host_update",
        "The host updates offloaded state, at this host-memory bandwidth per device; null: the device does")
        .In(kGBps)
        .Above(0)
        .AtMost(1'000'000)};
constinit const Fields Schema<FrameworkOffload>::fields(kFrameworkOffloadFields);

constexpr FieldRow kFrameworkCapabilitiesFields[] = {
    Of<&FrameworkCapabilities::devices>("devices", "Families of devices that the framework runs on; none: any")
        .OutsideReports(),
    Of<&FrameworkCapabilities::parallelism>("parallelism",
                                            "Ways of splitting besides data parallelism (tp, cp, pp, ep); none: all")
        .OutsideReports(),
    Of<&FrameworkCapabilities::schedules>("schedules", "Pipeline schedules; none: all").OutsideReports(),
    Of<&FrameworkCapabilities::interleaves>("interleaves", "Virtual pipeline stages").OutsideReports(),
    Of<&FrameworkCapabilities::interleaved_batches>("interleaved_batches",
                                                    "Micro-batches allowed with virtual stages: any, multiples of the "
                                                    "stages, or equal rounds, each of at least as many as stages")
        .Label("Micro-batches under interleaving")
        .OutsideReports(),
    Of<&FrameworkCapabilities::zero>("zero", "ZeRO stages; none: all").OutsideReports(),
    Of<&FrameworkCapabilities::dispatchers>("dispatchers", "Dispatch and combine kernels; none: the framework's own")
        .OutsideReports(),
    Of<&FrameworkCapabilities::dedicated_ranks>("dedicated_ranks",
                                                "Ranks of an expert group that dedicated kernels serve, at most")
        .Between(1, 1 << 20)
        .OutsideReports(),
    Of<&FrameworkCapabilities::overlaps_experts>("overlaps_experts",
                                                 "Expert exchange behind the passes of another micro-batch")
        .OutsideReports(),
    Of<&FrameworkCapabilities::mtp>("mtp", "Training of multi-token-prediction (MTP) modules").OutsideReports()};
constinit const Fields Schema<FrameworkCapabilities>::fields(kFrameworkCapabilitiesFields);

constexpr auto kFrameworkFields = Advanced(
    {Of<&Framework::preset>("preset", "Preset; fields below override it").Basic(),
     Of<&Framework::name>("name", "Name").Basic(), Of<&Framework::compute>("compute", "Kernels, fusion and launches"),
     Of<&Framework::experts>("experts", "MoE layers"),
     Of<&Framework::exchange>("exchange", "Communication and overlap"), Of<&Framework::memory>("memory", "Memory use"),
     Of<&Framework::optimizer>("optimizer", "Optimizer state"),
     Of<&Framework::offload>("offload", "Offload of the optimizer"),
     Of<&Framework::capabilities>("capabilities", "What the framework's code runs"),
     Of<&Framework::places_by_cost>("places_by_cost",
                                    "Uneven stages: each takes layers until it has its share of the cost"),
     Of<&Framework::ends_as_layers>(
         "ends_as_layers",
         "Embedding and LM head each take the place of a layer where that makes the virtual stages equal "
         "(Megatron: --account-for-embedding-in-pipeline-split)")
         .Label("Embedding and LM head count as layers"),
     Of<&Framework::jitter>("jitter", "Relative slow-down of a step per doubling of the devices beyond eight")
         .Label("Slow-down per doubling of devices")
         .Between(0, 1),
     Of<&Framework::step_overhead>("step_overhead",
                                   "Wait of several devices for each other and their hosts at the end of a step")
         .In(kMs)
         .Between(0, 100'000),
     Of<&Framework::lora_rank>("lora_rank", "Rank of low-rank adapters").Between(1, 1024),
     Of<&Framework::lora_targets>(
         "lora_targets",
         "Projections that get low-rank adapters: of attention, or of dense MLPs and shared experts too (all); routed "
         "experts get none")
         .Label("LoRA targets"),
     Of<&Framework::utilization>(
         "utilization",
         "Roofline: every operator reaches these fractions of the data sheet; absent: kernels as measured")});
constinit const Fields Schema<Framework>::fields(kFrameworkFields);

}  // namespace slipstick
