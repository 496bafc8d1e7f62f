// A model from the config.json that comes with a Hugging Face checkpoint.
#pragma once

#include <string_view>

#include "core/scenario/answer.h"

namespace slipstick {

// {"model": members for a scenario's "model", "model_type", "parameters", "active_parameters",
//  "weights": a serving precision or null, "notes": what the config says that the model does not}.
// Unknown keys count for nothing; a key that is needed and not there is an issue with the key as its path.
Answer ImportModelAnswer(std::string_view text);

}  // namespace slipstick
