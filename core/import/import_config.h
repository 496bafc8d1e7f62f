// Imports a model from the config.json of a Hugging Face checkpoint.
#pragma once

#include <string_view>

#include "core/scenario/answer.h"

namespace slipstick {

// {"model": members for a scenario's "model", "model_type", "parameters", "active_parameters",
//  "weights": a serving precision or null, "notes": config settings that the model leaves out}.
// Unknown keys are ignored; an absent required key is an issue with the key as its path.
Answer ImportModelAnswer(std::string_view text);

}  // namespace slipstick
