#include "core/replay/replay.h"

#include <memory>
#include <utility>

namespace slipstick {

Answer ReplayAnswer(std::string_view request, const std::vector<std::string>& assignments, const Json& question,
                    std::string_view trace, const std::function<void(double)>& on_progress) {
  constexpr int kSteps = 4096;
  Result<std::shared_ptr<ReplayJob>> job = MakeJob<ReplayJob>(request, assignments, question, trace);
  if (!job) return WrongRequest(std::move(job.issues));
  while ((*job)->Step(kSteps)) {
    if (on_progress) on_progress((*job)->done());
  }
  return {JsonText((*job)->Report()), {}};
}

}  // namespace slipstick
