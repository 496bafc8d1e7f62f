// Moves unwritten values of the default scenario to legal ones, so that every model on every cluster has an answer.
//
// A legal value stays; in serving, the model must fit too. Otherwise, in this order:
//   serving.concurrency        none where a batch per replica or a rate of arrivals is written; else at most what fits
//   serving.precision          of the weights as they are published, where that is narrower, the activations in 16 bit;
//                              where the engine lists the formats that it has, one of these, the activations in fp16;
//                              from version 3 on the activations follow written weights, and the KV cache of an engine
//                              that follows checkpoints is in the format that they, or sparse attention, name
//   serving.prompt, output     prompt + output within the model's learned positions, the prompt shrinks first; from
//                              version 3 on the prompt within its context too
//   serving.devices            at most the cluster's, a multiple of the written degrees
//   serving.mapping.tp, pp     the nearest legal pair on which weights and one request fit, tp before pp; if none fits,
//                              on 2x, 4x … the devices; if nothing fits there either, the nearest legal pair
//   training.mapping.tp, pp    the nearest legal pair, tp before pp; and with each pair
//   training.mapping.virtual_stages   the default, or as many as pp and the schedule allow
//   training.global_batch      the nearest multiple of the data-parallel degree and the micro-batch size
// A new tp is a power of two, or what the written ep and cp need. "Nearest" is by ratio to the default. Written values
// never change: if no choice is legal, the one with the fewest issues is taken.
#pragma once

#include <array>
#include <string_view>

#include "core/scenario/request.h"
#include "core/scenario/scenario.h"

namespace slipstick {

// The paths that may change. All other members of the default scenario are legal with any written value.
inline constexpr std::array<std::string_view, 13> kAdjustableDefaults{"training.global_batch",
                                                                      "training.mapping.tp",
                                                                      "training.mapping.pp",
                                                                      "training.mapping.virtual_stages",
                                                                      "serving.concurrency",
                                                                      "serving.prompt",
                                                                      "serving.output",
                                                                      "serving.devices",
                                                                      "serving.mapping.tp",
                                                                      "serving.mapping.pp",
                                                                      "serving.precision.weights",
                                                                      "serving.precision.activations",
                                                                      "serving.precision.kv_cache"};

// Model and cluster must be complete. `searched`: the part whose mapping a search chooses.
void ApplyLegalDefaults(Scenario& scenario, const Written& written, std::string_view searched = "");

// Only lengths and devices of the serving load, for a mapping that is chosen on them.
void AdjustServingLoad(Scenario& scenario, const Written& written);

}  // namespace slipstick
