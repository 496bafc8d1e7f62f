#include "core/command_line/replay_command.h"

#include "core/command_line/progress_line.h"
#include "core/command_line/question_options.h"
#include "core/command_line/timed.h"
#include "core/replay/replay_job.h"

namespace slipstick {
namespace {

constexpr QuestionOption kReplayOptions[] = {{"--rate", "requests_per_s"},
                                             {"--speed", "speed"},
                                             {"--ttft", "ttft"},
                                             {"--tpot", "tpot"},
                                             {"--percentile", "percentile"}};

}  // namespace

Answer RunReplay(const ReplayCommand& command) {
  const auto start = Clock::now();
  constexpr Count kParts = 1000;
  ProgressLine line(command.show_progress);
  const auto on_progress = [&line](double done) {
    line.Update(static_cast<Count>(done * static_cast<double>(kParts)), kParts);
  };
  return Timed(RunJob<ReplayJob>(command.request, command.assignments, QuestionOf(kReplayOptions, command.options),
                                 on_progress, command.trace),
               start);
}

}  // namespace slipstick
