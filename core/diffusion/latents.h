// The tokens of a request: latents after the encoder's compression, cut into patches, and the text tokens.
#pragma once

#include "core/diffusion/diffusion.h"

namespace slipstick {

// Numbers of a completed run, with nodes for the formulas.
struct Request {
  const DiffusionRun& run;
  Ratio hidden, heads, ffn, head_dim, modulation_width;
  Ratio joint_blocks, single_blocks, cross_blocks, dual_blocks;
  Ratio passes;     // of the transformer per step, with and without the prompt
  Ratio sequences;  // images or clips in a pass; twice as many if both guidance passes are one batch
  Ratio in_turn;    // passes of a device in a step, one after another
  Ratio image_tokens, text_tokens;
  Ratio frames, pixels;  // pixels of a frame
  Ratio ranks;           // devices that share the tokens of a pass
};
Request RequestOf(const DiffusionRun& run);

// Parameters of one transformer.
Ratio ParametersOf(const Request& request);

}  // namespace slipstick
