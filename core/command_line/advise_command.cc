#include "core/command_line/advise_command.h"

#include <chrono>

#include "core/advice/advice.h"

namespace slipstick {

Answer RunAdvise(const AdviseCommand& command) {
  const auto start = std::chrono::steady_clock::now();
  Json question = ObjectOf({{"limits", command.limits}});
  if (!command.of.empty()) question["for"] = command.of;
  if (!command.objective.empty()) question["objective"] = command.objective;
  const Result<Json> top = ParseJson(command.top);
  if (!top || !top->is_number_integer()) return WrongRequest({{"--top", "Enter a whole number from 1 to 1,000"}});
  question["top"] = *top;
  Answer answer = AdviseAnswer(command.request, command.assignments, question);
  if (!answer.issues.empty()) return answer;
  Json report = *ParseJson(answer.text);
  report["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  answer.text = JsonText(report);
  return answer;
}

}  // namespace slipstick
