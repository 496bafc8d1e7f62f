#include "core/engine_step/product_time.h"

#include <optional>
#include <string_view>
#include <vector>

#include "core/engine_step/memo.h"
#include "core/engine_step/named_terms.h"
#include "core/engine_step/served_product.h"
#include "core/operators/named_terms.h"

namespace slipstick {
namespace {

Gemm GemmOf(const Deployment& deployment, const MatrixProduct& product, double rows) {
  Gemm gemm;
  gemm.m = rows, gemm.n = product.outputs, gemm.k = product.inputs;
  const ProductRole role = TraitsOf(product.id).role;
  if (role == ProductRole::kMixer)
    gemm.precision = deployment.formats.attention_activations, gemm.weights = deployment.formats.attention_weights;
  if (role == ProductRole::kMlp)
    gemm.precision = deployment.formats.activations, gemm.weights = deployment.formats.mlp_weights;
  if (product.id == ProductId::kHead) gemm.weights = deployment.formats.head_weights;
  gemm.quantize = BytesPerElement(gemm.precision) < 2;
  return gemm;
}

// Rows, outputs and inputs of the product, under their names in a GEMM.
void ExplainShape(const Deployment& deployment, const MatrixProduct& product, double rows, Trace& trace) {
  if (!trace.on()) return;
  const LayerWidths& widths = deployment.shapes.widths;
  const ProductRole role = TraitsOf(product.id).role;
  const bool is_mixer = role == ProductRole::kMixer, is_head = product.id == ProductId::kHead;
  const Gemm gemm = GemmOf(deployment, product, rows);
  if (is_head || role != ProductRole::kWide) {
    const bool keeps_weights = is_head ? deployment.formats.keeps_head : is_mixer && deployment.formats.keeps_attention;
    BindWeightSize("weight_size", gemm.weights, keeps_weights, deployment, trace);
  } else {
    BindSize("weight_size", ElementSize(gemm.weights), true, "", trace);
  }
  BindSize("activation_size", ElementSize(NativePrecision(deployment.device, gemm.precision)),
           role == ProductRole::kWide ||
               (is_mixer && deployment.formats.keeps_attention && !deployment.formats.keeps_as_model),
           is_mixer && deployment.formats.keeps_as_model ? "model.compressed.weights" : "serving.precision.activations",
           trace);
  BindSize("output_size", gemm.output_bytes * kB, true, "", trace);
  const MatrixProduct own = ProductOf(product.id, deployment.model, widths, trace);
  trace.Alias("m", rows, "rows");
  trace.Alias("k", product.inputs, "inputs");
  if (product.outputs == own.outputs) return trace.Alias("n", product.outputs, "outputs");
  if (product.id == ProductId::kLayerInputs) {  // of all layers in one
    const double outputs = own.outputs, layers = deployment.layers.total;
    FIGURE(trace, n, outputs * layers, (Note{"Outputs of the projection", "for all layers"}), outputs, layers);
    return;
  }
  // Both down-projections of MLA in one.
  const double query_outputs = own.outputs;
  trace.Alias("query_outputs", query_outputs, "outputs");
  const Trace::Scope scope(trace, "latent");
  const double latent_outputs = ProductOf(ProductId::kKeyValueDown, deployment.model, widths, trace).outputs;
  trace.Alias("latent_outputs", latent_outputs, "outputs");
  FIGURE(trace, n, query_outputs + latent_outputs, (Note{"Outputs of both down-projections"}), query_outputs,
         latent_outputs);
}

void SetStoredProducts(const Deployment& deployment, const Gemm& gemm, double rows, GemmKernelParameters& parameters,
                       Trace& trace) {
  const std::optional<StoredProducts>& stored = deployment.engine.stored_products;
  const GemmKernel kernel = KernelOf(gemm, deployment.device);
  if (!stored || (kernel != GemmKernel::kInt8Weights && kernel != GemmKernel::kInt4Weights)) return;
  const auto stored_tile = static_cast<double>(stored->tile_rows);
  trace.Input("stored_tile", stored_tile, "serving.engine.stored_products.tile_rows");
  parameters.in_turn = true;
  SetStored(deployment, rows <= static_cast<double>(stored->vector_rows), stored_tile, parameters, trace);
}

}  // namespace

void SetStored(const Deployment& deployment, bool is_vector, double tile_rows, GemmKernelParameters& parameters,
               Trace& trace) {
  const StoredProducts& stored = *deployment.engine.stored_products;
  parameters.stored_per_clock = is_vector ? stored.vector_per_clock : stored.per_clock;
  parameters.stored_tile = is_vector ? Ratio(0) : trace.Carry("stored_tile", Ratio(tile_rows));
  std::optional<std::size_t> row;
  const std::vector<EngineOn>& exceptions = deployment.engine.on;
  for (std::size_t i = 0; !is_vector && i < exceptions.size(); ++i) {
    if (exceptions[i].architecture != deployment.cluster.device.architecture || !exceptions[i].stored_per_clock)
      continue;
    parameters.stored_per_clock = *exceptions[i].stored_per_clock;
    row = i;
  }
  if (!trace.on()) return;
  const std::string_view field = is_vector ? "stored_products.vector_per_clock" : "stored_products.per_clock";
  trace.Input("stored_per_clock", parameters.stored_per_clock, EnginePath(row, row ? "stored_per_clock" : field));
  parameters.stored_per_clock = trace.Carry("stored_per_clock", parameters.stored_per_clock);
}

KernelTime TimeProduct(const Deployment& deployment, const MatrixProduct& product, double rows, Trace& trace) {
  const ServedProduct& served = ServedAs(product.id);
  const Gemm gemm = GemmOf(deployment, product, rows);
  const auto timed = [&] {
    const Trace::Scope scope(trace, served.scope);
    ExplainShape(deployment, product, rows, trace);
    const Device& device = Named(deployment.device, trace);
    GemmKernelParameters parameters = ServingKernelParameters(gemm, device);
    if (deployment.quantizes_apart) SetQuantizedApart(gemm, device, parameters);
    SetStoredProducts(deployment, gemm, rows, parameters, trace);
    return TimeOf(gemm, deployment.device, parameters, trace);
  };
  const KernelTime kernel = deployment.memo == nullptr || trace.on() ? timed() : deployment.memo->Product(gemm, timed);
  trace.Record(served.symbol, "time", kernel.time, served.note, "time", kernel.time);
  return kernel;
}

}  // namespace slipstick
