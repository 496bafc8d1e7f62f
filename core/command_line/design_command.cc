#include "core/command_line/design_command.h"

#include <utility>

#include "core/base/listed.h"
#include "core/command_line/progress_line.h"
#include "core/command_line/question_options.h"
#include "core/command_line/timed.h"
#include "core/exploration/design.h"

namespace slipstick {

Answer RunDesign(const DesignCommand& command) {
  const auto start = Clock::now();
  std::vector<std::string> fixed, varied;
  for (const std::string& text : command.assignments) {
    const std::string value = text.substr(text.find('=') + 1);
    const bool is_json = value.find_first_of("{[") == 0;  // a mapping as one object
    const bool is_varied = !is_json && value.find_first_of(",:") != std::string::npos;
    (is_varied ? varied : fixed).push_back(text);
  }
  const Json question{{"objective", command.objective},   {"pareto", command.against}, {"vary", varied},
                      {"locks", ListedIn(command.locks)}, {"limits", command.limits},  {"mapping", command.mapping}};
  ProgressLine line(command.show_progress);
  constexpr Count kParts = 1000;
  Answer answer = DesignAnswer(command.request, fixed, question, [&line](double done) {
    line.Update(static_cast<Count>(done * static_cast<double>(kParts)), kParts);
  });
  return Timed(std::move(answer), start);
}

}  // namespace slipstick
