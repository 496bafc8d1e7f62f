#include "core/diffusion/latents.h"

#include "core/base/figure.h"

namespace slipstick {

Request RequestOf(const DiffusionRun& run) {
  const DiffusionModel& model = run.model;
  const Ratio hidden = model.hidden, heads = model.heads;
  const Ratio width = *run.width, height = *run.height, frames = *run.frames, side = model.latent_side,
              patch = model.patch, compressed = model.latent_frames;
  const Ratio latent_frames =
      Figure("Latent frames", floor((frames - 1) / compressed) + 1, "the first frame is compressed by itself");
  const Ratio image_tokens =
      Figure("Latent tokens", latent_frames * floor(width / (side * patch)) * floor(height / (side * patch)),
             "frames, columns and lines of patches");
  const bool is_guided = *run.guided, is_batched = is_guided && model.batched_guidance && !run.guidance_parallel;
  const Ratio batch = run.batch, passes = is_guided ? 2 : 1;
  const Ratio sequences =
      Figure("Sequences of a pass", is_batched ? passes * batch : batch, "with and without the prompt, or one of them");
  const Ratio in_turn = Figure("Passes of a device in a step", is_batched || run.guidance_parallel ? Ratio(1) : passes,
                               "with the prompt, and without it where it is guided");
  return {run,
          hidden,
          heads,
          model.ffn,
          Figure("Head dimension", hidden / heads),
          model.modulation_width > 0 ? Ratio(model.modulation_width) : hidden,
          model.joint_blocks,
          model.single_blocks,
          model.cross_blocks,
          model.dual_blocks,
          passes,
          sequences,
          in_turn,
          image_tokens,
          model.text_tokens,
          frames,
          Figure("Pixels of a frame", width * height),
          Figure("Devices that share the tokens", Ratio(run.ulysses) * Ratio(run.ring))};
}

Ratio ParametersOf(const Request& request) {
  const Ratio hidden = request.hidden, ffn = request.ffn, text_width = request.run.model.text_width;
  const Ratio own_modulation = request.run.model.shared_modulation ? 0 : 1;
  const Ratio square = hidden * hidden, modulation = request.modulation_width * hidden;
  const Ratio joint = Figure("Parameters of a joint block", 2 * (4 * square + 2 * hidden * ffn + 6 * modulation),
                             "attention, MLP and modulation, for image and text");
  const Ratio dual =
      Figure("Parameters of a second attention", 4 * square + 3 * modulation, "attention and modulation");
  const Ratio single = Figure("Parameters of a single-stream block", 4 * square + 2 * hidden * ffn + 3 * modulation,
                              "attention, MLP and modulation");
  const Ratio cross =
      Figure("Parameters of a cross-attention block", 8 * square + 2 * hidden * ffn + own_modulation * 6 * modulation,
             "two attentions, MLP and modulation of its own");
  return Figure("Parameters of the transformer",
                request.joint_blocks * joint + request.dual_blocks * dual + request.single_blocks * single +
                    request.cross_blocks * cross + text_width * hidden + (1 - own_modulation) * 6 * modulation,
                "blocks, the projection of the text and a modulation that they share");
}

}  // namespace slipstick
