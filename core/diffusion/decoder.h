// Parts that run once per request, outside the steps: the text encoder, and the decoder that turns latents into pixels.
#pragma once

#include "core/diffusion/transformer.h"

namespace slipstick {

// All weights of the encoders count as one product over the prompt's tokens.
KernelTime EncodeText(const Request& request, const Device& device);

struct Decoder {
  KernelSum time;
  Ratio parameters;
  Bytes activations;
};
// Convolutions count as products over all pixels of a level; includes their norms. Only one device decodes.
Decoder DecoderOf(const Request& request, const Device& device);

}  // namespace slipstick
