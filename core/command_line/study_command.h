// `slipstick study`: runs the points of a paper study in parallel.
#pragma once

#include <string>

#include "core/scenario/answer.h"
#include "core/studies/paper_study.h"

namespace slipstick {

// `threads`: a whole number, 0: all cores. `show_progress`: even if standard error is not a terminal.
Answer RunStudy(const std::string& id, const std::string& threads, bool show_progress);

}  // namespace slipstick
