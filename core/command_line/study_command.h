// `slipstick study`: a paper's study, its points side by side.
#pragma once

#include <string>

#include "core/scenario/answer.h"
#include "core/studies/paper_study.h"

namespace slipstick {

// `threads`: a whole number, 0 for as many as the machine has. `show_progress`: say on standard error how far it is, watched or not.
Answer RunStudy(const std::string& id, const std::string& threads, bool show_progress);

}  // namespace slipstick
