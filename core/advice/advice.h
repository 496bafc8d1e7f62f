// The command `advise`: discrete changes to a scenario, ranked by their gain.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/advice/advice_job.h"
#include "core/evaluation/job_steps.h"

namespace slipstick {

// The report of an AdviceJob when it is done. `question`: {"for"?, "objective"?, "top"?, "limits"?}.
Answer AdviseAnswer(std::string_view request, const std::vector<std::string>& assignments, const Json& question);

using AdviceSteps = JobSteps<AdviceJob>;

}  // namespace slipstick
