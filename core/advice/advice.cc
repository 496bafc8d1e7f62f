#include "core/advice/advice.h"

#include <utility>

namespace slipstick {

Answer AdviseAnswer(std::string_view request, const std::vector<std::string>& assignments, const Json& question) {
  Result<std::shared_ptr<AdviceJob>> job = MakeJob<AdviceJob>(request, assignments, question);
  if (!job) return WrongRequest(std::move(job.issues));
  while ((*job)->Step(1)) {
  }
  return {JsonText((*job)->Report()), {}};
}

}  // namespace slipstick
