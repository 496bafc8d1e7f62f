#include "core/command_line/commands.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <thread>
#include <utility>

#include "core/advice/advice_job.h"
#include "core/base/listed.h"
#include "core/command_line/progress_line.h"
#include "core/command_line/question_options.h"
#include "core/command_line/timed.h"
#include "core/exploration/design.h"
#include "core/replay/replay_job.h"
#include "core/sizing/size.h"
#include "core/studies/paper_study.h"

namespace slipstick {
namespace {

constexpr QuestionOption kReplayOptions[] = {{"--rate", "requests_per_s"},
                                             {"--speed", "speed"},
                                             {"--ttft", "ttft"},
                                             {"--tpot", "tpot"},
                                             {"--percentile", "percentile"}};

constexpr QuestionOption kSizeOptions[] = {{"--rate", "requests_per_s"},
                                           {"--peak", "peak_over_mean"},
                                           {"--ttft", "ttft"},
                                           {"--tpot", "tpot"},
                                           {"--percentile", "percentile"},
                                           {"--pools", "pools"},
                                           {"--spares", "spare_replicas"},
                                           {"--devices", "devices"},
                                           {"--power", "power"},
                                           {"--rack-power", "power_per_rack"},
                                           {"--budget", "budget"},
                                           {"--hourly-budget", "budget_per_hour"}};

// Shows the finished fraction of a job.
std::function<void(double)> ShownOn(ProgressLine& line) {
  return [&line](double done) {
    constexpr Count kParts = 1000;
    line.Update(static_cast<Count>(done * static_cast<double>(kParts)), kParts);
  };
}

}  // namespace

Answer RunAdvise(const std::string& request, const CommandLine& line) {
  const auto start = Clock::now();
  Json question = ObjectOf({{"limits", line.limits}});
  for (const auto& [option, member] : {std::pair{"--for", "for"}, {"--objective", "objective"}}) {
    if (!line.Option(option).empty()) question[member] = line.Option(option);
  }
  const std::optional<Count> top = WholeNumber(line.Option("--top"), 1, 1000);
  if (!top) return WrongRequest({{"--top", "Enter a whole number from 1 to 1,000"}});
  question["top"] = *top;
  return Timed(RunJob<AdviceJob>(request, line.assignments, question, {}), start);
}

Answer RunDesign(const std::string& request, const CommandLine& line) {
  const auto start = Clock::now();
  std::vector<std::string> fixed, varied;
  for (const std::string& text : line.assignments) {
    const std::string value = text.substr(text.find('=') + 1);
    const bool is_json = value.find_first_of("{[") == 0;  // a mapping as one object
    const bool is_varied = !is_json && value.find_first_of(",:") != std::string::npos;
    (is_varied ? varied : fixed).push_back(text);
  }
  const Json question{{"objective", line.Option("--objective")},
                      {"pareto", line.Option("--pareto")},
                      {"vary", varied},
                      {"locks", ListedIn(line.Option("--lock"))},
                      {"limits", line.limits},
                      {"mapping", line.Option("--mapping")}};
  ProgressLine progress(line.show_progress);
  return Timed(DesignAnswer(request, fixed, question, ShownOn(progress)), start);
}

Answer RunReplay(const std::string& trace, const std::string& request, const CommandLine& line) {
  const auto start = Clock::now();
  const Json question = QuestionOf(kReplayOptions, line.options);
  ProgressLine progress(line.show_progress);
  return Timed(RunJob<ReplayJob>(request, line.assignments, question, ShownOn(progress), trace), start);
}

Answer RunSize(const std::string& request, const CommandLine& line) {
  Json question = QuestionOf(kSizeOptions, line.options);
  question["limits"] = line.limits;
  question["clusters"] = ListedIn(line.Option("--clusters"));
  const std::vector<std::string> day = ListedIn(line.Option("--day"));
  if (!day.empty()) question["day"] = day;
  for (const std::string& text : ListedIn(line.Option("--mixture"))) {
    const std::size_t colon = text.find(':'), slash = text.find('/');
    if (colon == std::string::npos || slash == std::string::npos || slash < colon)
      return WrongRequest({{"--mixture", "Enter WEIGHT:PROMPT/OUTPUT,…, such as 0.7:1000/300,0.3:8000/200"}});
    question["mixture"].push_back(ObjectOf({{"weight", text.substr(0, colon)},
                                            {"prompt_tokens", text.substr(colon + 1, slash - colon - 1)},
                                            {"output_tokens", text.substr(slash + 1)}}));
  }
  const std::vector<std::string> prices = ListedIn(line.Option("--prices"));
  constexpr std::array<std::string_view, 3> kPriced{"input", "cached_input", "output"};
  if (!prices.empty() && prices.size() != kPriced.size())
    return WrongRequest({{"--prices", "Enter INPUT,CACHED,OUTPUT in $ per 1 M tokens"}});
  for (std::size_t i = 0; i < prices.size(); ++i) question["prices"][kPriced[i]] = prices[i] + " $/Mtoken";
  return SizeAnswer(request, line.assignments, question);
}

Answer RunStudy(const std::string& id, const CommandLine& line) {
  const Result<Count> size = StudySize(id);
  if (!size) return WrongRequest(size.issues);
  const long requested = std::strtol(line.Option("--threads").c_str(), nullptr, 10);
  const unsigned workers = requested > 0 ? static_cast<unsigned>(std::min(requested, 1024L))
                                         : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::string> points(static_cast<std::size_t>(*size));
  std::atomic<Count> next = 0, done = 0;
  ProgressLine progress(line.show_progress);
  std::vector<std::thread> running;
  for (unsigned i = 0; i < workers; ++i) {
    running.emplace_back([&] {
      for (Count at = next++; at < static_cast<Count>(points.size()); at = next++) {
        points[static_cast<std::size_t>(at)] = StudyPointAnswer(id, at).text;
        progress.Update(++done, *size);
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  std::string all;
  for (const std::string& point : points) all += (all.empty() ? "[" : ",") + point;
  return StudyOfPointsAnswer(id, all + "]");
}

}  // namespace slipstick
