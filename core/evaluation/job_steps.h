// Answers that are computed in steps. A `Job` has Make(Json request, const Json& question, more...), Step(int count),
// which returns false when nothing is left to do, kStepsAtOnce and Report(). It may have done(), its finished fraction.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/evaluation/own_measurements.h"
#include "core/scenario/answer.h"

namespace slipstick {

template <class Job, class... More>
Result<std::shared_ptr<Job>> MakeJob(std::string_view request, const std::vector<std::string>& assignments,
                                     const Json& question, const More&... more) {
  Result<Json> base = ReadMeasuredRequest(request, assignments);
  if (!base) return std::move(base.issues);
  return Job::Make(std::move(*base), question, more...);
}

// The report of a job that has run to its end. `on_progress`, if given, receives the finished fraction.
template <class Job, class... More>
Result<Json> FinalReport(std::string_view request, const std::vector<std::string>& assignments, const Json& question,
                         const std::function<void(double)>& on_progress, const More&... more) {
  Result<std::shared_ptr<Job>> job = MakeJob<Job>(request, assignments, question, more...);
  if (!job) return std::move(job.issues);
  while ((*job)->Step(Job::kStepsAtOnce)) {
    if constexpr (requires { (*job)->done(); }) {
      if (on_progress) on_progress((*job)->done());
    }
  }
  return (*job)->Report();
}
// As FinalReport, as text.
template <class Job, class... More>
Answer RunJob(std::string_view request, const std::vector<std::string>& assignments, const Json& question,
              const std::function<void(double)>& on_progress, const More&... more) {
  Result<Json> report = FinalReport<Job>(request, assignments, question, on_progress, more...);
  return report ? Answer{JsonText(*report), {}} : WrongRequest(std::move(report.issues));
}

// For the page, which shows the report so far and may stop.
template <class Job>
class JobSteps {
 public:
  // `spec`: the question with a member "request"; `more`: further texts.
  template <class... More>
  explicit JobSteps(const std::string& spec, const More&... more) {
    Result<std::shared_ptr<Job>> job = Begin(spec, more...);
    if (job) {
      job_ = std::move(*job);
    } else {
      issues_ = WrongRequest(std::move(job.issues)).text;
    }
  }
  // {"issues": […]} if the spec is wrong; then Step does nothing.
  [[nodiscard]] const std::string& issues() const { return issues_; }
  bool Step(int count) { return job_ && job_->Step(count); }
  [[nodiscard]] std::string Report() const { return job_ ? JsonText(job_->Report()) : issues_; }

 private:
  template <class... More>
  static Result<std::shared_ptr<Job>> Begin(const std::string& spec, const More&... more) {
    Result<Json> parsed = ParseJson(spec);
    if (!parsed) return std::move(parsed.issues);
    return MakeJob<Job>(RequestIn(*parsed), {}, *parsed, more...);
  }

  std::string issues_;
  std::shared_ptr<Job> job_;
};

}  // namespace slipstick
