#include "core/advice/advice.h"

#include <utility>

#include "core/scenario/request.h"

namespace slipstick {

Answer AdviseAnswer(std::string_view request, const std::vector<std::string>& assignments, const Json& question) {
  Result<Json> base = ReadRequest(request, assignments);
  if (!base) return WrongRequest(std::move(base.issues));
  Result<std::shared_ptr<AdviceJob>> job = AdviceJob::Make(std::move(*base), question);
  if (!job) return WrongRequest(std::move(job.issues));
  while ((*job)->Step(1)) {
  }
  return {JsonText((*job)->Report()), {}};
}

namespace {

Result<std::shared_ptr<AdviceJob>> JobOf(const std::string& spec) {
  Result<Json> parsed = ParseJson(spec);
  if (!parsed) return std::move(parsed.issues);
  const Json* request = FindMember(*parsed, "request");
  Result<Json> base = ReadRequest(request != nullptr ? JsonText(*request) : "", {});
  if (!base) return std::move(base.issues);
  return AdviceJob::Make(std::move(*base), *parsed);
}

}  // namespace

AdviceSteps::AdviceSteps(const std::string& spec) {
  Result<std::shared_ptr<AdviceJob>> job = JobOf(spec);
  if (job) {
    job_ = std::move(*job);
  } else {
    issues_ = WrongRequest(std::move(job.issues)).text;
  }
}

}  // namespace slipstick
