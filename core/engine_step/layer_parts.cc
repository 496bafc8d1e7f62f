#include "core/engine_step/layer_parts.h"

#include "core/engine_step/exchange.h"
#include "core/engine_step/kernel_terms.h"
#include "core/engine_step/served_product.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"

namespace slipstick {

void Adder::operator()(const Deployment& deployment, const MatrixProduct& product, double rows, ListedSum<Seconds>& sum,
                       Trace& trace) const {
  const ServedProduct& served = ServedAs(product.id);
  sum.Add(served.symbol, (*this)(served.name, TimeProduct(deployment, product, rows, trace), trace));
}

void AddAdapters(const Deployment& deployment, const MatrixProducts& products, double rows, const Adder& add,
                 ListedSum<Seconds>& sum, Trace& trace) {
  if (!deployment.load.adapters) return;
  sum.Add("adapter_time", add("low-rank adapters", TimeOfAdapters(deployment, products, rows, trace), trace));
}

Seconds SharedKvProjections(const Deployment& deployment, double rows, OperatorBreakdown& operators, Trace& trace) {
  const RankShapes& shapes = deployment.shapes;
  const double attention_layers = deployment.layers.attention,
               shared_kv_window_layers = deployment.layers.shared_kv_window;
  const auto [own_full_layers, own_window_layers, shared_kv_full_layers] = SplitBySharedKv(deployment.layers, trace);
  ListedSum<Seconds> all(trace);
  const auto part = [&](std::string_view name, const MatrixProducts& products, double layers,
                        std::string_view layers_are) {
    if (layers <= 0) return;
    const Seconds time = [&] {
      const Trace::Scope scope(trace, name);
      ListedSum<Seconds> sum(trace);
      const Adder add{operators, layers, layers_are};
      for (const MatrixProduct& product : products) add(deployment, product, rows, sum, trace);
      AddAdapters(deployment, products, rows, add, sum, trace);
      return sum.Total("part", {"Projections of a kind of attention"});
    }();
    all.Add(name, time, layers, "part", layers_are);
  };
  part("own_full", shapes.attention, own_full_layers, "own_full_layers");
  part("own_local", shapes.window_attention, own_window_layers, "own_window_layers");
  part("shared_full", shapes.shared_kv_attention, shared_kv_full_layers, "shared_kv_full_layers");
  part("shared_local", shapes.shared_kv_window_attention, shared_kv_window_layers, "shared_kv_window_layers");
  const Seconds all_projections = all.Total("all_projections", {"Projections of attention in all layers"});
  FIGURE(trace, projections, all_projections / attention_layers,
         (Note{"Projections of attention", "mean over the kinds"}), all_projections, attention_layers);
  return projections;
}

namespace {

Seconds DenseMlp(const Deployment& deployment, const MatrixProducts& products, double rows, const Adder& add,
                 Trace& trace) {
  ListedSum<Seconds> sum(trace);
  for (const MatrixProduct& product : products) {
    if (product.id != ProductId::kLayerInputs) add(deployment, product, rows, sum, trace);
  }
  AddAdapters(deployment, products, rows, add, sum, trace);
  return sum.Total("mlp", {"Dense MLP"});
}

}  // namespace

Seconds MlpOf(const Deployment& deployment, double rows, OperatorBreakdown& operators, Trace& trace) {
  const double dense_layers = deployment.layers.dense, shared_kv_layers = deployment.layers.shared_kv;
  const MatrixProducts& products = deployment.shapes.mlp;
  if (!deployment.model.SharesKv())
    return DenseMlp(deployment, products, rows, Adder{operators, dense_layers, "dense_layers"}, trace);
  const double own_dense_layers = OwnDenseLayers(deployment.layers, trace);
  const Seconds own_mlp =
      DenseMlp(deployment, products, rows, Adder{operators, own_dense_layers, "own_dense_layers"}, trace);
  trace.Alias("own_mlp", own_mlp, "mlp");
  const Seconds shared_mlp = [&] {
    const Trace::Scope scope(trace, "shared_kv");
    const MatrixProducts& wide_products = deployment.shapes.shared_kv_mlp;
    const Adder add{operators, shared_kv_layers, "shared_kv_layers"};
    if (!trace.on()) return DenseMlp(deployment, wide_products, rows, add, trace);
    Deployment wide = deployment;  // its widths are those that the explanation names
    wide.shapes.widths = SharedKvWidths(deployment.shapes.widths, trace);
    return DenseMlp(wide, wide_products, rows, add, trace);
  }();
  trace.Alias("shared_mlp", shared_mlp, "mlp");
  FIGURE(trace, mean_mlp, (own_dense_layers * own_mlp + shared_kv_layers * shared_mlp) / dense_layers,
         (Note{"Dense MLP", "mean over the layers with a KV cache and those that share one"}), own_dense_layers,
         own_mlp, shared_kv_layers, shared_mlp, dense_layers);
  trace.Alias("mlp", mean_mlp, "mean_mlp");
  return mean_mlp;
}

Seconds LayerInputs(const Deployment& deployment, double rows, Phase phase, OperatorBreakdown& operators,
                    Trace& trace) {
  const Trace::Scope scope(trace, "layer_inputs");
  const double layers = deployment.layers.total,
               layer_embedding = static_cast<double>(deployment.model.layer_embeddings.width);
  const Seconds launch = *deployment.device.efficiency.launch_latency;
  const double stream = *deployment.device.efficiency.bandwidth_efficiency;
  trace.Input("layer_embedding", layer_embedding, "model.layer_embedding");
  trace.Input("launch", launch, "cluster.device.efficiency.launch");
  trace.Input("stream", stream, "cluster.device.efficiency.stream");
  MatrixProduct projection = *deployment.shapes.mlp.Find(ProductId::kLayerInputs);
  projection.outputs *= layers;
  const KernelTime product = TimeProduct(deployment, projection, rows, trace);
  const Seconds projected = product.time;
  trace.Alias("projected", projected, "layer_inputs");
  operators.Add("layer embeddings", product, 1, "", trace);
  const Stream data = SlowestStream(deployment.device, trace);
  const BytesPerSecond bandwidth = data.bandwidth;
  const Bytes half = 2.0 * kB;
  FIGURE(trace, bytes, 8 * rows * layers * layer_embedding * half,
         (Note{"Rows of the tables and the projection added to them",
               "gathered, normed and added: four passes that read and write"}),
         rows, layers, layer_embedding, half);
  FIGURE(trace, added_time, 3 * launch + bytes / (bandwidth * stream),
         (Note{"Rows of the tables, normed and added", "three kernels"}), launch, bytes, bandwidth, stream);
  KernelTime gathered{added_time, {}, bytes / (bandwidth * stream), data.bound, {}, bytes};
  if (6 * launch > added_time) gathered.bound = Bound::kLatency;
  operators.Add("layer embeddings", gathered, 1, "", trace);
  if (deployment.mapping.devices_per_group <= 1) {
    FIGURE(trace, inputs, projected + added_time, (Note{"Embeddings of all layers", "once per pass"}), projected,
           added_time);
    return inputs;
  }
  // Each rank has a part of a table's rows, and of the projection's columns: both are summed up, as the embedding's
  // rows are.
  FIGURE(trace, exchanged, rows * layers * layer_embedding * half,
         (Note{"Rows of the tables that the ranks add up", ""}), rows, layers, layer_embedding, half);
  trace.Alias("bytes", exchanged, "exchanged");
  const bool waits_for_host = phase == Phase::kPrefill || !deployment.launch.graphs;
  const ExchangeCost exchange = AllReduce(deployment, exchanged, waits_for_host, trace);
  operators.Add("all-reduce", exchange.kernel, 2);
  const Seconds reduction_time = exchange.kernel.time;
  FIGURE(trace, inputs, projected + added_time + 2 * reduction_time,
         (Note{"Embeddings of all layers", "once per pass; rows and projection gathered from the ranks"}), projected,
         added_time, reduction_time);
  return inputs;
}

}  // namespace slipstick
