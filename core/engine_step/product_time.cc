#include "core/engine_step/product_time.h"

#include <optional>

#include "core/base/figure.h"
#include "core/engine_step/memo.h"
#include "core/engine_step/served_product.h"

namespace slipstick {
namespace {

Gemm GemmOf(const Deployment& deployment, const MatrixProduct& product, Ratio rows) {
  const ServedFormats& formats = deployment.formats;
  Gemm gemm;
  gemm.m = rows, gemm.n = product.outputs, gemm.k = product.inputs;
  const ProductRole role = TraitsOf(product.id).role;
  if (role == ProductRole::kMixer) {
    gemm.precision = formats.attention_activations, gemm.activation_size = formats.sizes.attention_activations;
    gemm.weights = formats.attention_weights, gemm.weight_size = formats.sizes.attention_weights;
  }
  if (role == ProductRole::kMlp) {
    gemm.precision = formats.activations, gemm.activation_size = formats.sizes.activations;
    gemm.weights = formats.mlp_weights, gemm.weight_size = formats.sizes.mlp_weights;
  }
  if (product.id == ProductId::kHead)
    gemm.weights = formats.head_weights, gemm.weight_size = formats.sizes.head_weights;
  gemm.quantize = BytesPerElement(gemm.precision) < 2;
  return gemm;
}

GemmKernelParameters ParametersOf(const Deployment& deployment, const Gemm& gemm) {
  GemmKernelParameters parameters = ServingKernelParameters(gemm, deployment.device);
  if (deployment.quantizes_apart) SetQuantizedApart(gemm, deployment.device, parameters);
  const std::optional<StoredProducts>& stored = deployment.engine.stored_products;
  const GemmKernel kernel = KernelOf(gemm, deployment.device);
  if (!stored || (kernel != GemmKernel::kInt8Weights && kernel != GemmKernel::kInt4Weights)) return parameters;
  parameters.in_turn = true;
  SetStored(deployment, gemm.m <= Ratio(stored->vector_rows), stored->tile_rows, parameters);
  return parameters;
}

}  // namespace

void SetStored(const Deployment& deployment, bool is_vector, Ratio tile_rows, GemmKernelParameters& parameters) {
  const StoredProducts& stored = *deployment.engine.stored_products;
  parameters.stored_per_clock = is_vector ? stored.vector_per_clock : stored.per_clock;
  parameters.stored_tile = is_vector ? Ratio(0) : tile_rows;
  if (is_vector) return;
  for (const EngineOn& exception : deployment.engine.on) {
    if (exception.architecture == deployment.cluster.device.architecture && exception.stored_per_clock)
      parameters.stored_per_clock = *exception.stored_per_clock;
  }
}

KernelTime TimeProduct(const Deployment& deployment, const MatrixProduct& product, Ratio rows) {
  const Gemm gemm = GemmOf(deployment, product, rows);
  const auto timed = [&] { return TimeOf(gemm, deployment.device, ParametersOf(deployment, gemm)); };
  KernelTime kernel = deployment.memo == nullptr ? timed() : deployment.memo->Product(gemm, timed);
  const ServedProduct& served = ServedAs(product.id);
  kernel.time = Figure(served.title, kernel.time, served.note);
  return kernel;
}

}  // namespace slipstick
