#include "core/serving/named_terms.h"

#include "core/base/bind_inputs.h"
#include "core/base/figure.h"
#include "core/engine_step/adapters.h"
#include "core/engine_step/compressed_time.h"
#include "core/engine_step/exchange.h"
#include "core/engine_step/host_experts.h"
#include "core/engine_step/image_encoder.h"
#include "core/engine_step/mixed_step.h"
#include "core/engine_step/named_terms.h"
#include "core/engine_step/served_product.h"
#include "core/engine_step/step_time.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"
#include "core/workload/layer.h"

namespace slipstick {
namespace {

using internal::WithTrace;

// What the call returns, which it records as a figure of this name.
template <class Call>
auto Carried(std::string_view symbol, const Deployment& deployment, const Call& call) {
  return WithTrace(deployment,
                   [&](Trace& trace, const Deployment& plain) { return trace.Carry(symbol, call(trace, plain)); });
}

}  // namespace

Bytes UsableMemory(const Deployment& deployment) {
  return InputAt("cluster.device.memory.usable", UsableMemory(deployment.device), deployment);
}

Bytes WeightElement(Precision weights, bool kept, const Deployment& deployment) {
  return WithTrace(deployment, [&](Trace& trace, const Deployment& plain) {
    BindWeightSize("weight_size", weights, kept, plain, trace);
    return trace.Carry("weight_size", ElementSize(weights));
  });
}

Bytes CacheElement(const Deployment& deployment) {
  return InputAt("serving.precision.kv_cache", ElementSize(deployment.formats.kv_cache), deployment);
}

Ratio WindowKvHeads(const Deployment& deployment) {
  return Carried("window_kv_heads", deployment,
                 [](Trace&, const Deployment& plain) { return Ratio(plain.model.WindowKvHeads()); });
}

Ratio NormElements(const Deployment& deployment) {
  return Carried("norm_elements", deployment,
                 [](Trace& trace, const Deployment& plain) { return Ratio(NormElements(plain.model, trace)); });
}

Ratio LayerRows(const Deployment& deployment) {
  return Carried("layer_rows", deployment,
                 [](Trace& trace, const Deployment& plain) { return Ratio(LayerRows(plain.model, trace)); });
}

PartElements ElementsOf(Mixer mixer, const MatrixProducts& products, const Deployment& deployment) {
  return WithTrace(deployment, [&](Trace& trace, const Deployment& plain) {
    const Trace::Scope scope(trace, "weights.mixer " + std::to_string(static_cast<int>(mixer)));
    const LayerWidths& widths = plain.shapes.widths;
    const Ratio matrices = ElementsOf(products, plain.model, widths, "matrices", trace).all_tokens,
                small = SmallElements(plain.model, mixer, widths, trace);
    return PartElements{trace.Carry("matrices", matrices), trace.Carry("small_mixer", small)};
  });
}

PartElements ElementsOfMlp(const MatrixProducts& products, bool shares_kv, const Deployment& deployment) {
  return WithTrace(deployment, [&](Trace& trace, const Deployment& plain) {
    const Trace::Scope scope(trace, shares_kv ? "weights.shared_kv_mlp" : "weights.mlp");
    const LayerWidths widths = shares_kv ? SharedKvWidths(plain.shapes.widths, trace) : plain.shapes.widths;
    const Ratio matrices = ElementsOf(products, plain.model, widths, "matrices", trace).all_tokens,
                small = SmallElements(plain.model, FeedForward::kDense, widths, trace);
    return PartElements{trace.Carry("matrices", matrices), trace.Carry("small_mlp", small)};
  });
}

Ratio ElementsOf(const MatrixProduct& product, const Deployment& deployment) {
  return WithTrace(deployment, [&](Trace& trace, const Deployment& plain) {
    const Trace::Scope experts(trace, "weights.experts"), scope(trace, ServedAs(product.id).scope);
    if (trace.on()) ProductOf(product.id, plain.model, plain.shapes.widths, trace);
    return Figure("Weights of the GEMM",
                  trace.Carry("outputs", product.outputs) * trace.Carry("inputs", product.inputs), "on one device");
  });
}

SmallExpertElements SmallElementsOfExperts(const Deployment& deployment) {
  return WithTrace(deployment, [](Trace& trace, const Deployment& plain) {
    const Trace::Scope scope(trace, "weights.experts");
    const LayerWidths& widths = plain.shapes.widths;
    const Ratio layer = SmallElements(plain.model, FeedForward::kExperts, widths, trace),
                expert = ExpertBiases(plain.model, widths, trace);
    return SmallExpertElements{trace.Carry("small_mlp", layer), trace.Carry("expert_biases", expert)};
  });
}

Seconds HandOverTime(Bytes kv_cache, const Deployment& deployment) {
  const Route& route = deployment.network.hand_over;
  const StepTable& step = deployment.device.architecture->step;
  const Seconds time = Figure("KV-cache transfer to the decode pool",
                              step.send_launch + kv_cache / (step.send_efficiency * route.link),
                              "every rank sends its own part; estimate");
  return OverFurtherWires(time, route);
}

namespace {

PassWork WorkOn(const Device& device, const OperatorBreakdown& operators, const Deployment& plain, Trace& trace) {
  const auto input = [&trace](const std::string& path, auto value) {
    BindInputs(value, "cluster.device." + path, trace);
    return value;
  };
  PassWork work;
  work.flops = operators.FlopsOf();
  work.bytes = operators.BytesOf();
  work.peak_rate = PeakRate(Named(device, trace), plain.formats.activations);
  work.bandwidth = input("memory.bandwidth", device.memory.bandwidth);
  work.idle = input("idle", device.idle);
  work.tdp = input("tdp", device.tdp);
  return work;
}

}  // namespace

PassWork WorkOf(const OperatorBreakdown& operators, Phase phase, const Deployment& deployment) {
  return WithTrace(deployment, [&](Trace& trace, const Deployment& plain) {
    const Trace::Scope scope(trace, phase == Phase::kDecode ? "decode" : "prefill");
    return WorkOn(plain.requested->device, operators, plain, trace);
  });
}

PassWork WorkOfPrefillPool(const OperatorBreakdown& operators, const Deployment& deployment) {
  return WithTrace(deployment, [&](Trace& trace, const Deployment& plain) {
    const Trace::Scope pool(trace, kPrefillPool), scope(trace, "prefill");
    const std::optional<Device>& own = plain.load.disaggregated->prefill_device;
    return WorkOn(own ? *own : plain.requested->device, operators, plain, trace);
  });
}

TimeByBound SplitByBound(Seconds total, const TimeByBound& operators, std::string_view report,
                         const Deployment& deployment) {
  return WithTrace(deployment, [&](Trace& trace, const Deployment&) {
    NameNode("total", total, trace);
    return SplitByBound(total, "total", operators, {}, report, trace);
  });
}

Ratio ShareAt(const std::string& path, Ratio share, const Deployment& deployment) {
  if (deployment.explained == nullptr) return share;
  Tape& tape = deployment.explained->trace.tape();
  return Ratio::FromBase(share, tape.Constant(path + "_share", share, Ratio::kDimension, "Share of the operators",
                                              "of this kind, by their times in the report"));
}

BytesPerToken CompressedGrowth(const Deployment& deployment) {
  return Carried("layer_growth", deployment,
                 [](Trace& trace, const Deployment& plain) { return CompressedGrowth(plain, trace); });
}

Bytes CompressedFixed(const Deployment& deployment, Ratio held_tokens) {
  return WithTrace(deployment, [&](Trace& trace, const Deployment& plain) {
    trace.Alias("held_tokens", held_tokens, "the node of held_tokens");
    return trace.Carry("layer_fixed", CompressedFixed(plain, held_tokens, trace));
  });
}

Ratio HostLayers(const Deployment& deployment) {
  return Carried("host_layers", deployment,
                 [](Trace& trace, const Deployment& plain) { return Ratio(HostLayers(plain, trace)); });
}

Bytes HostWeights(const Deployment& deployment) {
  return Carried("host_weights", deployment,
                 [](Trace& trace, const Deployment& plain) { return HostWeights(plain, trace); });
}

Bytes AdapterWeights(const Deployment& deployment) {
  return Carried("adapter_weights", deployment,
                 [](Trace& trace, const Deployment& plain) { return AdapterWeights(plain, trace); });
}

Bytes EncoderWeights(const Deployment& deployment) {
  return Carried("encoder_weights", deployment,
                 [](Trace& trace, const Deployment& plain) { return EncoderWeights(plain, trace); });
}

}  // namespace slipstick
