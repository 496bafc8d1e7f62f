// The verb `advise`: discrete changes to a scenario, ranked by what they bring.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/advice/advice_job.h"
#include "core/scenario/answer.h"

namespace slipstick {

// The report of an AdviceJob when it is done. `question`: {"for"?, "objective"?, "top"?, "limits"?}.
Answer AdviseAnswer(std::string_view request, const std::vector<std::string>& assignments, const Json& question);

// The same in steps, for the page. `spec`: the question with a member "request".
class AdviceSteps {
 public:
  explicit AdviceSteps(const std::string& spec);
  // {"issues": […]} if the spec is wrong; then Step does nothing.
  [[nodiscard]] const std::string& issues() const { return issues_; }
  bool Step(int count) { return job_ && job_->Step(count); }
  [[nodiscard]] std::string Report() const { return job_ ? JsonText(job_->Report()) : issues_; }

 private:
  std::string issues_;
  std::shared_ptr<AdviceJob> job_;
};

}  // namespace slipstick
