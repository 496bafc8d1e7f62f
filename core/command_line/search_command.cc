// `slipstick search`: a search on this machine's threads, or one shard of it.
#include <algorithm>
#include <atomic>
#include <thread>

#include "core/base/listed.h"
#include "core/command_line/commands.h"
#include "core/command_line/progress_line.h"
#include "core/command_line/question_options.h"
#include "core/command_line/timed.h"
#include "core/exploration/search_job.h"
#include "core/exploration/search_shard.h"
#include "core/exploration/search_spec.h"
#include "core/scenario/answer.h"

namespace slipstick {
namespace {

constexpr Count kStep = 4096;

Json SpecJson(const CommandLine& line, Count top) {
  const std::string& of = line.Option("--for");
  return Json{{"for", of.empty() ? "training" : of},
              {"objective", line.Option("--objective")},
              {"top", top},
              {"prune", line.prune},
              {"limits", line.limits},
              {"axes", line.axes},
              {"pareto", ListedIn(line.Option("--pareto"))}};
}

}  // namespace

Answer RunSearch(const std::string& request_text, const CommandLine& line) {
  const auto start = Clock::now();
  const std::optional<Count> top = WholeNumber(line.Option("--top"), 1, 1000),
                             thread_count = WholeNumber(line.Option("--threads"), 0, 1024);
  const std::string_view cut = line.Option("--shard");
  const std::size_t slash = std::min(cut.find('/'), cut.size());
  const Count shards = WholeNumber(cut.substr(std::min(slash + 1, cut.size())), 1, 1'000'000).value_or(0);
  const Count shard = WholeNumber(cut.substr(0, slash), 0, shards - 1).value_or(-1);
  Issues issues;
  if (!top) issues.push_back({"--top", "Enter a whole number from 1 to 1,000"});
  if (!thread_count) issues.push_back({"--threads", "Enter a whole number; 0: all cores"});
  if (shard < 0) issues.push_back({"--shard", "Enter i/n with 0 <= i < n"});
  if (!issues.empty()) return WrongRequest(std::move(issues));

  Result<Json> request = ReadSearchRequest(request_text, line.assignments);
  if (!request) return WrongRequest(std::move(request.issues));
  const Json spec_json = SpecJson(line, *top);
  Result<SearchSpec> spec = ReadSearchSpec(spec_json);
  if (!spec) return WrongRequest(std::move(spec.issues));

  // Each thread runs one part of the shard, which is a shard of a finer division.
  const Count threads = *thread_count > 0 ? *thread_count : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::shared_ptr<SearchJob>> jobs;
  for (Count t = 0; t < threads; ++t) {
    SearchSpec part = *spec;
    part.shards = shards * threads;
    part.shard = shard * threads + t;
    Result<std::shared_ptr<SearchJob>> job = SearchJob::Make(*request, part);
    if (!job) return WrongRequest(std::move(job.issues));
    jobs.push_back(std::move(*job));
  }
  std::vector<std::thread> running;
  Count all_mappings = 0;
  for (const std::shared_ptr<SearchJob>& job : jobs) all_mappings += job->options().to - job->options().from;
  std::atomic<Count> decided = 0;
  ProgressLine progress(line.show_progress);
  for (const std::shared_ptr<SearchJob>& job : jobs) {
    running.emplace_back([&decided, &progress, job, all_mappings] {
      for (bool more = true; more;) {
        const Count before = job->progress().done;
        more = job->Step(kStep);
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

}  // namespace slipstick
