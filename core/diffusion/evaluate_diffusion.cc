#include <array>
#include <string>

#include "core/base/bind_inputs.h"
#include "core/base/figure.h"
#include "core/collectives/bound_fabric.h"
#include "core/diffusion/transformer.h"
#include "core/operators/bound_device.h"
#include "core/operators/device_power.h"
#include "core/operators/efficiency.h"
#include "core/operators/rowwise.h"

namespace slipstick {
namespace {

struct Decoder {
  KernelSum time;
  Ratio parameters;
  Bytes activations;
};

constexpr std::array<double, 4> kWidths{1, 2, 4, 4};  // width per level relative to the last one; the last level first

// Frames of a level: the last two levels have all frames, the earlier ones half and a quarter.
Ratio FramesOf(const Request& request, std::size_t level) {
  const Ratio compressed = request.run.model.latent_frames;
  const double halved = level < 2 ? 1 : level == 2 ? 2 : 4;
  return request.frames / min(compressed, Ratio(halved));
}

// All weights of the encoders count as one product over the prompt's tokens.
KernelTime EncodeText(const Request& request, const Device& device) {
  const DiffusionModel& model = request.run.model;
  const Ratio width = model.text_width, parameters = model.text_parameters, batch = request.run.batch;
  return ProductOf(batch * request.passes * request.text_tokens, parameters / width, width, Precision::kBf16, device);
}

// Convolutions count as products over all pixels of a level; includes their norms. Only one device decodes.
Decoder DecoderOf(const Request& request, const Device& device) {
  const DiffusionModel& model = request.run.model;
  const Ratio last = model.decoder_width, batch = request.run.batch, overlap = request.run.decoder_overlap;
  const bool is_video = model.latent_frames > 1;
  const double taps = is_video ? 27 : 9;
  Decoder decoder;
  const auto convolve = [&](Ratio pixels, Ratio inputs, Ratio outputs, Ratio times) {
    KernelTime product = ProductOf(pixels, outputs, taps * inputs, Precision::kBf16, device);
    if (is_video) product.time = product.time / request.run.convolutions;
    decoder.time.Add(product, times);
    decoder.parameters += times * taps * inputs * outputs;
    RowKernel norm;
    norm.rows = pixels;
    norm.columns = inputs;
    KernelTime pass = TimeOf(norm, device);
    pass.flops = {};                    // only products count as FLOPs
    decoder.time.Add(pass, 2 * times);  // one pass for the norm's statistics, one for its result
  };
  double area = 1;
  for (std::size_t level = 0; level < kWidths.size(); ++level, area *= 4) {
    const Ratio width = kWidths[level] * last;
    const Ratio pixels = overlap * batch * FramesOf(request, level) * request.pixels / area;
    if (level + 1 == kWidths.size()) {
      convolve(pixels, width, width, 10);  // two blocks in the middle and three in the level, two convolutions each
      convolve(pixels, model.latent_channels, width, 1);
    } else {
      const Ratio before = kWidths[level + 1] * last;
      convolve(pixels, before, before, 1);  // after the pixels were doubled
      convolve(pixels, before, width, 1);
      convolve(pixels, width, width, 5);
    }
  }
  // The largest convolution: at full size, with the previous level's width; for a video, one latent frame at a time.
  const Ratio frames_at_once = min(request.frames, Ratio(model.latent_frames));
  decoder.activations =
      Figure("Activations of the decoder", batch * frames_at_once * request.pixels * 2 * (2 * last) * (2 * kB),
             "input and output of the widest convolution at full size, a latent frame at a time");
  return decoder;
}

// Time of a request by part, and the work of its devices.
struct DiffusionWork {
  DiffusionTime time;
  Seconds step;
  Flops flops;  // of the busiest device
};

DiffusionWork WorkOf(const Request& request, const Device& device, const Cluster& cluster, const Decoder& decoder) {
  const DiffusionRun& run = request.run;
  const Ratio steps = *run.steps;
  const Ratio in_turn = request.in_turn;
  const TransformerPass pass = PassOf(request, device, cluster);
  const KernelTime text = EncodeText(request, device);
  DiffusionWork work;
  work.time.text_encoder = Figure("Text encoder", text.time, "the prompt once");
  work.time.products = Figure("Matrix products", steps * in_turn * pass.products.time, "of all steps");
  work.time.attention = Figure("Attention", steps * in_turn * pass.attention.time, "of all steps");
  work.time.row_kernels =
      Figure("Row kernels", steps * in_turn * pass.row_kernels.time, "norms, modulation, activation and residuals");
  work.time.communication =
      Figure("Communication", steps * in_turn * pass.communication, "what attention does not hide");
  const Seconds device_pass = Figure("Pass on a device", pass.OnDevice(), "kernels and exchanges");
  const Seconds waits =
      Figure("Wait for the host in a pass", max(Seconds(), pass.launches * run.launch - device_pass),
             "operations that no compiler fused are launched one by one, ahead of a device that is slower");
  work.time.launches = Figure("Waits for the host", steps * in_turn * waits, "of all steps");
  work.time.decoder = Figure("Decoder", decoder.time.time, "latents to pixels");
  work.step = Figure("Denoising step", in_turn * (device_pass + waits), "all its passes");
  work.flops = steps * in_turn * (pass.products.flops + pass.attention.flops) + text.flops + decoder.time.flops;
  return work;
}

struct Weights {
  Bytes transformers, text, decoder;
};

// Parts that take turns in device memory are copied in once each.
Seconds CopyTime(const Request& request, const Weights& weights, const Device& device) {
  if (!request.run.offload) return {};
  return Figure("Copies from the host", (weights.transformers + weights.text + weights.decoder) / device.host.bandwidth,
                "each part before it runs");
}

DiffusionMemory MemoryOf(const Request& request, const Weights& weights, const Decoder& decoder, const Device& device) {
  const DiffusionRun& run = request.run;
  const Ratio transformers = run.model.transformers;
  DiffusionMemory memory;
  memory.weights =
      run.offload
          ? Figure("Weights in device memory", max(weights.transformers / transformers, weights.text, weights.decoder),
                   "of the largest part: they take turns")
          : Figure("Weights in device memory", weights.transformers + weights.text + weights.decoder,
                   "transformers, text encoder and decoder");
  const Ratio rows = request.sequences * (request.image_tokens + request.text_tokens) / request.ranks;
  const Bytes of_block =
      Figure("Activations of a block", rows * (5 * request.hidden + 2 * request.ffn) * (2 * kB),
             "residual stream, queries, keys, values, attention's output, and the MLP before and after its activation");
  memory.activations = Figure("Activations", max(of_block, decoder.activations), "of a block, or of the decoder");
  memory.capacity = UsableMemory(device);
  return memory;
}

Watts PowerOf(const DiffusionTime& time, const Device& device) {
  const Seconds waiting = Figure("Time that a device waits", time.communication + time.launches + time.copies,
                                 "for others, for the host's launches and for weights");
  return MeanPower(device.idle, device.tdp, time.Total() - waiting, time.Total());
}

void FindInfeasible(const DiffusionRun& run, DiffusionReport& report) {
  if (!(report.memory.Free() < Bytes())) return;
  report.infeasible.push_back(
      {"memory", "Out of memory: " + GibText(report.memory.Total()) + " of " + GibText(report.memory.capacity) + "; " +
                     (run.offload ? "use a narrower diffusion.precision or larger devices"
                                  : "set diffusion.offload, a narrower diffusion.precision or larger devices")});
}

std::vector<std::string> AssumedInputs(const DiffusionRun& run, const Device& device) {
  using A = AssumedEfficiency;
  std::vector<AssumedFlag> used{&A::gemm_efficiency,      &A::sustained_clock_derating, &A::rated_power,
                                &A::bandwidth_efficiency, &A::launch_latency,           &A::usable};
  if (IsEightBitFloat(NativePrecision(device, run.precision))) used.push_back(&A::gemm_efficiency_fp8);
  return AssumedPaths(device, "cluster.device", used);
}

}  // namespace

DiffusionReport EvaluateDiffusion(const DiffusionRun& asked, const Cluster& cluster, Tape* tape) {
  DiffusionRun run = asked;
  Cluster bound = cluster;
  BindInputs(run, "diffusion", tape);
  if (tape != nullptr) BindNetworks(bound.networks, *tape);
  const Device device = tape == nullptr ? cluster.device : WithNodes(cluster.device, *tape);
  const Request request = RequestOf(run);
  const Decoder decoder = DecoderOf(request, device);
  const Ratio parameters = ParametersOf(request), transformers = run.model.transformers, batch = run.batch,
              text_parameters = run.model.text_parameters;
  const Weights weights{Figure("Weights of the transformers", transformers * parameters * ElementSize(run.precision)),
                        Figure("Weights of the text encoder", text_parameters * (2 * kB), "in 16 bit"),
                        Figure("Weights of the decoder", decoder.parameters * (2 * kB), "in 16 bit")};
  DiffusionWork work = WorkOf(request, device, bound, decoder);
  work.time.copies = CopyTime(request, weights, device);
  DiffusionReport report;
  report.time = work.time;
  report.step = work.step;
  report.latency = Figure("Time to an image or clip", work.time.Total(), "text encoder, all steps, decoder and copies");
  report.tokens = request.image_tokens;
  report.parameters = Figure("Parameters of the transformers", transformers * parameters);
  report.memory = MemoryOf(request, weights, decoder, device);
  report.devices_per_replica = run.ulysses * run.ring * (run.guidance_parallel ? 2 : 1);
  report.devices = *run.devices;
  const Ratio replica = Figure("Devices of a replica", request.ranks * (run.guidance_parallel ? 2 : 1));
  const Ratio replicas = Figure("Replicas", Ratio(*run.devices) / replica, "each makes its own images or clips");
  report.flops = Figure("FLOPs of an image or clip", replica * work.flops / batch, "on all devices of a replica");
  report.items_per_hour = Figure("Images or clips per hour", replicas * batch * (1 * kHour) / report.latency);
  const Ratio shown = run.model.frames_per_s;
  if (shown > 0 && request.frames > 1) {
    report.video_per_hour =
        Figure("Seconds of video per hour", report.items_per_hour * request.frames / shown, "as they are shown");
  }
  report.device_seconds = Figure("Device time of an image or clip", replica * report.latency / batch);
  report.energy = Figure("Energy of an image or clip, devices", report.device_seconds * PowerOf(work.time, device));
  report.assumed = AssumedInputs(run, device);
  FindInfeasible(run, report);
  return report;
}

}  // namespace slipstick
