#include "core/engine_step/image_encoder.h"

#include "core/base/fix.h"
#include "core/base/sum.h"
#include "core/engine_step/named_terms.h"
#include "core/operators/attention.h"
#include "core/operators/cache_levels.h"
#include "core/operators/gemm.h"
#include "core/operators/named_terms.h"

namespace slipstick {
namespace {

// Inputs and derived widths of the encoder, under these names.
struct EncoderShape {
  double vision_layers, vision_hidden, vision_heads, vision_ffn, mlp_inputs, joined, projectors, text_hidden;
};

EncoderShape ShapeOf(const Model& model, Trace& trace) {
  const Vision& vision = *model.vision;
  const auto vision_layers = static_cast<double>(vision.layers), vision_hidden = static_cast<double>(vision.hidden),
             vision_heads = static_cast<double>(vision.heads), vision_ffn = static_cast<double>(vision.ffn),
             merge = static_cast<double>(vision.merge), projectors = static_cast<double>(vision.projectors),
             text_hidden = static_cast<double>(model.hidden);
  const double mlp_parts = vision.gated ? 2 : 1;
  trace.Input("vision_layers", vision_layers, "model.vision.layers");
  trace.Input("vision_hidden", vision_hidden, "model.vision.hidden");
  trace.Input("vision_heads", vision_heads, "model.vision.heads");
  trace.Input("vision_ffn", vision_ffn, "model.vision.ffn");
  trace.Input("mlp_parts", mlp_parts, "model.vision.gated");
  trace.Input("merge", merge, "model.vision.merge");
  trace.Input("projectors", projectors, "model.vision.projectors");
  trace.Input("text_hidden", text_hidden, "model.hidden");
  FIGURE(trace, mlp_inputs, mlp_parts * vision_ffn, (Note{"Outputs of the MLP's first product", "gate and up"}),
         mlp_parts, vision_ffn);
  FIGURE(trace, joined, merge * merge * vision_hidden, (Note{"Width of the patches that become a token", ""}), merge,
         vision_hidden);
  return {vision_layers, vision_hidden, vision_heads, vision_ffn, mlp_inputs, joined, projectors, text_hidden};
}

// A symbol and its value.
struct NamedNumber {
  std::string_view symbol;
  double value = 1;
};

// A product of the encoder: figures time, flops and bytes of a scope of its own.
KernelTime EncoderProduct(const Deployment& deployment, std::string_view name, NamedNumber rows, NamedNumber outputs,
                          NamedNumber inputs, Trace& trace) {
  const Trace::Scope scope(trace, name);
  trace.Alias("m", rows.value, rows.symbol);
  trace.Alias("n", outputs.value, outputs.symbol);
  trace.Alias("k", inputs.value, inputs.symbol);
  for (const std::string_view size : {"weight_size", "activation_size", "output_size"})
    BindSize(size, 2 * kB, true, "", trace);
  Gemm gemm;
  gemm.m = rows.value, gemm.n = outputs.value, gemm.k = inputs.value;
  return TimeOf(gemm, deployment.device, ServingKernelParameters(gemm, Named(deployment.device, trace)), trace);
}

// Every patch of an image sees all others of it.
KernelTime EncoderAttention(const Deployment& deployment, const EncoderShape& shape, double device_images,
                            double patches, Trace& trace) {
  const Trace::Scope scope(trace, "attention");
  const double vision_hidden = shape.vision_hidden, vision_heads = shape.vision_heads;
  FIGURE(trace, head_dim, vision_hidden / vision_heads, (Note{"Head dimension"}), vision_hidden, vision_heads);
  trace.Alias("batch", device_images, "device_images");
  trace.Alias("q_len", patches, "patches");
  trace.Alias("kv_len", patches, "patches");
  trace.Alias("heads", vision_heads, "vision_heads");
  trace.Alias("kv_heads", vision_heads, "vision_heads");
  for (const std::string_view size : {"kv_element", "row_element"}) BindSize(size, 2 * kB, true, "", trace);
  Attention attention;
  attention.batch = device_images, attention.q_len = attention.kv_len = patches;
  attention.heads = attention.kv_heads = vision_heads, attention.head_dim = head_dim;
  attention.causal = false, attention.writes_kv_cache = false;
  return TimeOf(attention, deployment.device, trace);
}

// Norms, residuals and the activation function.
KernelTime EncoderElementwise(const Deployment& deployment, const EncoderShape& shape, double patch_rows,
                              Trace& trace) {
  const Trace::Scope scope(trace, "elementwise");
  const double vision_hidden = shape.vision_hidden, mlp_inputs = shape.mlp_inputs, vision_ffn = shape.vision_ffn;
  const Seconds launch = *deployment.device.efficiency.launch_latency;
  const double stream = *deployment.device.efficiency.bandwidth_efficiency;
  const Stream data = SlowestStream(deployment.device, trace);
  const BytesPerSecond bandwidth = data.bandwidth;
  trace.Input("launch", launch, "cluster.device.efficiency.launch");
  trace.Input("stream", stream, "cluster.device.efficiency.stream");
  FIGURE(trace, flops, 0 * kFlop * patch_rows, (Note{"FLOPs", "not counted"}), patch_rows);
  FIGURE(trace, bytes, 2 * kB * patch_rows * (10 * vision_hidden + mlp_inputs + vision_ffn),
         (Note{"Bytes of a layer's elementwise kernels", "two norms, two residual additions and the activation"}),
         patch_rows, vision_hidden, mlp_inputs, vision_ffn);
  FIGURE(trace, time, 5 * launch + bytes / (bandwidth * stream),
         (Note{"Elementwise kernels of a layer", "five, bound by memory"}), launch, bytes, bandwidth, stream);
  return {time, {}, time, data.bound, flops, bytes};
}

}  // namespace

double ImageTokens(const Model& model, const PromptImages& images, Trace& trace) {
  const auto width = static_cast<double>(images.width), height = static_cast<double>(images.height),
             image_count = static_cast<double>(images.count), patch = static_cast<double>(model.vision->patch),
             merge = static_cast<double>(model.vision->merge);
  trace.Input("width", width, "serving.images.width");
  trace.Input("height", height, "serving.images.height");
  trace.Input("image_count", image_count, "serving.images.count");
  trace.Input("patch", patch, "model.vision.patch");
  trace.Input("merge", merge, "model.vision.merge");
  FIGURE(trace, columns, max(1.0, floor(width / (patch * merge) + 0.5)), (Note{"Tokens along the width", ""}), width,
         patch, merge);
  FIGURE(trace, lines, max(1.0, floor(height / (patch * merge) + 0.5)), (Note{"Tokens along the height", ""}), height,
         patch, merge);
  FIGURE(trace, image_tokens, image_count * columns * lines,
         (Note{"Tokens of a prompt's images", "part of the prompt", "", "serving.images.tokens"}), image_count, columns,
         lines);
  return image_tokens;
}

Bytes EncoderWeights(const Deployment& deployment, Trace& trace) {
  const Trace::Scope scope(trace, "image_encoder");
  const EncoderShape shape = ShapeOf(deployment.model, trace);
  const double vision_layers = shape.vision_layers, vision_hidden = shape.vision_hidden, vision_ffn = shape.vision_ffn,
               mlp_inputs = shape.mlp_inputs, joined = shape.joined, projectors = shape.projectors,
               text_hidden = shape.text_hidden;
  const Bytes half = 2.0 * kB;
  FIGURE(trace, encoder_weights,
         (vision_layers * vision_hidden * (4 * vision_hidden + mlp_inputs + vision_ffn) +
          projectors * joined * (joined + text_hidden)) *
             half,
         (Note{"Weights of the vision encoder", "layers and projectors in 16 bit, whole on every device"}),
         vision_layers, vision_hidden, mlp_inputs, vision_ffn, projectors, joined, text_hidden, half);
  return encoder_weights;
}

KernelTime EncodeImages(const Deployment& deployment, Trace& trace) {
  const PromptImages& images = *deployment.load.images;
  const Trace::Scope scope(trace, "image_encoder");
  const double image_tokens = ImageTokens(deployment.model, images, trace);
  const EncoderShape shape = ShapeOf(deployment.model, trace);
  const auto image_count = static_cast<double>(images.count),
             merge = static_cast<double>(deployment.model.vision->merge);
  const double tp = deployment.mapping.tp, vision_layers = shape.vision_layers, projectors = shape.projectors;
  FIGURE(trace, device_images, max(1.0, image_count / tp),
         (Note{"Images on the device that has most of them", "spread over the tensor-parallel devices"}), image_count,
         tp);
  FIGURE(trace, patches, image_tokens / image_count * merge * merge, (Note{"Patches of an image", ""}), image_tokens,
         image_count, merge);
  FIGURE(trace, patch_rows, device_images * patches, (Note{"Patches on the device", ""}), device_images, patches);
  FIGURE(trace, token_rows, patch_rows / (merge * merge), (Note{"Tokens on the device", ""}), patch_rows, merge);
  const double vision_hidden = shape.vision_hidden;
  FIGURE(trace, qkv_outputs, 3 * vision_hidden, (Note{"Outputs of the QKV projection"}), vision_hidden);

  ListedSum<Seconds> time(trace);
  ListedSum<Flops> flops_sum(trace);
  ListedSum<Bytes> bytes_sum(trace);
  KernelTime all;
  const auto add = [&](std::string_view name, const KernelTime& kernel, NamedNumber times) {
    trace.Alias("part_time", kernel.time, "time");
    trace.Alias("part_flops", kernel.flops, "flops");
    trace.Alias("part_bytes", kernel.bytes, "bytes");
    time.Add(name, kernel.time, times.value, "part_time", times.symbol);
    flops_sum.Add(name, kernel.flops, times.value, "part_flops", times.symbol);
    bytes_sum.Add(name, kernel.bytes, times.value, "part_bytes", times.symbol);
    all.compute += times.value * kernel.compute;
    all.memory += times.value * kernel.memory;
  };
  const NamedNumber patches_of{"patch_rows", patch_rows}, tokens_of{"token_rows", token_rows},
      width{"vision_hidden", vision_hidden}, ffn{"vision_ffn", shape.vision_ffn}, joined{"joined", shape.joined},
      layers{"vision_layers", vision_layers}, each{"projectors", projectors};
  const auto product = [&](std::string_view name, NamedNumber rows, NamedNumber outputs, NamedNumber inputs,
                           NamedNumber times) {
    add(name, EncoderProduct(deployment, name, rows, outputs, inputs, trace), times);
  };
  product("qkv", patches_of, {"qkv_outputs", qkv_outputs}, width, layers);
  add("attention", EncoderAttention(deployment, shape, device_images, patches, trace), layers);
  product("output", patches_of, width, width, layers);
  product("mlp_in", patches_of, {"mlp_inputs", shape.mlp_inputs}, width, layers);
  product("mlp_out", patches_of, width, ffn, layers);
  add("elementwise", EncoderElementwise(deployment, shape, patch_rows, trace), layers);
  product("project_in", tokens_of, joined, joined, each);
  product("project_out", tokens_of, {"text_hidden", shape.text_hidden}, joined, each);
  all.flops = flops_sum.Total("flops", {"FLOPs of the vision encoder", "for a prompt's images on one device"});
  all.bytes = bytes_sum.Total("bytes", {"Bytes moved by the vision encoder", ""});
  const Seconds device_time = time.Total("device_time", {"Vision encoder on the device", "kernel after kernel"});
  const Seconds operation_launch = deployment.launch.per_operation;
  FIGURE(trace, image_time, max(device_time, 10 * vision_layers * operation_launch),
         (Note{"Encoding of a prompt's images", "on the device, or ten launches per layer by the host if longer", "",
               "serving.images.encode_s"}),
         device_time, vision_layers, operation_launch);
  all.time = image_time;
  all.bound = image_time > device_time ? Bound::kLatency : all.compute >= all.memory ? Bound::kCompute : Bound::kMemory;
  return all;
}

Seconds WithImages(const Deployment& deployment, double prompts, std::string_view prompts_are, double tokens,
                   Seconds head, OperatorBreakdown& operators, Trace& trace) {
  trace.Alias("with_images", prompts, prompts_are);
  const double with_images = prompts;
  const auto prompt = static_cast<double>(deployment.load.prompt);
  trace.Input("prompt", prompt, "serving.prompt");
  FIGURE(trace, encoded_prompts, with_images * tokens / prompt,
         (Note{"Prompts whose images the pass encodes", "images of cached tokens are not encoded again"}), with_images,
         tokens, prompt);
  const KernelTime encoding = EncodeImages(deployment, trace);
  const Seconds image_time = encoding.time;
  operators.Add("vision encoder", encoding, encoded_prompts, "encoded_prompts", trace);
  FIGURE(trace, head_with_images, head + encoded_prompts * image_time, (Note{"LM head and vision encoder", ""}), head,
         encoded_prompts, image_time);
  trace.Alias("head", head_with_images, "head_with_images");
  return head_with_images;
}

void CheckImages(const ServingLoad& load, const Model& model, const std::string& path, Issues& issues) {
  const std::string member = path + ".images";
  if (!model.vision) {
    issues.push_back(
        {member, "Needs a model with a vision encoder (model.vision), such as qwen3-vl-8b", {LeaveOut(member)}});
    return;
  }
  if (load.engine.composition != Composition::kKernels) {
    issues.push_back({member, "This engine serves text only", {LeaveOut(member)}});
    return;
  }
  Trace off = Trace::Off();
  const auto tokens = static_cast<Count>(ImageTokens(model, *load.images, off));
  if (load.prompt < tokens) {
    issues.push_back({path + ".prompt",
                      "At least " + std::to_string(tokens) + ", the tokens of its images, which it counts too",
                      {SetTo(path + ".prompt", tokens), LeaveOut(member)}});
  }
}

}  // namespace slipstick
