#include "core/command_line/advise_command.h"

#include "core/advice/advice_job.h"
#include "core/command_line/question_options.h"
#include "core/command_line/timed.h"

namespace slipstick {

Answer RunAdvise(const AdviseCommand& command) {
  const auto start = Clock::now();
  Json question = ObjectOf({{"limits", command.limits}});
  if (!command.of.empty()) question["for"] = command.of;
  if (!command.objective.empty()) question["objective"] = command.objective;
  const std::optional<Count> top = WholeNumber(command.top, 1, 1000);
  if (!top) return WrongRequest({{"--top", "Enter a whole number from 1 to 1,000"}});
  question["top"] = *top;
  return Timed(RunJob<AdviceJob>(command.request, command.assignments, question, {}), start);
}

}  // namespace slipstick
