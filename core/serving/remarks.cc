#include "core/serving/remarks.h"

#include <algorithm>

#include "core/operators/efficiency.h"
#include "core/operators/substitution.h"

namespace slipstick {
namespace {

std::string Named(Precision precision) { return std::string(NameOf(precision)); }

void Add(std::vector<std::string>& texts, const std::string& text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
}

void AddProducts(const Deployment& d, const Device& device, std::vector<std::string>& texts) {
  for (const Precision asked : {d.activations, d.attention_activations}) {
    std::string text = SubstitutionText(device, asked);
    if (text.empty()) continue;
    const bool narrow_weights = BytesPerElement(d.mlp_weights) < BytesPerElement(*SubstituteFor(device, asked));
    if (narrow_weights) text += ", and weights stay stored in " + Named(d.mlp_weights);
    Add(texts, text + ".");
  }
}

// A cache of integers holds numbers that attention always widens; one of narrow floats is read as it is where units for it exist.
void AddCache(const Deployment& d, const Device& device, std::vector<std::string>& texts) {
  const Precision cache = d.cache;
  if (BytesPerElement(cache) >= 2 || !(IsEightBitFloat(cache) || IsFourBitFloat(cache)) || !SubstituteFor(device, cache)) return;
  Add(texts, device.name + " has no " + Named(cache) + " arithmetic: the KV cache stays stored in " + Named(cache) +
                 ", and attention is computed in a wider format.");
}

}  // namespace

std::vector<std::string> SubstitutionsOf(const Deployment& d) {
  std::vector<std::string> texts;
  const Precision asked = d.load.precision.activations;
  if (d.engine.layer_pipeline) {
    if (BytesPerElement(asked) < 2) Add(texts, d.engine.name + " computes matrix products in fp16, not in " + Named(asked) + ".");
    return texts;
  }
  if (d.activations != asked) {
    Add(texts, "Weights in " + Named(d.mlp_weights) + " are widened as they are read: matrix products are computed in " +
                   Named(d.activations) + ", not in " + Named(asked) + ".");
  }
  std::vector<const Device*> devices{&d.device};
  if (d.load.disaggregated && d.load.disaggregated->prefill_device) devices.push_back(&*d.load.disaggregated->prefill_device);
  for (const Device* device : devices) {
    AddProducts(d, *device, texts);
    AddCache(d, *device, texts);
  }
  return texts;
}

std::vector<std::string> AssumedInputs(const Deployment& d) {
  using A = AssumedEfficiency;
  std::vector<AssumedFlag> used{&A::usable};
  if (!d.engine.layer_pipeline && !d.engine.compiled_graph) {
    used.insert(used.end(), {&A::gemm_efficiency, &A::clock_derating, &A::bandwidth_efficiency, &A::launch_latency});
    if (d.attention_layers > 0 && !d.model.mla) used.push_back(&A::decode_bandwidth_efficiency);
    const bool fused = d.engine.kernels.attention != AttentionLibrary::kUnfused;
    if (d.attention_layers > 0 && !d.model.mla && fused) used.insert(used.end(), {&A::l2_bandwidth, &A::usable_l2_fraction});
    const auto in_fp8 = [&](Precision asked) { return IsEightBitFloat(NativePrecision(d.device, asked)); };
    if (in_fp8(d.activations) || in_fp8(d.attention_activations)) used.push_back(&A::gemm_efficiency_fp8);
  }
  std::vector<std::string> paths = AssumedPaths(d.device, "cluster.device", used);
  if (d.load.disaggregated && d.load.disaggregated->prefill_device) {
    Device prefiller = *d.load.disaggregated->prefill_device;
    CompleteEfficiency(prefiller);
    for (std::string& path : AssumedPaths(prefiller, "serving.disaggregated.prefill_device", used)) paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace slipstick
