// The vision encoder of a model on one device: its weights, the tokens that it makes from a prompt's images, and its
// time. Engines keep the whole encoder on every tensor-parallel device and spread the images over them (vLLM's
// --mm-encoder-tp-mode data).
#pragma once

#include <string>

#include "core/base/issue.h"
#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"
#include "core/operators/kernel.h"

namespace slipstick {

// Tokens of all images of a prompt.
Ratio ImageTokens(const Model& model, const PromptImages& images);

// Encoder weights, in 16 bit.
Bytes EncoderWeights(const Model& model);

// Encodes all images of a prompt, on the device that has most of them; they make `tokens` prompt tokens.
KernelTime EncodeImages(const Deployment& deployment, Ratio tokens);

// LM head and vision encoder in a pass that prefills `tokens` tokens of each of `prompts` prompts.
Seconds WithImages(const Deployment& deployment, Ratio prompts, Ratio tokens, Seconds head,
                   OperatorBreakdown& operators);

void CheckImages(const ServingLoad& load, const Model& model, const std::string& path, Issues& issues);

}  // namespace slipstick
