#include "core/engine_step/host_experts.h"

#include <string>
#include <utility>
#include <vector>

#include "core/engine_step/host_link.h"
#include "core/engine_step/named_terms.h"
#include "core/operators/named_terms.h"
#include "core/workload/layer.h"

namespace slipstick {
namespace {

// A routed expert: the figures expert and expert_weights.
struct ExpertSize {
  double elements = 0;
  Bytes weights;
};
ExpertSize SizeOfExpert(const Deployment& deployment, Trace& trace) {
  const double expert =
      ElementsOf(deployment.shapes.expert_mlp, deployment.model, deployment.shapes.widths, "matrices", trace).expert;
  const Bytes weight_size = ElementSize(deployment.formats.mlp_weights);
  BindSize("weight_size", weight_size, false, "serving.precision.weights", trace);
  FIGURE(trace, expert_weights, expert * weight_size, (Note{"Weights of an expert", ""}), expert, weight_size);
  return {expert, expert_weights};
}

// Experts of a layer that get a row in a pass of `rows` tokens, counted as for the device's kernels.
double HitExperts(const Deployment& deployment, double rows, Trace& trace) {
  const double pass_tokens = rows;
  trace.Alias("pass_tokens", pass_tokens, "rows");
  const Trace::Scope scope(trace, "hit");
  MoeLayer layer;
  layer.experts = deployment.shapes.experts;
  layer.top_k = static_cast<double>(deployment.model.moe->top_k);
  const double top_k = layer.top_k;
  trace.Input("top_k", top_k, "model.moe.top_k");
  FIGURE(trace, expert_rows, pass_tokens * top_k, (Note{"Rows of the experts", "a token counts once per expert"}),
         pass_tokens, top_k);
  trace.Alias("rows", expert_rows, "expert_rows");
  return ExpertsHit(layer, expert_rows, deployment.device, trace);
}

Bytes HitWeights(const Deployment& deployment, double rows, Bytes expert_weights, Trace& trace) {
  const double experts_hit = HitExperts(deployment, rows, trace);
  FIGURE(trace, hit_weights, experts_hit * expert_weights, (Note{"Weights of the experts that get a row", ""}),
         experts_hit, expert_weights);
  return hit_weights;
}

BytesPerSecond HostLinkRate(const Deployment& deployment, Trace& trace) {
  const BytesPerSecond host_link = deployment.device.host.bandwidth;
  trace.Input("host_link", host_link, "cluster.device.host.bandwidth");
  return RateOfCopies(host_link, deployment.engine, trace);
}

// A layer's experts by the processor, which reads their weights in host memory; their tokens cross the host link.
KernelTime OnProcessor(const Deployment& deployment, double rows, Trace& trace) {
  const HostExperts& host = *deployment.load.host_experts;
  const HostProducts& engine = *deployment.engine.host_products;
  const BytesPerSecond host_rate = HostLinkRate(deployment, trace);
  const auto [expert, expert_weights] = SizeOfExpert(deployment, trace);
  const Bytes hit_weights = HitWeights(deployment, rows, expert_weights, trace);
  const double routed_width = RoutedWidth(deployment.model, trace),
               top_k = static_cast<double>(deployment.model.moe->top_k), host_stream = engine.bandwidth_efficiency;
  FIGURE(trace, crossing, 8 * kB * rows * routed_width / host_rate,
         (Note{"Tokens over the host link", "there and back, in fp32"}), rows, routed_width, host_rate);
  const BytesPerSecond memory_bandwidth = host.memory_bandwidth;
  const FlopsPerSecond processor = host.processor;
  const Seconds host_layer = engine.overhead;
  trace.Input("host_stream", host_stream, "serving.engine.host_products.stream");
  trace.Input("host_layer", host_layer, "serving.engine.host_products.layer");
  trace.Input("memory_bandwidth", memory_bandwidth, "serving.host_experts.memory_bandwidth");
  trace.Input("processor", processor, "serving.host_experts.processor");
  FIGURE(trace, reading, hit_weights / (host_stream * memory_bandwidth),
         (Note{"Time to read the weights", "in host memory"}), hit_weights, host_stream, memory_bandwidth);
  FIGURE(trace, computing, 2 * kFlop * rows * top_k * expert / processor, (Note{"Compute time of the processor", ""}),
         rows, top_k, expert, processor);
  FIGURE(trace, host_time, host_layer + max(reading, computing) + crossing,
         (Note{"Experts by the processor", "while the device waits",
               "llama.cpp, ggml_backend_sched: one part of the graph after the other"}),
         host_layer, reading, computing, crossing);
  KernelTime kernel;
  kernel.time = host_time;
  kernel.bound = Bound::kNetwork;  // the device's own rates do not matter
  return kernel;
}

// A layer's experts copied to the device.
KernelTime Copied(const Deployment& deployment, double rows, Trace& trace) {
  const BytesPerSecond host_rate = HostLinkRate(deployment, trace);
  const Bytes hit_weights = HitWeights(deployment, rows, SizeOfExpert(deployment, trace).weights, trace);
  FIGURE(trace, copy_time, hit_weights / host_rate,
         (Note{"Experts' weights from host memory", "of those that get a row; nothing hides the copy",
               "llama.cpp pull request 15346"}),
         hit_weights, host_rate);
  KernelTime kernel;
  kernel.time = copy_time;
  kernel.bound = Bound::kNetwork;
  return kernel;
}

}  // namespace

double HostLayers(const Deployment& deployment, Trace& trace) {
  const auto kept_layers = static_cast<double>(deployment.load.host_experts->layers);
  const double moe_layers = deployment.layers.moe;
  trace.Input("kept_layers", kept_layers, "serving.host_experts.layers");
  FIGURE(trace, host_layers, min(kept_layers, moe_layers),
         (Note{"Layers with experts in host memory", "at most those that have experts"}), kept_layers, moe_layers);
  return host_layers;
}

Bytes HostWeights(const Deployment& deployment, Trace& trace) {
  const Trace::Scope scope(trace, "host_experts");
  const double host_layers = HostLayers(deployment, trace), held_experts = deployment.shapes.experts;
  const Bytes expert_weights = SizeOfExpert(deployment, trace).weights, half = 2 * kB;
  const double expert_biases = ExpertBiases(deployment.model, deployment.shapes.widths, trace);
  FIGURE(trace, host_weights, host_layers * held_experts * (expert_weights + expert_biases * half),
         (Note{"Experts' weights in host memory", "with their biases, in 16 bit", "", "serving.host_bytes"}),
         host_layers, held_experts, expert_weights, expert_biases, half);
  return host_weights;
}

Seconds TimeHostExperts(const Deployment& deployment, double rows, const KernelTime& on_device, std::string_view name,
                        const Adder& add, Trace& trace) {
  const Seconds device_experts = on_device.time;
  trace.Alias("device_experts", device_experts, "time");
  const double moe_layers = deployment.layers.moe, host_layers = HostLayers(deployment, trace);
  const auto device_from = static_cast<double>(deployment.engine.host_products->device_from);
  const bool copies = rows >= device_from;
  const KernelTime host = [&] {
    const Trace::Scope scope(trace, "host");
    return copies ? Copied(deployment, rows, trace) : OnProcessor(deployment, rows, trace);
  }();
  trace.Alias("host_part", host.time, copies ? "copy_time" : "host_time");
  if (trace.on()) {
    trace.Input("device_from", device_from, "serving.engine.host_products.device_from");
    const Seconds host_part = host.time;
    const std::vector<std::pair<std::string, double>> among{{"by the processor: tokens of the pass", rows},
                                                            {"copied to the device: from", device_from}};
    trace.Choice("host_part", host_part, Note{"Experts in host memory", "the device computes those of many tokens"},
                 among, copies ? 1 : 0, "host_part, rows, device_from", host_part, rows, device_from);
    trace.MovesBy(0, 1);
  }
  const Seconds host_part = host.time;
  constexpr Note kNote{"Routed experts of a layer", "mean over layers with experts on the device and in host memory"};
  if (copies) {
    add(name, on_device);
    add.operators.Add(kExpertsFromHost, host, host_layers);
    FIGURE(trace, mean_experts, device_experts + host_layers / moe_layers * host_part, kNote, device_experts,
           host_layers, moe_layers, host_part);
    return mean_experts;
  }
  FIGURE(trace, device_layers, moe_layers - host_layers, (Note{"Layers with experts on the device", ""}), moe_layers,
         host_layers);
  if (device_layers > 0) Adder{add.operators, trace.Carry("device_layers", Ratio(device_layers))}(name, on_device);
  add.operators.Add(kExpertsOnHost, host, host_layers);
  FIGURE(trace, mean_experts, (device_layers * device_experts + host_layers * host_part) / moe_layers, kNote,
         device_layers, device_experts, host_layers, host_part, moe_layers);
  return mean_experts;
}

}  // namespace slipstick
