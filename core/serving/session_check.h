// Checks for contradictions between sessions and the rest of a load, with fixes.
#pragma once

#include <string>

#include "core/base/issue.h"
#include "core/engine_step/serving_load.h"
#include "core/workload/model.h"

namespace slipstick {

void CheckSessions(const ServingLoad& load, const Model& model, const std::string& path, Issues& issues);

}  // namespace slipstick
