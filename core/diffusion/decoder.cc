#include "core/diffusion/decoder.h"

#include <array>

#include "core/base/figure.h"
#include "core/operators/rowwise.h"

namespace slipstick {
namespace {

constexpr std::array<double, 4> kWidths{1, 2, 4, 4};  // width per level relative to the last one; the last level first

// Frames of a level: the last two levels have all frames, the earlier ones half and a quarter.
Ratio FramesOf(const Request& request, std::size_t level) {
  const Ratio compressed = request.run.model.latent_frames;
  const double halved = level < 2 ? 1 : level == 2 ? 2 : 4;
  return request.frames / min(compressed, Ratio(halved));
}

}  // namespace

KernelTime EncodeText(const Request& request, const Device& device) {
  const DiffusionModel& model = request.run.model;
  const Ratio width = model.text_width, parameters = model.text_parameters, batch = request.run.batch;
  return ProductOf(batch * request.passes * request.text_tokens, parameters / width, width, Precision::kBf16, device);
}

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

}  // namespace slipstick
