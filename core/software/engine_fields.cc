#include "core/base/field_table.h"
#include "core/software/engine.h"

namespace slipstick {

constexpr auto kEngineFields = Advanced(
    {Of<&Engine::preset>("preset", "Preset; fields below override it").Basic(),
     Of<&Engine::name>("name", "Name").Basic(),
     Of<&Engine::composition>("composition", "How the time of a step is composed"),
     Of<&Engine::kernels, &EngineKernels::graphs>("graphs", "Decode steps are launched as one CUDA graph"),
     Of<&Engine::kernels, &EngineKernels::prefill_graph_tokens>(
         "prefill_graphs",
         "Largest prefill step with piecewise CUDA graphs, in tokens: all between two layers' attention is one graph; "
         "0: off")
         .Length()
         .Between(0, 1 << 20),
     Of<&Engine::kernels, &EngineKernels::decode_graph_sequences>(
         "decode_graphs", "Most sequences of a decode step that is a CUDA graph; absent: any number")
         .Label("Largest decode step as a CUDA graph")
         .Between(0, 1 << 20),
     Of<&Engine::kernels, &EngineKernels::graph_sizes>("graph_sizes",
                                                       "Numbers of sequences captured as CUDA graphs, ascending: a "
                                                       "decode step is padded to the next one; none: no padding")
         .Label("Captured batch sizes"),
     Of<&Engine::overhead, &EngineOverhead::launch_gap>("launch_gap", "Kernel launch gap without graphs")
         .In(kUs)
         .Between(0, 1'000'000),
     Of<&Engine::overhead, &EngineOverhead::prefill_launch_gap>("prefill_gap",
                                                                "Kernel launch gap in prefill with graphs")
         .In(kUs)
         .Between(0, 1'000'000),
     Of<&Engine::kernels, &EngineKernels::quantizes_apart>(
         "quantizes_apart",
         "Activations are quantized by a separate kernel before each product, not by the one that writes them")
         .Label("Kernels that quantize"),
     Of<&Engine::kernels, &EngineKernels::latent_splits_by_length>(
         "latent_splits_by_length",
         "Triton's kernel of latent attention splits a sequence by its length alone, in parts of 512 tokens; false: so "
         "that the blocks of all sequences fill the SMs")
         .Label("Splits of latent attention follow the length"),
     Of<&Engine::kernels, &EngineKernels::elementwise_kernels>(
         "element_kernels", "Elementwise kernels per layer: norms, activation, residual")
         .Between(0, 100),
     Of<&Engine::kernels, &EngineKernels::recurrent_kernels>(
         "recurrent_kernels",
         "Elementwise kernels of a recurrent layer, beyond those of a layer with attention: gates, convolution, steps "
         "of the recurrence, copies of its state")
         .Label("Further kernels of recurrent layers")
         .Between(0, 100),
     Of<&Engine::kernels, &EngineKernels::elementwise_bandwidth_efficiency>(
         "element_stream", "Achievable bandwidth of elementwise kernels, share of memory bandwidth")
         .Share(),
     Of<&Engine::kernels, &EngineKernels::elementwise_launch>(
         "element_launch", "Launch latency of elementwise kernels, over that of a matrix product")
         .Label("Launch latency of elementwise kernels")
         .Between(0, 10),
     Of<&Engine::kernels, &EngineKernels::logit_bandwidth_efficiency>(
         "logit_stream", "Achievable bandwidth of the logits, share of memory bandwidth")
         .Share(),
     Of<&Engine::kernels, &EngineKernels::elementwise_bytes>(
         "element_bytes", "Added bytes per row and hidden element (bias and transpose passes)")
         .Between(0, 1000),
     Of<&Engine::overhead, &EngineOverhead::step>("step",
                                                  "Scheduler overhead per step: scheduling, sampling, token copy")
         .In(kUs)
         .Between(0, 10'000'000),
     Of<&Engine::overhead, &EngineOverhead::per_sequence>("sequence", "Scheduler overhead per sequence and step")
         .In(kUs)
         .Between(0, 1'000'000),
     Of<&Engine::overhead, &EngineOverhead::prefill_step>("prefill_step", "Overhead per step that holds prefill")
         .In(kUs)
         .Between(0, 10'000'000),
     Of<&Engine::overhead, &EngineOverhead::prefill_step_host>(
         "prefill_host", "Host time per step that holds prefill; lower bound on the step")
         .In(kUs)
         .Between(0, 10'000'000),
     Of<&Engine::overhead, &EngineOverhead::prefill_launch>("prefill_launch",
                                                            "Host time per operation of a prefill that no graph holds")
         .In(kUs)
         .Between(0, 1'000'000),
     Of<&Engine::overhead, &EngineOverhead::per_sequence_host>(
         "host_sequence", "Host time per sequence and step; lower bound on the step")
         .In(kUs)
         .Between(0, 1'000'000),
     Of<&Engine::overhead, &EngineOverhead::per_request>("request", "Overhead per request before its first token")
         .In(kMs)
         .Between(0, 100'000),
     Of<&Engine::overhead, &EngineOverhead::per_prompt_token>(
         "prompt_token",
         "Overhead per prompt token before the first token: text into tokens, transport between processes")
         .In(kUs)
         .Between(0, 100'000),
     Of<&Engine::scheduler, &EngineScheduler::steps_ahead>("steps_ahead",
                                                           "Steps launched before the previous one has ended")
         .Between(0, 16),
     Of<&Engine::scheduler, &EngineScheduler::prefill_tokens>(
         "prefill_tokens",
         "Maximum prefill tokens per step, where neither the load nor memory.activation_tokens states them")
         .Length()
         .Between(1, 1 << 28),
     Of<&Engine::scheduler, &EngineScheduler::receive_interval>(
         "receive_interval", "Steps between looks for new requests (SGLang: scheduler_recv_interval)")
         .Between(1, 1024),
     Of<&Engine::scheduler, &EngineScheduler::collect_steps>(
         "collect_steps",
         "Steps that a request waits for others to share its prefill (TensorRT-LLM: batch_wait_timeout_iters)")
         .Label("Steps waited to share a prefill")
         .Between(0, 1024),
     Of<&Engine::scheduler, &EngineScheduler::collect_share>(
         "collect_share", "Share of a step's tokens that ends this wait (TensorRT-LLM: batch_wait_max_tokens_ratio)")
         .Between(0, 1),
     Of<&Engine::scheduler, &EngineScheduler::prefills_first>(
         "prefills_first", "A step prefills or decodes, and prefills whenever a request is admitted")
         .Label("Prefills before decodes"),
     Of<&Engine::scheduler, &EngineScheduler::splits_prompts>(
         "splits_prompts", "A prompt may be spread over several steps (chunked prefill)")
         .Label("Splits long prompts"),
     Of<&Engine::scheduler, &EngineScheduler::groups_prefills>(
         "groups_prefills", "Requests admitted together share a prefill and wait for each other"),
     Of<&Engine::scheduler, &EngineScheduler::queues_static_batch>("queues_static_batch",
                                                                   "Requests of a static batch that do not fit wait"),
     Of<&Engine::scheduler, &EngineScheduler::loads_apart>(
         "loads_apart", "A request whose prefix is loaded from host memory or SSD waits for it while others go on")
         .Label("Loads prefixes beside other steps"),
     Of<&Engine::scheduler, &EngineScheduler::max_sequences>("max_sequences", "Maximum running sequences")
         .Between(1, 1 << 24),
     Of<&Engine::kernels, &EngineKernels::attention>("attention", "Attention kernels"),
     Of<&Engine::kernels, &EngineKernels::unfused_gemm_efficiency>(
         "unfused_matrix", "Unfused attention in prefill: share of the dense peak")
         .Label("Unfused attention: share of the peak")
         .Share(),
     Of<&Engine::kernels, &EngineKernels::unfused_bandwidth_efficiency>(
         "unfused_stream", "Unfused attention in prefill: share of the memory bandwidth in passes over the scores")
         .Label("Unfused attention: share of the bandwidth")
         .Share(),
     Of<&Engine::kernels, &EngineKernels::unfused_score_bytes>(
         "unfused_score", "Unfused attention in prefill: bytes that kernels move per score")
         .Label("Unfused attention: bytes per score")
         .In(kB)
         .Between(0, 1000),
     Of<&Engine::kernels, &EngineKernels::sinks_version>(
         "sinks_version",
         "Version of FlashAttention for prefill with attention sinks, on devices without asynchronous matrix "
         "instructions; empty: the library's own kernels support sinks there too")
         .Label("FlashAttention version with sinks"),
     Of<&Engine::kernels, &EngineKernels::flash_version>(
         "flash_version",
         "Version of FlashAttention in prefill, which is as much slower as its kernels are than the fastest; empty: "
         "the engine's. If the GPU family has no such kernel, the nearest version counts. Latent attention has its own "
         "kernels")
         .Label("FlashAttention version"),
     Of<&Engine::kernels, &EngineKernels::fused_passes>(
         "fused_passes",
         "Launches per dense layer of prefill besides GEMMs and attention, if norms, activation, all-reduces and "
         "scaling are fused; empty: each is launched separately")
         .Label("Launches of a dense layer beside products and attention")
         .Between(0, 64),
     Of<&Engine::kernels, &EngineKernels::fp8_attention>("fp8_attention",
                                                         "Prefill attention computes in fp8 over an fp8 KV cache"),
     Of<&Engine::kernels, &EngineKernels::multi_query_from>(
         "multi_query_from", "Fewest query heads per KV head that share one read of the KV cache")
         .Label("Query heads per KV head served together")
         .Between(1, 1024),
     Of<&Engine::kernels, &EngineKernels::expert_library>(
         "expert_library",
         "The engine's own library of expert kernels: experts run in it or in TensorRT-LLM's, whichever is faster")
         .Label("Library of expert kernels"),
     Of<&Engine::kernels, &EngineKernels::moe_layer_overhead>("experts", "Fixed cost per MoE layer")
         .In(kUs)
         .Between(0, 1'000'000),
     Of<&Engine::kernels, &EngineKernels::expert_kernels>(
         "expert_kernels",
         "Kernels of a layer's experts that are launched one by one where no CUDA graph holds them; absent: they count "
         "with the others")
         .Label("Kernels launched for a layer's experts")
         .Between(0, 1000),
     Of<&Engine::kernels, &EngineKernels::expert_gemm_efficiency>(
         "expert_matrix", "Efficiency of expert GEMMs over the fastest library's")
         .Share(),
     Of<&Engine::kernels, &EngineKernels::expert_bandwidth_efficiency>(
         "expert_stream", "Bandwidth efficiency of expert weights over the fastest library's")
         .Share(),
     Of<&Engine::kernels, &EngineKernels::chooses_expert_tiles>(
         "chooses_expert_tiles",
         "Device families whose 16-bit and fp8 expert kernels choose tiles by the tokens of a step if no table has the "
         "shape: a plain command is then only as much slower than a tuned run as for a dense model")
         .Label("Expert tiles chosen without a table"),
     Of<&Engine::kernels, &EngineKernels::load_variation>(
         "load_variation",
         "Coefficient of variation of the experts' tokens after balancing, where the model sets no imbalance")
         .Between(0, 4),
     Of<&Engine::kernels, &EngineKernels::pads_heads>("pads_heads",
                                                      "Heads are padded to a multiple of the tensor-parallel degree"),
     Of<&Engine::communication, &EngineCommunication::second_pass>(
         "second_pass", "Time of a second pass in the engine's own all-reduce; empty: the library reduces")
         .Label("Second pass of an all-reduce")
         .In(kUs)
         .Between(0, 1'000'000),
     Of<&Engine::communication, &EngineCommunication::host_copy_efficiency>(
         "host_copies", "Large copies between device and host: share of the host link's bandwidth")
         .Label("Bandwidth of copies to the host")
         .Share(),
     Of<&Engine::communication, &EngineCommunication::rank_skew>(
         "rank_skew", "Wait of the engine's own all-reduce for the last rank")
         .In(kUs)
         .Between(0, 1'000'000),
     Of<&Engine::communication, &EngineCommunication::nccl_launch>(
         "nccl_launch", "Host launch of NCCL without graphs, per doubling of the ranks, in a decode step")
         .In(kUs)
         .Between(0, 1'000'000),
     Of<&Engine::communication, &EngineCommunication::expert_exchange>(
         "expert_exchange", "The engine's own dispatch and combine kernels; the first row that applies")
         .Label("Dispatch and combine kernel"),
     Of<&Engine::communication, &EngineCommunication::prompt_exchange>(
         "prompt_exchange",
         "Prefill context parallelism: keys and values are gathered before attention or pass around a ring during it; "
         "none: not supported")
         .Label("Exchange of prefill context parallelism"),
     Of<&Engine::communication, &EngineCommunication::two_batch_overlap>(
         "two_batch_overlap",
         "Half of the batch computes during the other half's expert communication; used where it is faster")
         .Label("Two-batch overlap"),
     Of<&Engine::communication, &EngineCommunication::split>("split",
                                                             "How a replica is split over devices: by any degrees; by "
                                                             "tensors (TP) or layers (PP), without DP attention and "
                                                             "EP; by layers, or by tensors where TP is written")
         .Label("Split over devices"),
     Of<&Engine::communication, &EngineCommunication::whole_ep>(
         "whole_ep", "Expert parallelism covers all ranks of TP and DP attention, or none")
         .Label("EP over all ranks or none"),
     Of<&Engine::devices>("devices", "Families of devices that the engine runs on; none: any")
         .Label("Device families")
         .OutsideReports(),
     Of<&Engine::formats, &EngineFormats::weights>("weight_formats",
                                                   "Weight formats that the engine supports; default of a run: the "
                                                   "model's own if listed, else the first; absent: any")
         .Label("Weight formats")
         .OutsideReports(),
     Of<&Engine::formats, &EngineFormats::kept_weights>(
         "kept_weights",
         "Format of the weights that a narrow checkpoint keeps wider (embedding, head, attention); absent: 16 bit")
         .Label("Format of weights kept wider"),
     Of<&Engine::formats, &EngineFormats::follows_kv_cache>(
         "follows_kv_cache",
         "Where nobody wrote a format of the KV cache, it is the one that the checkpoint names or the model has: fp8 "
         "beside weights in nvfp4 and for compressed attention, on devices that have it")
         .Label("KV cache as the checkpoint names it")
         .OutsideReports(),
     Of<&Engine::memory>("memory", "Memory budget of the KV cache"),
     Of<&Engine::compiled_graph>("whole_layer", "Constants of a compiled engine: one operator per layer"),
     Of<&Engine::layer_pipeline>("layer_split", "Constants of llama.cpp: one stream, layers split over the devices"),
     Of<&Engine::stored_products>(
         "stored_products",
         "Kernels that load weights as stored, convert them and multiply, in turn; absent: the device's usual kernels")
         .Label("Products with stored weights"),
     Of<&Engine::host_products>(
         "host_products",
         "Products with weights in host memory, by the processor or by the device after a copy; absent: the engine "
         "keeps all weights in device memory")
         .Label("Products with weights in host memory"),
     Of<&Engine::on>("on", "Exceptions per device architecture").Label("Exception"),
     Of<&Engine::utilization>(
         "utilization",
         "Roofline: every operator reaches these fractions of the data sheet; absent: kernels as measured"),
     Of<&Engine::plain>("plain", "The constants fit plain commands, or are not measured: serving.tuning has no effect")
         .Label("As a plain command runs it")});
constinit const Fields Schema<Engine>::fields(kEngineFields);

}  // namespace slipstick
