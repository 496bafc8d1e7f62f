// Block diffusion: checks its settings. Its steps are timed together with those of other models (decode_time.cc).
#pragma once

#include <string>

#include "core/base/issue.h"
#include "core/engine_step/serving_load.h"

namespace slipstick {

void CheckBlockDiffusion(const ServingLoad& load, const std::string& path, Issues& issues);

}  // namespace slipstick
