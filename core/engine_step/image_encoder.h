// The vision encoder of a model on one device: its weights, the tokens that it makes of a prompt's images, and how long
// that takes. Engines keep the whole encoder on every tensor-parallel device and spread the images over them (vLLM's
// --mm-encoder-tp-mode data).
#pragma once

#include <string>
#include <string_view>

#include "core/base/issue.h"
#include "core/base/trace.h"
#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"
#include "core/operators/kernel.h"

namespace slipstick {

// Tokens of all images of a prompt.
double ImageTokens(const Model& model, const PromptImages& images, Trace& trace);

// In 16 bit.
Bytes EncoderWeights(const Deployment& deployment, Trace& trace);

// All images of a prompt, on the device that has most of them: the figures image_time, flops and bytes.
KernelTime EncodeImages(const Deployment& deployment, Trace& trace);

// The LM head's time of a pass that prefills `tokens` of each of `prompts` prompts, the symbol `prompts_are`, with its
// part of their images: those of cached tokens are not encoded again. Bound to the symbol head.
Seconds WithImages(const Deployment& deployment, double prompts, std::string_view prompts_are, double tokens,
                   Seconds head, OperatorBreakdown& operators, Trace& trace);

void CheckImages(const ServingLoad& load, const Model& model, const std::string& path, Issues& issues);

}  // namespace slipstick
