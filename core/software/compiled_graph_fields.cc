#include "core/base/field_table.h"
#include "core/software/compiled_graph.h"

namespace slipstick {

constexpr FieldRow kCompiledGraphFields[] = {
    Of<&CompiledGraph::gemm_efficiency>("matrix", "GEMM efficiency: share of the dense peak").Share(),
    Of<&CompiledGraph::bandwidth_efficiency>("stream", "Share of the memory bandwidth at which weights are read")
        .Share(),
    Of<&CompiledGraph::kv_cache_bandwidth_efficiency>("cache_stream",
                                                      "Share of the memory bandwidth at which the KV cache is read")
        .Share(),
    Of<&CompiledGraph::elementwise_bandwidth_efficiency>("element_stream",
                                                         "Share of the memory bandwidth for activations")
        .Share(),
    Of<&CompiledGraph::layer_overhead>("layer", "Fixed cost per layer").In(kUs).Between(0, 1'000'000),
    Of<&CompiledGraph::all_reduce_overhead>("reduce", "Fixed cost per all-reduce").In(kUs).Between(0, 1'000'000),
    Of<&CompiledGraph::all_reduce_bandwidth_efficiency>("reduce_stream", "Share of the link bandwidth in an all-reduce")
        .Share(),
    Of<&CompiledGraph::skips_masked_scores>("causal", "Attention computes only what the causal mask leaves"),
    Of<&CompiledGraph::fixed_shapes>("fixed_shapes", "Compiled for one KV length: every step reads the whole KV cache"),
    Of<&CompiledGraph::cores>("cores", "Tensor-parallel ranks per device").Between(1, 64),
    Of<&CompiledGraph::on_chip_capacity>("on_chip", "Activations above this size spill to memory; 0: no limit")
        .In(kMB)
        .AtLeast(0),
    Of<&CompiledGraph::spill_exponent>("spill", "Prefill time grows with (activations / limit) to this power")
        .Label("Exponent of prefill time beyond the limit")
        .Between(0, 1)};
constinit const Fields Schema<CompiledGraph>::fields(kCompiledGraphFields);

}  // namespace slipstick
