#include "core/engine_step/adapters.h"

#include "core/base/sum.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"

namespace slipstick {
namespace {

// Projections that engines run as one product, each with an adapter of its own: queries, keys and values; gate and up.
double PartsOf(ProductId id, const Model& model, Trace& trace) {
  if (id == ProductId::kMlpIn) {
    const double parts = model.gated ? 2 : 1;
    trace.Input("parts", parts, "model.gated");
    return parts;
  }
  return trace.Constant("parts", id == ProductId::kQueryKeyValue ? 3.0 : 1.0, "serving.adapters",
                        "projections of the product");
}

// Outputs and inputs of a layer's projections on one device: the factors of rank r beside them have r times as many
// elements. The factor that tensor parallelism does not split is whole on every device.
struct AdaptedColumns {
  double outputs = 0, inputs = 0, products = 0;
};
AdaptedColumns ColumnsOf(const Deployment& deployment, const MatrixProducts& products, Trace& trace) {
  ListedSum<double> outputs_sum(trace), inputs_sum(trace);
  AdaptedColumns columns;
  for (const MatrixProduct& product : products) {
    const std::string_view name = TraitsOf(product.id).name;
    const Trace::Scope scope(trace, name);
    if (trace.on()) ProductOf(product.id, deployment.model, deployment.shapes.widths, trace);
    const double inputs = product.inputs, parts = PartsOf(product.id, deployment.model, trace);
    FIGURE(trace, part_inputs, parts * inputs, (Note{"Inputs of the projections", "each has them all"}), parts, inputs);
    outputs_sum.Add(name, product.outputs, 1, "outputs");
    inputs_sum.Add(name, part_inputs, 1, "part_inputs");
    columns.products += 1;
  }
  columns.outputs =
      outputs_sum.Total("adapted_outputs", {"Outputs of the adapted products", "of a layer on one device"});
  columns.inputs = inputs_sum.Total("adapted_inputs", {"Inputs of the adapted products", "of a layer on one device"});
  return columns;
}

double RankOf(const Deployment& deployment, Trace& trace) {
  const auto adapter_rank = static_cast<double>(deployment.load.adapters->rank);
  trace.Input("adapter_rank", adapter_rank, "serving.adapters.rank");
  return adapter_rank;
}

}  // namespace

Bytes AdapterWeights(const Deployment& deployment, Trace& trace) {
  const Trace::Scope scope(trace, "adapters");
  const auto resident = static_cast<double>(deployment.load.adapters->resident);
  const double adapter_rank = RankOf(deployment, trace), stage_attention = deployment.layers.on_stage.attention,
               stage_dense = deployment.layers.on_stage.dense;
  const Bytes half = 2.0 * kB;
  trace.Input("resident", resident, "serving.adapters.resident");
  const auto columns_of = [&](std::string_view name, const MatrixProducts& products) {
    const Trace::Scope part(trace, name);
    const auto [adapted_outputs, adapted_inputs, _] = ColumnsOf(deployment, products, trace);
    FIGURE(trace, columns, adapted_outputs + adapted_inputs,
           (Note{"Elements of an adapter per rank", "of a layer on one device"}), adapted_outputs, adapted_inputs);
    return columns;
  };
  const double attention_columns = columns_of("attention", deployment.shapes.attention);
  trace.Alias("attention_columns", attention_columns, "columns");
  const double dense_columns = columns_of("MLP", deployment.shapes.mlp);
  trace.Alias("dense_columns", dense_columns, "columns");
  FIGURE(trace, adapter_weights,
         resident * adapter_rank * (stage_attention * attention_columns + stage_dense * dense_columns) * half,
         (Note{"Weights of the adapters",
               "both factors beside every projection of attention and of dense MLPs, in 16 bit"}),
         resident, adapter_rank, stage_attention, attention_columns, stage_dense, dense_columns, half);
  return adapter_weights;
}

KernelTime TimeOfAdapters(const Deployment& deployment, const MatrixProducts& products, double rows, Trace& trace) {
  const Trace::Scope scope(trace, "adapters");
  const auto active = static_cast<double>(deployment.load.adapters->active);
  const double adapter_rank = RankOf(deployment, trace);
  const auto [adapted_outputs, adapted_inputs, adapted_products] = ColumnsOf(deployment, products, trace);
  const Seconds launch = *deployment.device.efficiency.launch_latency;
  const double stream = *deployment.device.efficiency.bandwidth_efficiency;
  const double absorbed_matrix = deployment.device.architecture->step.absorbed_gemm_efficiency;
  const FlopsPerSecond peak_rate = PeakRate(deployment.device, Precision::kBf16, trace);
  const Stream data = SlowestStream(deployment.device, trace);
  const BytesPerSecond bandwidth = data.bandwidth;
  const Bytes half = 2.0 * kB;
  BindEstimate("absorbed_matrix", absorbed_matrix, deployment.device, trace);
  CONSTANTS(trace, "serving.adapters", "products of the layer's part, two kernels each", adapted_products);
  trace.Input("active", active, "serving.adapters.active");
  trace.Input("launch", launch, "cluster.device.efficiency.launch");
  trace.Input("stream", stream, "cluster.device.efficiency.stream");
  FIGURE(trace, read_adapters, min(active, rows), (Note{"Adapters read in a step", "at most one per token"}), active,
         rows);
  FIGURE(trace, flops, 2 * kFlop * rows * adapter_rank * (adapted_outputs + adapted_inputs),
         (Note{"FLOPs of the adapters", ""}), rows, adapter_rank, adapted_outputs, adapted_inputs);
  FIGURE(trace, bytes,
         (read_adapters * adapter_rank * (adapted_outputs + adapted_inputs) +
          rows * (adapted_inputs + 2 * adapted_outputs + 4 * adapted_products * adapter_rank)) *
             half,
         (Note{"Adapters and activations",
               "inputs read, outputs added to, the inner activations written and read in fp32"}),
         read_adapters, adapter_rank, adapted_outputs, adapted_inputs, rows, adapted_products, half);
  FIGURE(trace, compute_time, flops / (absorbed_matrix * peak_rate),
         (Note{"Compute time", "at a share of the peak; estimate"}), flops, absorbed_matrix, peak_rate);
  FIGURE(trace, memory_time, bytes / (bandwidth * stream), (Note{"Time to move the data", ""}), bytes, bandwidth,
         stream);
  FIGURE(trace, adapter_time, 2 * adapted_products * launch + max(compute_time, memory_time),
         (Note{"Low-rank adapters", "two kernels beside each product, all adapters of the step at once",
               "Punica, arXiv 2310.18547; S-LoRA, arXiv 2311.03285"}),
         adapted_products, launch, compute_time, memory_time);
  KernelTime kernel{adapter_time, compute_time, memory_time, compute_time > memory_time ? Bound::kCompute : data.bound,
                    flops,        bytes};
  if (4 * adapted_products * launch > adapter_time) kernel.bound = Bound::kLatency;
  return kernel;
}

}  // namespace slipstick
