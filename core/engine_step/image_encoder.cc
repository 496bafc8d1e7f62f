#include "core/engine_step/image_encoder.h"

#include "core/base/figure.h"
#include "core/base/fix.h"
#include "core/engine_step/step_time.h"
#include "core/operators/attention.h"
#include "core/operators/cache_levels.h"
#include "core/operators/gemm.h"

namespace slipstick {
namespace {

// Widths that derive from the encoder's own.
struct EncoderWidths {
  Ratio mlp_inputs = 0, joined = 0;
};
EncoderWidths WidthsOf(const Vision& vision) {
  const Ratio merge(vision.merge);
  return {Figure("Outputs of the MLP's first product", (vision.gated ? 2 : 1) * Ratio(vision.ffn), "gate and up"),
          Figure("Width of the patches that become a token", merge * merge * Ratio(vision.hidden))};
}

KernelTime Product(const Device& device, Ratio rows, Ratio outputs, Ratio inputs) {
  Gemm gemm;
  gemm.m = rows, gemm.n = outputs, gemm.k = inputs;
  return TimeOf(gemm, device, ServingKernelParameters(gemm, device));
}

// Every patch of an image attends to all other patches of that image.
KernelTime PatchAttention(const Device& device, const Vision& vision, Ratio images, Ratio patches) {
  Attention attention;
  attention.batch = images, attention.q_len = attention.kv_len = patches;
  attention.heads = attention.kv_heads = Ratio(vision.heads);
  attention.head_dim = Figure("Head dimension", Ratio(vision.hidden) / attention.heads);
  attention.causal = false, attention.writes_kv_cache = false;
  return TimeOf(attention, device);
}

// Norms, residuals and the activation function.
KernelTime Elementwise(const Device& device, const Vision& vision, Ratio mlp_inputs, Ratio rows) {
  const Stream data = SlowestStream(device);
  const Bytes bytes = Figure("Bytes of a layer's elementwise kernels",
                             2 * kB * rows * (10 * Ratio(vision.hidden) + mlp_inputs + Ratio(vision.ffn)),
                             "two norms, two residual additions and the activation");
  const Seconds time =
      Figure("Elementwise kernels of a layer",
             5 * *device.efficiency.launch_latency + bytes / (data.bandwidth * *device.efficiency.bandwidth_efficiency),
             "five, bound by memory");
  return {time, {}, time, data.bound, {}, bytes};
}

}  // namespace

Ratio ImageTokens(const Model& model, const PromptImages& images) {
  const Ratio side = Ratio(model.vision->patch) * Ratio(model.vision->merge);
  const Ratio columns = Figure("Tokens along the width", max(1.0, floor(Ratio(images.width) / side + 0.5)));
  const Ratio lines = Figure("Tokens along the height", max(1.0, floor(Ratio(images.height) / side + 0.5)));
  return Figure("Tokens of a prompt's images", Ratio(images.count) * columns * lines, "part of the prompt");
}

Bytes EncoderWeights(const Model& model) {
  const Vision& vision = *model.vision;
  const auto [mlp_inputs, joined] = WidthsOf(vision);
  const Ratio hidden(vision.hidden);
  return Figure("Weights of the vision encoder",
                (Ratio(vision.layers) * hidden * (4 * hidden + mlp_inputs + Ratio(vision.ffn)) +
                 Ratio(vision.projectors) * joined * (joined + Ratio(model.hidden))) *
                    (2 * kB),
                "layers and projectors in 16 bit, whole on every device");
}

KernelTime EncodeImages(const Deployment& deployment, Ratio tokens) {
  const PromptImages& images = *deployment.load.images;
  const Device& device = deployment.device;
  const Vision& vision = *deployment.model.vision;
  const Ratio layers(vision.layers), hidden(vision.hidden), merge(vision.merge), projectors(vision.projectors);
  const auto [mlp_inputs, joined] = WidthsOf(vision);
  const Ratio device_images =
      Figure("Images on the device that has most of them", max(1.0, Ratio(images.count) / deployment.mapping.tp),
             "spread over the tensor-parallel devices");
  const Ratio patches = Figure("Patches of an image", tokens / Ratio(images.count) * merge * merge);
  const Ratio rows = Figure("Patches on the device", device_images * patches);
  const Ratio device_tokens = Figure("Tokens on the device", rows / (merge * merge));

  KernelTime all;
  const auto add = [&](std::string_view title, const KernelTime& kernel, Ratio times) {
    all.time += Figure(title, kernel.time) * times;
    all.flops += kernel.flops * times;
    all.bytes += kernel.bytes * times;
    all.compute += times * kernel.compute;
    all.memory += times * kernel.memory;
  };
  add("QKV projection of the encoder",
      Product(device, rows, Figure("Outputs of the QKV projection", 3 * hidden), hidden), layers);
  add("Attention of the encoder", PatchAttention(device, vision, device_images, patches), layers);
  add("Output projection of the encoder", Product(device, rows, hidden, hidden), layers);
  add("First product of the encoder's MLP", Product(device, rows, mlp_inputs, hidden), layers);
  add("Second product of the encoder's MLP", Product(device, rows, hidden, Ratio(vision.ffn)), layers);
  add("Elementwise kernels of the encoder", Elementwise(device, vision, mlp_inputs, rows), layers);
  add("First product of a projector", Product(device, device_tokens, joined, joined), projectors);
  add("Second product of a projector", Product(device, device_tokens, Ratio(deployment.model.hidden), joined),
      projectors);
  all.flops = Figure("FLOPs of the vision encoder", all.flops, "for a prompt's images on one device");
  all.bytes = Figure("Bytes moved by the vision encoder", all.bytes);
  const Seconds on_device = Figure("Vision encoder on the device", all.time, "kernel after kernel");
  all.time = Figure("Encoding of a prompt's images", max(on_device, 10 * layers * deployment.launch.per_operation),
                    "on the device, or ten launches per layer by the host if longer");
  all.bound = all.time > on_device ? Bound::kLatency : all.compute >= all.memory ? Bound::kCompute : Bound::kMemory;
  return all;
}

Seconds WithImages(const Deployment& deployment, Ratio prompts, Ratio tokens, Seconds head,
                   OperatorBreakdown& operators) {
  const KernelTime encoding = EncodeImages(deployment, ImageTokens(deployment.model, *deployment.load.images));
  const Ratio encoded =
      Figure("Prompts whose images the pass encodes", prompts * tokens / Ratio(deployment.load.prompt),
             "images of cached tokens are not encoded again");
  operators.Add("vision encoder", encoding, encoded);
  return Figure("LM head and vision encoder", head + encoded * encoding.time);
}

void CheckImages(const ServingLoad& load, const Model& model, const std::string& path, Issues& issues) {
  const std::string member = path + ".images";
  if (!model.vision) {
    issues.push_back(
        {member, "Needs a model with a vision encoder (model.vision), such as qwen3-vl-8b", {LeaveOut(member)}});
    return;
  }
  if (!CompositionOf(load.engine).encodes_images) {
    issues.push_back({member, "This engine serves text only", {LeaveOut(member)}});
    return;
  }
  const auto tokens = static_cast<Count>(ImageTokens(model, *load.images));
  if (load.prompt < tokens) {
    issues.push_back({path + ".prompt",
                      "At least " + std::to_string(tokens) + ", the tokens of its images, which it counts too",
                      {SetTo(path + ".prompt", tokens), LeaveOut(member)}});
  }
}

}  // namespace slipstick
