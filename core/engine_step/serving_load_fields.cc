#include "core/base/field_table.h"
#include "core/engine_step/serving_load.h"

namespace slipstick {

constexpr FieldRow kServingPrecisionFields[] = {
    Of<&ServingPrecision::weights>("weights", "Weight precision"),
    Of<&ServingPrecision::activations>("activations", "Activation precision (GEMM inputs)")
        .Label("Activation precision"),
    Of<&ServingPrecision::kv_cache>("kv_cache", "KV-cache precision"),
    Of<&ServingPrecision::state>("state", "Precision of recurrent states").Advanced()};
constinit const Fields Schema<ServingPrecision>::fields(kServingPrecisionFields);

constexpr FieldRow kDisaggregatedFields[] = {
    Of<&Disaggregated::prefill_devices>("prefill_devices", "Devices of the prefill pool").Between(1, 1 << 24),
    Of<&Disaggregated::decode_devices>("decode_devices", "Devices of the decode pool").Between(1, 1 << 24),
    Of<&Disaggregated::prefill_device>(
        "prefill_device",
        "Accelerator of the prefill pool, joined as in the catalogue's server of it; default: the cluster's "
        "(cost.prefill_pool says what it costs). It neither trains nor "
        "decodes: no figure uses its host, link_power, attention_forward, attention_backward, decode_stream, "
        "nor the link and network of its design")
        .Advanced(),
    Of<&Disaggregated::prefill_mapping>("prefill_mapping",
                                        "Parallelism of the prefill pool; default: that of the decode pool. It decodes "
                                        "nothing: no figure uses its cp or replicas")
        .Advanced()};
constinit const Fields Schema<Disaggregated>::fields(kDisaggregatedFields);

constexpr FieldRow kSpeculativeFields[] = {
    Of<&Speculative::preset>("preset", "Preset; fields below override it"),
    Of<&Speculative::name>("name", "Name"),
    Of<&Speculative::draft_tokens>("draft_tokens", "Draft tokens per step").Between(1, 64),
    Of<&Speculative::acceptance>("acceptance", "Acceptance rate: probability that a draft token is accepted")
        .Between(0, 1),
    Of<&Speculative::draft_cost>("draft_cost",
                                 "Time per draft token over a decode step; at least that of reading draft_parameters")
        .Between(0, 10),
    Of<&Speculative::modules>("modules",
                              "MTP modules of the model that draft: their weights and KV cache are in device memory")
        .Label("MTP modules that draft")
        .Between(0, 16),
    Of<&Speculative::draft_parameters>(
        "draft_parameters",
        "Parameters of a separate draft model or head, in 16 bit and split over the tensor-parallel devices; 0: none")
        .Label("Parameters of the draft model")
        .Between(0, 1'000'000'000'000),
    Of<&Speculative::draft_kv_cache>(
        "draft_kv_cache",
        "Elements of KV cache per token of a separate draft model, split over the tensor-parallel devices")
        .Label("KV-cache elements per token of the draft model")
        .Between(0, 100'000'000)};
constinit const Fields Schema<Speculative>::fields(kSpeculativeFields);

constexpr FieldRow kBlockDiffusionFields[] = {
    Of<&BlockDiffusion::block>("block", "Tokens of a block; every step computes all of them").Between(1, 4096),
    Of<&BlockDiffusion::tokens_per_step>(
        "tokens_per_step",
        "Tokens that a step keeps, mean over all steps of a block: published as tokens per forward (TPF)")
        .Between(0.01, 4096)};
constinit const Fields Schema<BlockDiffusion>::fields(kBlockDiffusionFields);

constexpr FieldRow kPromptImagesFields[] = {
    Of<&PromptImages::count>("count", "Images per prompt").Between(1, 1 << 16),
    Of<&PromptImages::width>("width", "Width in pixels, as the model's processor resizes the image")
        .Between(1, 1 << 16),
    Of<&PromptImages::height>("height", "Height in pixels").Between(1, 1 << 16)};
constinit const Fields Schema<PromptImages>::fields(kPromptImagesFields);

constexpr FieldRow kKvOffloadFields[] = {
    Of<&KvOffload::capacity>("capacity", "Host memory for the KV cache, per device").In(kGB).AtLeast(0),
    Of<&KvOffload::bandwidth>("bandwidth", "Host link per device, one direction").In(kGBps).Above(0).AtMost(1'000'000)};
constinit const Fields Schema<KvOffload>::fields(kKvOffloadFields);

constexpr FieldRow kHostExpertsFields[] = {
    Of<&HostExperts::layers>("layers", "Layers whose routed experts are in host memory; more than the model has: all")
        .Label("Layers with experts in host memory")
        .Between(1, 1 << 16),
    Of<&HostExperts::memory_bandwidth>(
        "memory_bandwidth",
        "Bandwidth of the host memory by its data sheet: 96 GB/s for two channels of DDR5-6000, 461 for twelve "
        "of DDR5-4800")
        .Label("Host memory bandwidth")
        .In(kGBps)
        .Above(0)
        .AtMost(1'000'000),
    Of<&HostExperts::processor>("processor",
                                "Throughput of the processor in products with the experts' weights. Peak in fp32, "
                                "cores x clock x FLOP per clock: 1 TFLOP/s of "
                                "Ryzen 7 7700 (8 x 3.8 GHz x 32), 7.4 of EPYC 9654 (96 x 2.4 GHz x 32)")
        .Label("Processor throughput")
        .In(kTFlops)
        .Above(0)
        .AtMost(1'000'000)};
constinit const Fields Schema<HostExperts>::fields(kHostExpertsFields);

constexpr FieldRow kPrefixCacheFields[] = {
    Of<&PrefixCache::host_share>("host_share", "Share of the cached prompt tokens that is in host memory")
        .Between(0, 1),
    Of<&PrefixCache::ssd_share>("ssd_share",
                                "Share of the cached prompt tokens that is on SSD; the rest is in device memory")
        .Label("SSD share")
        .Between(0, 1),
    Of<&PrefixCache::prefixes>("prefixes", "Prefixes kept beside those of running requests, per attention group")
        .Between(0, 1 << 24),
    Of<&PrefixCache::by_layer>("by_layer",
                               "A layer is computed while the cache of the next one is loaded (SGLang HiCache, LMCache "
                               "layerwise); off: prefill waits for all of it")
        .Label("Layer-wise overlap"),
    Of<&PrefixCache::host_link>("host_link", "Host link per device, one direction")
        .In(kGBps)
        .Above(0)
        .AtMost(1'000'000),
    Of<&PrefixCache::ssd_bandwidth>("ssd_bandwidth", "SSD reads per device; they pass the host link too")
        .Label("SSD bandwidth")
        .In(kGBps)
        .Above(0)
        .AtMost(1'000'000),
    Of<&PrefixCache::host_capacity>("host_capacity", "Host memory for prefixes, per device").In(kGB).AtLeast(0),
    Of<&PrefixCache::ssd_capacity>("ssd_capacity",
                                   "SSD for prefixes, per device; from version 3 on none, unless its capacity, "
                                   "bandwidth or share of the hits is set")
        .Label("SSD capacity")
        .In(kGB)
        .AtLeast(0)};
constinit const Fields Schema<PrefixCache>::fields(kPrefixCacheFields);

constexpr FieldRow kServedAdaptersFields[] = {
    Of<&ServedAdapters::resident>("resident", "Adapters in device memory").Between(1, 1 << 20),
    Of<&ServedAdapters::active>("active",
                                "Adapters that the running sequences ask for; at most one per token of a step")
        .Between(1, 1 << 20),
    Of<&ServedAdapters::rank>("rank", "Rank of an adapter").Between(1, 1024)};
constinit const Fields Schema<ServedAdapters>::fields(kServedAdaptersFields);

constexpr FieldRow kServingLoadFields[] = {
    Of<&ServingLoad::prompt>("prompt", "Prompt tokens").Length().Between(1, 1 << 28),
    Of<&ServingLoad::output>("output", "Output tokens").Length().Between(1, 1 << 28),
    Of<&ServingLoad::batch>("batch", "Concurrent requests per replica; max: as many as fit")
        .Label("Concurrent requests per replica")
        .Between(1, 1 << 24),
    Of<&ServingLoad::devices>("devices", "Devices used; default: the whole cluster")
        .Label("Devices that serve")
        .Between(1, 1 << 24)
        .Derived(),
    Of<&ServingLoad::concurrency>("concurrency", "Closed loop: constant number of requests, in flight or waiting")
        .Label("Concurrency (closed loop)")
        .Between(1, 1 << 24)
        .Advanced(),
    Of<&ServingLoad::requests_per_s>("requests_per_s", "Open loop: arrival rate (requests/s)")
        .Label("Arrival rate (open loop)")
        .Above(0)
        .AtMost(1'000'000'000)
        .Advanced(),
    Of<&ServingLoad::max_requests>("max_requests",
                                   "Limit of concurrent requests in the engine; off: limited by memory, or with stock "
                                   "tuning by the engine's default")
        .Between(1, 1 << 24)
        .Advanced(),
    Of<&ServingLoad::waves>("waves",
                            "Benchmark rounds: requests per stream, all streams starting together and then drifting "
                            "apart; 1 where all requests have one length, which keeps them together; off: steady state")
        .Label("Benchmark rounds per stream")
        .Between(1, 1 << 24)
        .Advanced(),
    Of<&ServingLoad::engine>("engine",
                             "Serving engine: overheads, kernels, memory budget; roofline: a plain roofline, same "
                             "utilizations for all kernels")
        .Label("Engine"),
    Of<&ServingLoad::tuning>("tuning",
                             "How the engine is run: stock, as a plain command runs it, or tuned, as vendors' "
                             "benchmarks do")
        .Label("Tuning"),
    Of<&ServingLoad::cuda_graphs>("cuda_graphs", "Launch decode steps as CUDA graphs; default: the engine's")
        .Label("CUDA graphs")
        .Advanced(),
    Of<&ServingLoad::precision>("precision", "Number formats"),
    Of<&ServingLoad::mapping>("mapping", "Parallelism mapping"),
    Of<&ServingLoad::redundant_experts>(
        "redundant_experts", "Redundant copies of busy experts (EPLB); experts plus copies must be a multiple of ep")
        .Between(0, 1 << 16)
        .Advanced(),
    Of<&ServingLoad::prefill_chunk>(
        "prefill_chunk",
        "Chunked-prefill size: prefill tokens per step; default: the engine's step where it splits "
        "prompts, else whole prompts")
        .Length()
        .Between(1, 1 << 28)
        .Advanced(),
    Of<&ServingLoad::prefix_hit>("prefix_hit", "Prefix-cache hit rate: fraction of the prompt tokens")
        .Between(0, 1)
        .Advanced(),
    Of<&ServingLoad::idle_sessions>(
        "idle_sessions",
        "Sessions between two turns, per running request; the memory tiers keep the prefixes that they will hit. "
        "Default: 1 from version 3 on; 0 with separate pools or if prefix_cache.prefixes is set")
        .Label("Waiting sessions per running request")
        .Between(0, 1'000'000)
        .Advanced(),
    Of<&ServingLoad::images>("images",
                             "Images in every prompt. serving.prompt counts their tokens too, as engines do; the "
                             "model's vision encoder makes them")
        .Label("Images in the prompt")
        .Advanced(),
    Of<&ServingLoad::sessions>("sessions",
                               "Sessions of several turns, whose contexts the prefix cache keeps between turns (LRU). "
                               "They set the prompt (mean over the turns) and the hit rate; output is per turn, "
                               "concurrency counts sessions, requests_per_s counts turns")
        .Label("Sessions of several turns")
        .Advanced(),
    Of<&ServingLoad::speculative>("speculative", "Speculative decoding").Advanced(),
    Of<&ServingLoad::block_diffusion>(
        "block_diffusion",
        "Block diffusion: a step computes a block of tokens and keeps some of them (LLaDA 2, SDAR, DiffusionGemma)")
        .Advanced(),
    Of<&ServingLoad::disaggregated>("disaggregated", "Prefill and decode on separate pools (disaggregated serving)")
        .Advanced(),
    Of<&ServingLoad::kv_offload>("kv_offload", "KV-cache offload to host memory").Advanced(),
    Of<&ServingLoad::host_experts>(
        "host_experts",
        "Routed experts in host memory, computed by the processor, or by the device after a copy (llama.cpp: "
        "--n-cpu-moe)")
        .Label("Experts in host memory")
        .Advanced(),
    Of<&ServingLoad::prefix_cache>(
        "prefix_cache",
        "Tiers of the prefix cache: hits in host memory or on SSD are loaded once per request. With sessions, idle "
        "contexts are evicted to them; without, the simulation finds all hits in device memory")
        .Label("Prefix-cache tiers")
        .Advanced(),
    Of<&ServingLoad::adapters>("adapters", "Low-rank adapters, one per request (multi-LoRA serving)")
        .Label("LoRA adapters")
        .Advanced(),
    Of<&ServingLoad::simulate>(
        "simulate", "Simulation of the engine's scheduler, request by request, beside the closed forms; off: none")
        .Advanced(),
    Of<&ServingLoad::arrivals>("arrivals", "Arrival process of a simulated open loop; default: Poisson").Advanced(),
    Of<&ServingLoad::lengths>("lengths",
                              "How lengths are distributed; default: all equal to prompt and output. The simulation "
                              "draws from it; closed forms use only that long outputs occupy slots longer")
        .Advanced()};
constinit const Fields Schema<ServingLoad>::fields(kServingLoadFields);

}  // namespace slipstick
