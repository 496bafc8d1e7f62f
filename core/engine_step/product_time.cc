#include "core/engine_step/product_time.h"

#include <array>
#include <optional>

#include "core/base/figure.h"
#include "core/engine_step/memo.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// Whether the checkpoint scales these fp8 weights by blocks, as it does its fp8 experts. Beside 4-bit experts it does
// so only if it keeps these weights as the model was published.
bool HasBlockScales(const Deployment& deployment, Precision weights) {
  const ServedFormats& formats = deployment.formats;
  return deployment.model.moe && deployment.model.moe->block_scales && IsEightBitFloat(weights) &&
         (weights == formats.mlp_weights || formats.keeps_as_model);
}

Gemm GemmOf(const Deployment& deployment, const MatrixProduct& product, Ratio rows) {
  const ServedFormats& formats = deployment.formats;
  Gemm gemm;
  gemm.m = rows, gemm.n = product.outputs, gemm.k = product.inputs;
  const ProductRole role = TraitsOf(product.id).role;
  if (role == ProductRole::kMixer || (role == ProductRole::kMlp && formats.keeps_mlp)) {
    gemm.precision = formats.attention_activations, gemm.activation_size = formats.sizes.attention_activations;
    gemm.weights = formats.attention_weights, gemm.weight_size = formats.sizes.attention_weights;
  }
  if (role == ProductRole::kMlp && !formats.keeps_mlp) {
    gemm.precision = formats.activations, gemm.activation_size = formats.sizes.activations;
    gemm.weights = formats.mlp_weights, gemm.weight_size = formats.sizes.mlp_weights;
  }
  if (product.id == ProductId::kHead)
    gemm.weights = formats.head_weights, gemm.weight_size = formats.sizes.head_weights;
  gemm.quantize = BytesPerElement(gemm.precision) < 2;
  if (HasBlockScales(deployment, gemm.weights)) gemm.scaling = Scaling::kBlock;
  return gemm;
}

GemmKernelParameters ParametersOf(const Deployment& deployment, const Gemm& gemm) {
  GemmKernelParameters parameters = ServingKernelParameters(gemm, deployment.device);
  if (deployment.quantizes_apart) SetQuantizedApart(gemm, deployment.device, parameters);
  const std::optional<StoredProducts>& stored = deployment.engine.stored_products;
  const GemmKernel kernel = KernelOf(gemm, deployment.device);
  if (!stored || (kernel != GemmKernel::kInt8Weights && kernel != GemmKernel::kInt4Weights)) return parameters;
  const bool is_vector = gemm.m <= Ratio(stored->vector_rows);
  if (!is_vector && !stored->per_clock) return parameters;
  parameters.in_turn = !(is_vector && stored->loads_ahead);
  SetStored(deployment, is_vector, parameters);
  return parameters;
}

}  // namespace

void SetStored(const Deployment& deployment, bool is_vector, GemmKernelParameters& parameters) {
  const StoredProducts& stored = *deployment.engine.stored_products;
  parameters.stored_per_clock = is_vector ? stored.vector_per_clock : stored.per_clock.value_or(Flops{});
  parameters.stored_tile = is_vector ? Ratio(0) : Ratio(deployment.stored_tile_rows.value_or(stored.tile_rows));
  if (is_vector || !deployment.stored_efficiency) return;
  const Device& device = deployment.device;
  parameters.stored_per_clock =
      Figure("Most FLOPs of a unit per clock with stored weights",
             *deployment.stored_efficiency * PeakRate(device, Precision::kFp16) / Ratio(device.units) / device.clock,
             "it converts them in its own instructions");
}

KernelTime TimeProduct(const Deployment& deployment, const MatrixProduct& product, Ratio rows) {
  const Gemm gemm = GemmOf(deployment, product, rows);
  const auto timed = [&] { return TimeOf(gemm, deployment.device, ParametersOf(deployment, gemm)); };
  KernelTime kernel = deployment.memo == nullptr ? timed() : deployment.memo->Product(gemm, timed);
  const ServedProduct& served = ServedAs(product.id);
  kernel.time = Figure(served.title, kernel.time, served.note);
  return kernel;
}

namespace {

// In the order of ProductId.
constexpr std::array kServed{
    ServedProduct{"QKV projection", "Query, key and value projection"},
    ServedProduct{"query projection", "Up-projection of queries"},
    ServedProduct{"latent projection", "Down-projection of queries, keys and values"},
    ServedProduct{"query projection", "Up-projection of queries"},
    ServedProduct{"latent projection", "Down-projection of keys and values"},
    ServedProduct{"KV up-projection", "Up-projection of keys and values"},
    ServedProduct{"compressor", "Rows of the compressed history and their weights", "whole on every device"},
    ServedProduct{"indexer projection", "Projection of the indexer's queries", "whole on every device"},
    ServedProduct{"indexer projection", "Projection of the indexer's keys and head weights", "whole on every device"},
    ServedProduct{"output gate", "Projection of the gate on latent attention's output"},
    ServedProduct{"output projection", "Output projection of each group of heads"},
    ServedProduct{"output projection", "Output projection of attention"},
    ServedProduct{"local QKV projection", "Query, key and value projection of a local layer"},
    ServedProduct{"local query projection", "Query projection of a local layer that shares a KV cache"},
    ServedProduct{"local output projection", "Output projection of a local layer"},
    ServedProduct{"hyper-connections", "Weights with which residual streams are mixed", "in 16 bit"},
    ServedProduct{"recurrence input projection", "Input projection of the recurrence",
                  "values, gates, keys, queries and decays together"},
    ServedProduct{"recurrence output projection", "Output projection of the recurrence"},
    ServedProduct{"state projection", "Projection to time steps and states"},
    ServedProduct{"step projection", "Up-projection of the time steps"},
    ServedProduct{"decay projection", "Up-projection of the decays"},
    ServedProduct{"gate projection", "Up-projection of the gates"},
    ServedProduct{"gate+up projection", "Up projection of the MLP", "with its gate, if it has one"},
    ServedProduct{"down projection", "Down projection of the MLP"},
    ServedProduct{"router", "Router", "in 16 bit"},
    ServedProduct{"experts", "Routed experts"},  // timed with the routing and the down projection
    ServedProduct{"", "Down projection of the routed experts"},
    ServedProduct{"shared experts, gate+up", "Gate and up projection of the shared experts"},
    ServedProduct{"shared experts, down", "Down projection of the shared experts"},
    ServedProduct{"expert down projection", "Projection to the width of latent experts", "whole on every device"},
    ServedProduct{"expert up projection", "Projection back from the width of latent experts", "whole on every device"},
    ServedProduct{"layer embeddings", "Projection to the embeddings of all layers"},
    ServedProduct{"layer embeddings", "Gate of a layer's embedding", "whole on every device"},
    ServedProduct{"layer embeddings", "Projection back from a layer's embedding", "whole on every device"},
    ServedProduct{"LM head", "LM head", "in 16 bit"},
};
static_assert(kServed.size() == static_cast<std::size_t>(ProductId::kHead) + 1);

}  // namespace

const ServedProduct& ServedAs(ProductId id) { return kServed[static_cast<std::size_t>(id)]; }

namespace {

// Number of projections that engines run as one product, each with its own adapter: query, key, value; gate and up.
int PartsOf(ProductId id, const Model& model) {
  if (id == ProductId::kMlpIn) return model.gated ? 2 : 1;
  return id == ProductId::kQueryKeyValue ? 3 : 1;
}

// Outputs and inputs of a layer's projections on one device: adapter factors of rank r have r times as many elements.
// The factor that tensor parallelism does not split is whole on every device.
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
