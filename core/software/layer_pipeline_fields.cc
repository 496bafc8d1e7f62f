#include "core/base/field_table.h"
#include "core/software/layer_pipeline.h"

namespace slipstick {

constexpr FieldRow kLayerPipelineFields[] = {
    Of<&LayerPipeline::bandwidth_efficiency>("stream", "Share of the memory bandwidth of matrix-vector products")
        .Share(),
    Of<&LayerPipeline::bytes_per_clock>("bytes_per_clock", "Maximum bytes that an SM reads per clock")
        .Above(0)
        .AtMost(1024),
    Of<&LayerPipeline::clocks_per_layer>("clocks_per_layer", "Clocks of small dependent kernels per layer")
        .Between(0, 1'000'000'000),
    Of<&LayerPipeline::kv_cache_bandwidth_ratio>(
        "cache_stream", "Rate at which query heads read the KV cache, each for itself, over memory bandwidth")
        .Above(0)
        .AtMost(16),
    Of<&LayerPipeline::gemm_efficiency>("matrix", "GEMM efficiency in prefill: share of the dense peak").Share(),
    Of<&LayerPipeline::fp16_accumulate>("fp16_accumulate",
                                        "GEMMs accumulate in fp16, at that rate where a device has one"),
    Of<&LayerPipeline::attention_efficiency>("attention", "Prefill attention: share of the dense peak").Share(),
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
        .Share(),
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

}  // namespace slipstick
