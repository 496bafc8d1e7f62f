#include "core/serving/remarks.h"

#include <algorithm>

#include "core/base/listed.h"
#include "core/engine_step/step_time.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

std::string Named(Precision precision) { return std::string(NameOf(precision)); }

void Add(std::vector<std::string>& texts, const std::string& text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
}

void AddGemms(const Deployment& deployment, const Device& device, std::vector<std::string>& texts) {
  for (const Precision requested : {deployment.formats.activations, deployment.formats.attention_activations}) {
    std::string text = SubstitutionText(device, requested);
    if (text.empty()) continue;
    const bool narrow_weights =
        BytesPerElement(deployment.formats.mlp_weights) < BytesPerElement(*SubstituteFor(device, requested));
    if (narrow_weights) text += ", and weights stay stored in " + Named(deployment.formats.mlp_weights);
    Add(texts, text + ".");
  }
}

// Weights at least as wide as the format of the GEMMs, but in another format.
void AddConversion(const Deployment& deployment, const Device& device, std::vector<std::string>& texts) {
  const Precision weights = deployment.formats.mlp_weights;
  const Precision computed =
      SubstituteFor(device, deployment.formats.activations).value_or(deployment.formats.activations);
  const bool is_narrow = BytesPerElement(computed) < 2, is_smaller = BytesPerElement(weights) < 1;
  if (!is_narrow || is_smaller || SameElements(weights, computed)) return;
  if (computed == Precision::kInt8 && weights == Precision::kQ8_0) return;
  Add(texts, "Weights in " + Named(weights) + " with activations in " + Named(deployment.formats.activations) +
                 ": matrix products are timed in " + Named(computed) +
                 ", as if the weights were converted while they are read.");
}

// An engine that lists its formats has no kernels for others: the model times it as if it had.
void AddWeights(const Deployment& deployment, std::vector<std::string>& texts) {
  const std::vector<Precision>& formats = deployment.engine.formats.weights;
  const Precision requested = deployment.load.precision.weights;
  if (formats.empty() || std::find(formats.begin(), formats.end(), requested) != formats.end()) return;
  Add(texts, deployment.engine.name + " has no weights in " + Named(requested) +
                 ": they are timed as if it had. It has " + Listed(formats, Named) + ".");
}

// Attention always widens an integer KV cache; a narrow float KV cache is used directly if the device computes in its
// format.
void AddKvCache(const Deployment& deployment, const Device& device, std::vector<std::string>& texts) {
  const Precision kv_cache = deployment.formats.kv_cache;
  if (BytesPerElement(kv_cache) >= 2 || !(IsEightBitFloat(kv_cache) || IsFourBitFloat(kv_cache)) ||
      !SubstituteFor(device, kv_cache))
    return;
  Add(texts, device.name + " has no " + Named(kv_cache) + " arithmetic: the KV cache stays stored in " +
                 Named(kv_cache) + ", and attention is computed in a wider format.");
}

// Only dedicated kernels read just a part of the context.
void AddAttention(const Deployment& deployment, std::vector<std::string>& texts) {
  if (CompositionOf(deployment.engine).reads_parts_of_context) return;
  const std::string whole = deployment.engine.name + " is timed with attention to the whole context: ";
  if (deployment.model.indexer) Add(texts, whole + "scores and selection of the model's indexer are not computed.");
  if (deployment.model.compressed) Add(texts, whole + "the model's compressed history is read token by token.");
  if (deployment.layers.window > 0) Add(texts, whole + "the model's sliding windows shorten no step.");
  if (deployment.model.HasWindowHeads())
    Add(texts, whole + "the heads of its local layers are taken as those of the others.");
}

// Engines place equally many experts on each rank: where the degree does not divide them, copies fill the ranks.
void AddCopies(const Deployment& deployment, std::vector<std::string>& texts) {
  if (!deployment.model.moe) return;
  const Count experts = deployment.model.moe->experts + deployment.load.redundant_experts,
              ep = deployment.load.mapping.ep, missing = (ep - experts % ep) % ep;
  if (missing > 0)
    Add(texts, "EP " + std::to_string(ep) + " does not divide the " + std::to_string(experts) +
                   " experts: engines serve it with copies, serving.redundant_experts=" +
                   std::to_string(deployment.load.redundant_experts + missing) +
                   ". The weights of a device include them.");
}

}  // namespace

std::string CutExperts(const Deployment& deployment) {
  if (!deployment.model.moe) return "";
  const Moe& moe = *deployment.model.moe;
  const ServingMapping& mapping = deployment.load.mapping;
  const Count ep = mapping.ep, parts = mapping.tp * mapping.attention_dp / ep, columns = moe.expert_ffn;
  const bool has_blocks = moe.block_scales && IsEightBitFloat(deployment.formats.mlp_weights);
  if (parts <= 1 || !has_blocks || columns % (parts * kScaleBlock) == 0) return "";
  return "An expert's " + std::to_string(columns) + " columns in " + std::to_string(parts) + " parts cut blocks of " +
         std::to_string(kScaleBlock) + " that share a scale: engines refuse to load that. EP " +
         std::to_string(ep * parts) + " keeps experts whole.";
}

std::vector<std::string> SubstitutionsOf(const Deployment& deployment) {
  std::vector<std::string> texts;
  AddCopies(deployment, texts);
  if (const std::string text = CutExperts(deployment); !text.empty()) texts.push_back(text);
  AddAttention(deployment, texts);
  AddWeights(deployment, texts);
  const Precision requested = deployment.load.precision.activations;
  if (CompositionOf(deployment.engine).only_half_products) {
    if (BytesPerElement(requested) < 2)
      Add(texts, deployment.engine.name + " computes matrix products in fp16, not in " + Named(requested) + ".");
    return texts;
  }
  if (deployment.formats.activations != requested) {
    Add(texts, "Weights in " + Named(deployment.formats.mlp_weights) +
                   " are dequantized as they are read: matrix products are computed in " +
                   Named(deployment.formats.activations) + ", not in " + Named(requested) + ".");
  }
  std::vector<const Device*> devices{&deployment.device};
  if (const Disaggregated* const pools = PoolsOfTwoKinds(deployment.load)) devices.push_back(&*pools->prefill_device);
  for (const Device* device : devices) {
    AddGemms(deployment, *device, texts);
    AddConversion(deployment, *device, texts);
    AddKvCache(deployment, *device, texts);
  }
  return texts;
}

std::vector<std::string> AssumedInputs(const Deployment& deployment) {
  using A = AssumedEfficiency;
  std::vector<AssumedFlag> used{&A::usable};
  if (CompositionOf(deployment.engine).timed_by_families) {
    used.insert(used.end(), {&A::gemm_efficiency, &A::sustained_clock_derating, &A::rated_power,
                             &A::bandwidth_efficiency, &A::launch_latency});
    if (deployment.layers.attention > 0 && !deployment.model.mla) used.push_back(&A::decode_bandwidth_efficiency);
    const bool fused = deployment.engine.kernels.attention != AttentionLibrary::kUnfused;
    if (deployment.layers.attention > 0 && !deployment.model.mla && fused)
      used.insert(used.end(), {&A::l2_bandwidth, &A::usable_l2_fraction});
    const auto in_fp8 = [&](Precision requested) {
      return IsEightBitFloat(NativePrecision(deployment.device, requested));
    };
    if (in_fp8(deployment.formats.activations) || in_fp8(deployment.formats.attention_activations))
      used.push_back(&A::gemm_efficiency_fp8);
  }
  std::vector<std::string> paths = AssumedPaths(deployment.device, "cluster.device", used);
  if (const Disaggregated* const pools = PoolsOfTwoKinds(deployment.load)) {
    Device prefiller = *pools->prefill_device;
    CompleteEfficiency(prefiller);
    for (std::string& path : AssumedPaths(prefiller, "serving.disaggregated.prefill_device", used))
      paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace slipstick
