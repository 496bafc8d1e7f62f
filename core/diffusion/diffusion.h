// Image and video diffusion transformers. A request is `steps` denoising steps, each a pass of the transformer over all
// latent tokens, which attend to each other without any cache; a text encoder runs before, a decoder after them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/field.h"
#include "core/base/issue.h"
#include "core/base/tally.h"
#include "core/base/units.h"
#include "core/hardware/cluster.h"
#include "core/operators/attention.h"
#include "core/workload/precision.h"

namespace slipstick {

struct DiffusionModel {
  std::string preset = "flux.1-dev";
  std::string name = "custom";
  Tally joint_blocks = 0;   // text and image tokens have separate weights and joint attention (MMDiT)
  Tally single_blocks = 0;  // all tokens share the weights; attention and MLP read the same input
  Tally cross_blocks = 0;   // image tokens only, with cross-attention to the text
  Tally dual_blocks = 0;    // joint blocks whose image tokens also attend to each other alone (MMDiT-X)
  Tally hidden = 0;
  Tally heads = 0;
  Tally ffn = 0;
  bool qk_norm = true;
  bool rotary = true;
  bool shared_modulation = false;  // one projection of the time embedding for all blocks
  Tally modulation_width = 0;      // of the time embedding that modulation reads; 0: hidden
  Tally transformers = 1;          // each runs a part of the steps (Wan 2.2)
  bool guided = false;             // classifier-free guidance: one pass with the prompt and one without
  bool batched_guidance = false;   // as one batch; off: one after the other
  Tally text_tokens = 512;
  Tally text_width = 4096;
  Tally text_parameters = 0;  // of all text encoders
  Tally patch = 2;            // latent pixels along the side of a token
  Tally latent_side = 8;      // pixels along the side of a latent pixel
  Tally latent_frames = 1;    // frames of a latent frame; 1: images
  Tally latent_channels = 16;
  Tally decoder_width =
      128;  // channels of the decoder's last level; the levels before it have 2, 4 and 4 times as many
  // Published settings.
  Tally steps = 50;
  Tally width = 1024, height = 1024;
  Tally frames = 1;
  Ratio frames_per_s = 0;
};
template <>
struct Schema<DiffusionModel> {
  static constexpr std::string_view preset_kind = "diffusion_model";
  static const Fields fields;
};

struct DiffusionRun {
  DiffusionModel model;
  std::optional<Tally> steps, width, height, frames;  // default: the model's
  std::optional<bool> guided;                         // default: the model's
  Tally batch = 1;
  Precision precision = Precision::kBf16;  // of the transformer's products
  AttentionAlgorithm attention = AttentionAlgorithm::kAuto;
  bool compiled = true;
  Seconds launch;             // host, per operation that is not compiled
  Ratio convolutions = 1;     // rate of 3D convolutions over the rate of matrix products
  Ratio decoder_overlap = 1;  // work of a decoder on overlapping tiles over the work without tiles
  bool offload = false;
  Tally ulysses = 1, ring = 1;
  bool guidance_parallel = false;
  std::optional<Tally> devices;  // default: one replica
};
template <>
struct Schema<DiffusionRun> {
  static constexpr std::string_view standard = "diffusion_run";
  static const Fields fields;
};

// Parts of a request's time; they add up to it.
struct DiffusionTime {
  Seconds text_encoder, products, attention, row_kernels, communication, launches, decoder, copies;
  [[nodiscard]] Seconds Total() const {
    return text_encoder + products + attention + row_kernels + communication + launches + decoder + copies;
  }
};

struct DiffusionMemory {
  Bytes weights, activations, capacity;
  [[nodiscard]] Bytes Total() const { return weights + activations; }
  [[nodiscard]] Bytes Free() const { return capacity - Total(); }
};

struct DiffusionReport {
  Seconds latency, step;
  DiffusionTime time;
  Ratio tokens = 0;  // latent tokens of an image or clip
  Flops flops;       // of an image or clip, all devices
  Ratio items_per_hour = 0;
  std::optional<Ratio> video_per_hour;  // seconds of video per hour
  Ratio parameters = 0;
  DiffusionMemory memory;
  Count devices = 1, devices_per_replica = 1;
  Seconds device_seconds;  // per image or clip
  Joules energy;           // of the devices, per image or clip
  std::vector<Infeasibility> infeasible;
  std::vector<std::string> assumed;  // paths of inputs that were assumed, not measured
};

// Fills in the devices and the model's settings, and reports contradictions with the nearest valid values.
void ValidateAndFillDefaults(DiffusionRun& run, const Cluster& cluster, const std::string& path, Issues& issues);

DiffusionReport EvaluateDiffusion(const DiffusionRun& asked, const Cluster& cluster, Tape* tape = nullptr);

}  // namespace slipstick
