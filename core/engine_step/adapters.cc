#include "core/engine_step/adapters.h"

#include "core/base/figure.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// Projections that engines run as one product, each with an adapter of its own: queries, keys and values; gate and up.
int PartsOf(ProductId id, const Model& model) {
  if (id == ProductId::kMlpIn) return model.gated ? 2 : 1;
  return id == ProductId::kQueryKeyValue ? 3 : 1;
}

// Outputs and inputs of a layer's projections on one device: the factors of rank r beside them have r times as many
// elements. The factor that tensor parallelism does not split is whole on every device.
struct AdaptedColumns {
  Ratio outputs = 0, inputs = 0, products = 0;
};
AdaptedColumns ColumnsOf(const MatrixProducts& products, const Model& model) {
  AdaptedColumns columns;
  for (const MatrixProduct& product : products) {
    columns.outputs += product.outputs;
    columns.inputs += PartsOf(product.id, model) * product.inputs;
    columns.products += 1;
  }
  columns.outputs = Figure("Outputs of the adapted products", columns.outputs, "of a layer on one device");
  columns.inputs = Figure("Inputs of the adapted products", columns.inputs,
                          "of a layer on one device; each projection of a product has them all");
  return columns;
}

}  // namespace

Bytes AdapterWeights(const Deployment& deployment) {
  const ServedAdapters& adapters = *deployment.load.adapters;
  const auto elements = [&](const MatrixProducts& adapted) {
    const AdaptedColumns columns = ColumnsOf(adapted, deployment.model);
    return Figure("Elements of an adapter per rank", columns.outputs + columns.inputs, "of a layer on one device");
  };
  const LayerCounts& layers = deployment.layers.on_stage;
  return Figure(
      "Weights of the adapters",
      Ratio(adapters.resident) * Ratio(adapters.rank) *
          (layers.attention * elements(deployment.shapes.attention) + layers.dense * elements(deployment.shapes.mlp)) *
          (2 * kB),
      "both factors beside every projection of attention and of dense MLPs, in 16 bit");
}

KernelTime TimeOfAdapters(const Deployment& deployment, const MatrixProducts& products, Ratio rows) {
  const Device& device = deployment.device;
  const Ratio rank(deployment.load.adapters->rank);
  const auto [outputs, inputs, count] = ColumnsOf(products, deployment.model);
  const Seconds launch = *device.efficiency.launch_latency;
  const FlopsPerSecond peak = PeakRate(device, Precision::kBf16);
  const Stream data = SlowestStream(device);
  const Ratio read =
      Figure("Adapters read in a step", min(Ratio(deployment.load.adapters->active), rows), "at most one per token");
  const Flops flops = Figure("FLOPs of the adapters", 2 * kFlop * rows * rank * (outputs + inputs));
  const Bytes bytes =
      Figure("Adapters and activations",
             (read * rank * (outputs + inputs) + rows * (inputs + 2 * outputs + 4 * count * rank)) * (2 * kB),
             "inputs read, outputs added to, the inner activations written and read in fp32");
  const Seconds computing = Figure("Compute time", flops / (device.architecture->step.absorbed_gemm_efficiency * peak),
                                   "at a share of the peak; estimate");
  const Seconds moving =
      Figure("Time to move the data", bytes / (data.bandwidth * *device.efficiency.bandwidth_efficiency));
  const Seconds time = Figure("Low-rank adapters", 2 * count * launch + max(computing, moving),
                              "two kernels beside each product, all adapters of the step at once",
                              "Punica, arXiv 2310.18547; S-LoRA, arXiv 2311.03285");
  KernelTime kernel{time, computing, moving, computing > moving ? Bound::kCompute : data.bound, flops, bytes};
  if (4 * count * launch > time) kernel.bound = Bound::kLatency;
  return kernel;
}

}  // namespace slipstick
