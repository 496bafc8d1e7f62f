// What the default scenario supplied and nobody wrote follows what was written, so that every model on every cluster answers.
//
// What is legal stays; in serving, where the model fits. Else, in this order:
//   serving.prompt, output     prompt + output within the model's learned positions: the prompt gives way first
//   serving.devices            at most the cluster's, a multiple of the degrees that were written
//   serving.mapping.tp, pp     the legal pair nearest to the default's on which weights and one request fit, tp before pp; where
//                              none fits, on twice, four times ... the devices; where that fits nowhere, the nearest legal pair
//   training.mapping.tp, pp    the legal pair nearest to the default's, tp before pp; and with each pair
//   training.mapping.virtual_stages   the default's, or as many as pp and the schedule allow
//   training.global_batch      the nearest multiple of the data-parallel degree and the micro-batch size
// tp that moves is a power of two, or what the written ep and cp need. Near is by ratio. What was written stays as it is: where
// nothing legal is left, the fewest issues are.
#pragma once

#include <array>
#include <string_view>

#include "core/scenario/request.h"
#include "core/scenario/scenario.h"

namespace slipstick {

// The paths that may move. All other members of the default scenario are legal with whatever is written.
inline constexpr std::array<std::string_view, 9> kAdjustableDefaults{
    "training.global_batch", "training.mapping.tp", "training.mapping.pp", "training.mapping.virtual_stages",
    "serving.prompt",        "serving.output",      "serving.devices",     "serving.mapping.tp",
    "serving.mapping.pp"};

// Of a scenario whose model and cluster are complete. `searched`: the part whose mapping a search is about to choose.
void ApplyLegalDefaults(Scenario& scenario, const Written& written, std::string_view searched = "");

}  // namespace slipstick
