#include "core/engine_step/layer_parts.h"

#include "core/base/figure.h"
#include "core/engine_step/adapters.h"
#include "core/engine_step/exchange.h"
#include "core/engine_step/product_time.h"
#include "core/engine_step/served_product.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"

namespace slipstick {

Seconds Adder::operator()(const Deployment& deployment, const MatrixProduct& product, Ratio rows) const {
  return (*this)(ServedAs(product.id).name, TimeProduct(deployment, product, rows));
}

Seconds Adder::Adapters(const Deployment& deployment, const MatrixProducts& products, Ratio rows) const {
  if (!deployment.load.adapters) return {};
  return (*this)("low-rank adapters", TimeOfAdapters(deployment, products, rows));
}

Seconds SharedKvProjections(const Deployment& deployment, Ratio rows, OperatorBreakdown& operators) {
  const RankShapes& shapes = deployment.shapes;
  const LayersByKv by_kv = SplitBySharedKv(deployment.layers);
  Seconds all;
  const auto part = [&](const MatrixProducts& products, Ratio layers) {
    if (layers <= 0) return;
    const Adder add{operators, layers};
    Seconds one;
    for (const MatrixProduct& product : products) one += add(deployment, product, rows);
    one += add.Adapters(deployment, products, rows);
    all += Figure("Projections of a kind of attention", one) * layers;
  };
  part(shapes.attention, by_kv.own_full);
  part(shapes.window_attention, by_kv.own_window);
  part(shapes.shared_kv_attention, by_kv.shared_full);
  part(shapes.shared_kv_window_attention, deployment.layers.shared_kv_window);
  return Figure("Projections of attention",
                Figure("Projections of attention in all layers", all) / deployment.layers.attention,
                "mean over the kinds");
}

namespace {

Seconds DenseMlp(const Deployment& deployment, const MatrixProducts& products, Ratio rows, const Adder& add) {
  Seconds sum;
  for (const MatrixProduct& product : products) {
    if (product.id != ProductId::kLayerInputs) sum += add(deployment, product, rows);
  }
  sum += add.Adapters(deployment, products, rows);
  return Figure("Dense MLP", sum);
}

}  // namespace

Seconds MlpOf(const Deployment& deployment, Ratio rows, OperatorBreakdown& operators) {
  const Ratio dense = deployment.layers.dense, sharing = deployment.layers.shared_kv;
  const MatrixProducts& products = deployment.shapes.mlp;
  if (!deployment.model.SharesKv()) return DenseMlp(deployment, products, rows, Adder{operators, dense});
  const Ratio own = OwnDenseLayers(deployment.layers);
  const Seconds own_mlp = DenseMlp(deployment, products, rows, Adder{operators, own});
  const Seconds shared_mlp = DenseMlp(deployment, deployment.shapes.shared_kv_mlp, rows, Adder{operators, sharing});
  return Figure("Dense MLP", (own * own_mlp + sharing * shared_mlp) / dense,
                "mean over the layers with a KV cache and those that share one");
}

namespace {

// Rows of the tables, gathered, normed and added to the projection.
KernelTime RowsOfTables(const Deployment& deployment, Bytes one_pass) {
  const Efficiency& efficiency = deployment.device.efficiency;
  const Seconds launch = *efficiency.launch_latency;
  const Stream data = SlowestStream(deployment.device);
  const Bytes bytes = Figure("Rows of the tables and the projection added to them", 8 * one_pass,
                             "gathered, normed and added: four passes that read and write");
  const Seconds move_time = bytes / (data.bandwidth * *efficiency.bandwidth_efficiency);
  const Seconds time = Figure("Rows of the tables, normed and added", 3 * launch + move_time, "three kernels");
  return {time, {}, move_time, 6 * launch > time ? Bound::kLatency : data.bound, {}, bytes};
}

}  // namespace

Seconds LayerInputs(const Deployment& deployment, Ratio rows, Phase phase, OperatorBreakdown& operators) {
  const Ratio layers = deployment.layers.total;
  MatrixProduct projection = *deployment.shapes.mlp.Find(ProductId::kLayerInputs);
  projection.outputs *= layers;
  const KernelTime product = TimeProduct(deployment, projection, rows);
  operators.Add("layer embeddings", product, 1);
  const Bytes one_pass = Figure("Rows of the tables of all layers",
                                rows * layers * Ratio(deployment.model.layer_embeddings.width) * (2.0 * kB));
  const KernelTime gathered = RowsOfTables(deployment, one_pass);
  operators.Add("layer embeddings", gathered, 1);
  if (deployment.mapping.devices_per_group <= 1)
    return Figure("Embeddings of all layers", product.time + gathered.time, "once per pass");
  // Each rank has a part of a table's rows, and of the projection's columns: both are summed up, as the embedding's
  // rows are.
  const bool waits_for_host = phase == Phase::kPrefill || !deployment.launch.graphs;
  const ExchangeCost exchange = AllReduce(deployment, one_pass, waits_for_host);
  operators.Add("all-reduce", exchange.kernel, 2);
  return Figure("Embeddings of all layers", product.time + gathered.time + 2 * exchange.kernel.time,
                "once per pass; rows and projection gathered from the ranks");
}

}  // namespace slipstick
