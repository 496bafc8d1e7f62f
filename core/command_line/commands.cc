#include "core/command_line/commands.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "core/advice/advice_job.h"
#include "core/base/listed.h"
#include "core/command_line/progress_line.h"
#include "core/command_line/verbs.h"
#include "core/exploration/design.h"
#include "core/exploration/search_job.h"
#include "core/exploration/search_shard.h"
#include "core/exploration/search_spec.h"
#include "core/exploration/solve.h"
#include "core/exploration/sweep.h"
#include "core/replay/replay_job.h"
#include "core/sizing/size.h"
#include "core/studies/paper_study.h"

namespace slipstick {
namespace {

// Options that are members of a question.
struct QuestionOption {
  std::string_view option, member;
};
constexpr QuestionOption kAdviceOptions[] = {{"--for", "for"}, {"--objective", "objective"}};
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

// A number in base units, or a text with its unit. Percentiles are given by name.
Json ValueOf(std::string_view member, const std::string& text) {
  Result<Json> json = ParseJson(text);
  const bool is_number = json && json->is_number();
  if (member == "budget_per_hour" && is_number) return text + " $/h";
  return is_number && member != "percentile" ? std::move(*json) : Json(text);
}

// The members whose options were given: numbers in base units, or texts with their units.
Json QuestionOf(std::span<const QuestionOption> asked, const CommandLine& line) {
  Json question = Json::object();
  for (const QuestionOption& one : asked) {
    const std::string text = line.Option(one.option);
    if (!text.empty()) question[one.member] = ValueOf(one.member, text);
  }
  return question;
}

// A whole number without a unit, from `low` to `high`.
std::optional<Count> WholeNumber(std::string_view text, Count low, Count high) {
  const std::optional<Measure> measure = ParseMeasure(text);
  if (!measure || measure->has_unit || measure->value != std::floor(measure->value)) return std::nullopt;
  if (measure->value < static_cast<double>(low) || measure->value > static_cast<double>(high)) return std::nullopt;
  return static_cast<Count>(measure->value);
}

Result<Count> TopOf(const CommandLine& line) {
  const std::optional<Count> top = WholeNumber(line.Option("--top"), 1, 1000);
  if (!top) return Issues{{"--top", "Enter a whole number from 1 to 1,000"}};
  return *top;
}

Result<Count> ThreadsOf(const CommandLine& line) {
  const std::optional<Count> threads = WholeNumber(line.Option("--threads"), 0, 1024);
  if (!threads) return Issues{{"--threads", "Enter a whole number; 0: all cores"}};
  return *threads > 0 ? *threads : std::max(1U, std::thread::hardware_concurrency());
}

using Clock = std::chrono::steady_clock;
// The report as an answer, with the seconds since `start`.
Answer TimedAnswer(Json report, Clock::time_point start) {
  report["seconds"] = std::chrono::duration<double>(Clock::now() - start).count();
  return {JsonText(report), {}};
}
// An answer with the seconds since `start`, unless it has issues.
Answer Timed(Answer answer, Clock::time_point start) {
  return answer.issues.empty() ? TimedAnswer(*ParseJson(answer.text), start) : std::move(answer);
}

// Shows the finished fraction of a job.
std::function<void(double)> ShownOn(ProgressLine& line) {
  return [&line](double done) {
    constexpr Count kParts = 1000;
    line.Update(static_cast<Count>(done * static_cast<double>(kParts)), kParts);
  };
}

Json SpecJson(const CommandLine& line, Count top) {
  const std::string of = line.Option("--for");
  return Json{{"for", of.empty() ? "training" : of},
              {"objective", line.Option("--objective")},
              {"top", top},
              {"prune", !line.Has("--no-prune")},
              {"limits", line.All("--limit")},
              {"axes", line.All("--axis")},
              {"pareto", ListedIn(line.Option("--pareto"))}};
}

// Of assignments that may name several values, those that do and those that do not.
struct Ranges {
  std::vector<std::string> varied, fixed;
};
Ranges RangesIn(const std::vector<std::string>& assignments) {
  Ranges ranges;
  for (const std::string& text : assignments) {
    const std::size_t value = text.find('=') + 1;
    const bool is_json = value < text.size() && (text[value] == '{' || text[value] == '[');  // a mapping as one object
    const bool is_varied = !is_json && text.find_first_of(",:", value) != std::string::npos;
    (is_varied ? ranges.varied : ranges.fixed).push_back(text);
  }
  return ranges;
}

// The search at every value of a sweep or a solve; none without --best.
std::optional<SearchSpec> BestOf(const CommandLine& line) {
  if (line.Option("--best").empty()) return std::nullopt;
  SearchSpec search;
  search.part = line.Option("--best");
  search.objective = line.Option("--objective");
  search.limits = line.All("--limit");
  return search;
}

}  // namespace

std::vector<std::string> CommandLine::All(std::string_view name) const {
  const auto found = options.find(name);
  return found == options.end() ? std::vector<std::string>() : found->second;
}

std::string CommandLine::Option(std::string_view name) const {
  const auto found = options.find(name);
  return found == options.end() ? std::string(OptionOf(name)->standard) : found->second.back();
}

Answer RunAdvise(const std::string& request, const CommandLine& line) {
  const auto start = Clock::now();
  Json question = QuestionOf(kAdviceOptions, line);
  question["limits"] = line.All("--limit");
  const Result<Count> top = TopOf(line);
  if (!top) return WrongRequest(top.issues);
  question["top"] = *top;
  return Timed(RunJob<AdviceJob>(request, line.assignments, question, {}), start);
}

Answer RunDesign(const std::string& request, const CommandLine& line) {
  const auto start = Clock::now();
  const Ranges ranges = RangesIn(line.assignments);
  const Json question{{"objective", line.Option("--objective")},
                      {"pareto", line.Option("--pareto")},
                      {"vary", ranges.varied},
                      {"locks", ListedIn(line.Option("--lock"))},
                      {"limits", line.All("--limit")},
                      {"mapping", line.Option("--mapping")}};
  ProgressLine progress(line.Has("--progress"));
  return Timed(DesignAnswer(request, ranges.fixed, question, ShownOn(progress)), start);
}

Answer RunReplay(const std::string& trace, const std::string& request, const CommandLine& line) {
  const auto start = Clock::now();
  const Json question = QuestionOf(kReplayOptions, line);
  ProgressLine progress(line.Has("--progress"));
  return Timed(RunJob<ReplayJob>(request, line.assignments, question, ShownOn(progress), trace), start);
}

Answer RunSearch(const std::string& request_text, const CommandLine& line) {
  const auto start = Clock::now();
  const Result<Count> top = TopOf(line), threads = ThreadsOf(line);
  const std::string shard_text = line.Option("--shard");
  const std::string_view cut = shard_text;
  const std::size_t slash = std::min(cut.find('/'), cut.size());
  const Count shards = WholeNumber(cut.substr(std::min(slash + 1, cut.size())), 1, 1'000'000).value_or(0);
  const Count shard = WholeNumber(cut.substr(0, slash), 0, shards - 1).value_or(-1);
  Issues issues = top.issues;
  issues.insert(issues.end(), threads.issues.begin(), threads.issues.end());
  if (shard < 0) issues.push_back({"--shard", "Enter i/n with 0 <= i < n"});
  if (!issues.empty()) return WrongRequest(std::move(issues));

  Result<Json> request = ReadSearchRequest(request_text, line.assignments);
  if (!request) return WrongRequest(std::move(request.issues));
  const Json spec_json = SpecJson(line, *top);
  Result<SearchSpec> spec = ReadSearchSpec(spec_json);
  if (!spec) return WrongRequest(std::move(spec.issues));

  // Each thread runs one part of the shard, which is a shard of a finer division.
  std::vector<std::shared_ptr<SearchJob>> jobs;
  for (Count t = 0; t < *threads; ++t) {
    SearchSpec part = *spec;
    part.shards = shards * *threads;
    part.shard = shard * *threads + t;
    Result<std::shared_ptr<SearchJob>> job = SearchJob::Make(*request, part);
    if (!job) return WrongRequest(std::move(job.issues));
    jobs.push_back(std::move(*job));
  }
  std::vector<std::thread> running;
  Count all_mappings = 0;
  for (const std::shared_ptr<SearchJob>& job : jobs) all_mappings += job->options().to - job->options().from;
  constexpr Count kStepsAtOnce = 4096;
  std::atomic<Count> decided = 0;
  ProgressLine progress(line.Has("--progress"));
  for (const std::shared_ptr<SearchJob>& job : jobs) {
    running.emplace_back([&decided, &progress, job, all_mappings] {
      for (bool more = true; more;) {
        const Count before = job->progress().done;
        more = job->Step(kStepsAtOnce);
        progress.Update(decided += job->progress().done - before, all_mappings);
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  SearchProgress all;
  for (const std::shared_ptr<SearchJob>& job : jobs) Merge(all, job->progress(), job->options());
  if (shards > 1) return {ShardText(*request, spec_json, shard, shards, all), {}};
  return TimedAnswer(jobs[0]->Report(all), start);
}

Answer RunSize(const std::string& request, const CommandLine& line) {
  Json question = QuestionOf(kSizeOptions, line);
  question["limits"] = line.All("--limit");
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

Answer RunSolve(const std::string& request, const CommandLine& line) {
  const Ranges ranges = RangesIn(line.assignments);
  if (ranges.varied.size() != 1) return WrongRequest({{"range", "Give one PATH=lo:hi"}});
  std::string until;
  for (const std::string& condition : line.All("--until")) until += (until.empty() ? "" : ",") + condition;
  ProgressLine progress(line.Has("--progress"));
  const auto on_progress = [&progress](const SolveProgress& so_far) { progress.Update(so_far.tried, so_far.of); };
  return SolveAnswer(request, ranges.fixed, ranges.varied[0], until,
                     {line.All("--against"), BestOf(line), on_progress});
}

Answer RunSweep(const std::string& request, const CommandLine& line) {
  const Ranges ranges = RangesIn(line.assignments);
  return SweepAnswer(request, ranges.fixed, ranges.varied, ListedIn(line.Option("--report")), BestOf(line),
                     line.Option("--optimise"));
}

Answer RunStudy(const std::string& id, const CommandLine& line) {
  const Result<Count> size = StudySize(id);
  if (!size) return WrongRequest(size.issues);
  const Result<Count> threads = ThreadsOf(line);
  if (!threads) return WrongRequest(threads.issues);
  std::vector<std::string> points(static_cast<std::size_t>(*size));
  std::atomic<Count> next = 0, done = 0;
  ProgressLine progress(line.Has("--progress"));
  std::vector<std::thread> running;
  for (Count i = 0; i < *threads; ++i) {
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
