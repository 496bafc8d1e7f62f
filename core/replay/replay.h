// The command `replay`: what a file of recorded requests needs, how it is served, and where serving breaks down.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/evaluation/job_steps.h"
#include "core/replay/replay_job.h"
#include "core/scenario/answer.h"

namespace slipstick {

// The report of a ReplayJob when it is done, or issues. `on_progress` receives the finished fraction of a run.
Answer ReplayAnswer(std::string_view request, const std::vector<std::string>& assignments, const Json& question,
                    std::string_view trace, const std::function<void(double)>& on_progress = {});

using ReplaySteps = JobSteps<ReplayJob>;

}  // namespace slipstick
