#include "core/exploration/search_shard.h"

#include <algorithm>

#include "core/evaluation/own_measurements.h"
#include "core/exploration/search_spec.h"

namespace slipstick {
namespace {

// A job's progress as JSON, and back.
Json WriteProgress(const SearchProgress& progress) {
  const auto list = [](const std::vector<Found>& found) {
    Json entries = Json::array();
    for (const Found& one : found)
      entries.push_back(Json::array({one.index, one.figures[0], one.figures[1], one.figures[2]}));
    return entries;
  };
  return Json{{"done", progress.done},         {"evaluated", progress.evaluated}, {"feasible", progress.feasible},
              {"rejected", progress.rejected}, {"best", list(progress.best)},     {"front", list(progress.front)}};
}

Result<SearchProgress> ReadProgress(const Json& json) {
  SearchProgress progress;
  const auto list = [&](const char* key, std::vector<Found>& out) {
    if (!json.contains(key) || !json[key].is_array()) return false;
    for (const Json& one : json[key]) {
      if (!one.is_array() || one.size() != 4 ||
          !std::all_of(one.begin(), one.end(), [](const Json& n) { return n.is_number(); }))
        return false;
      out.push_back({one[0].get<Count>(), {one[1].get<double>(), one[2].get<double>(), one[3].get<double>()}});
    }
    return true;
  };
  bool good = json.is_object() && list("best", progress.best) && list("front", progress.front);
  for (const char* key : {"done", "evaluated", "feasible"})
    good = good && json.contains(key) && json[key].is_number_integer();
  if (!good || !json.contains("rejected") || !json["rejected"].is_object())
    return Issues{{"progress", "Must be the output of a search shard"}};
  progress.done = json["done"].get<Count>();
  progress.evaluated = json["evaluated"].get<Count>();
  progress.feasible = json["feasible"].get<Count>();
  for (const auto& [reason, count] : json["rejected"].items()) {
    if (count.is_number_integer()) progress.rejected[reason] = count.get<Count>();
  }
  return progress;
}

}  // namespace

Result<Json> ReadSearchRequest(std::string_view text, const std::vector<std::string>& assignments) {
  return ReadMeasuredRequest(text, assignments);
}

std::string ShardText(const Json& request, const Json& spec, Count shard, Count shards,
                      const SearchProgress& progress) {
  return JsonText(Json{{"request", request},
                       {"spec", spec},
                       {"shard", shard},
                       {"shards", shards},
                       {"progress", WriteProgress(progress)}});
}

ShardSearch::ShardSearch(const std::string& spec) { issues_ = Begin(spec); }

std::string ShardSearch::Begin(const std::string& text) {
  const auto refuse = [](Issues issues) { return WrongRequest(std::move(issues)).text; };
  Result<Json> parsed = ParseJson(text);
  if (!parsed) return refuse(std::move(parsed.issues));
  Result<SearchSpec> spec = ReadSearchSpec(*parsed);
  if (!spec) return refuse(std::move(spec.issues));
  Result<Json> request = ReadSearchRequest(RequestIn(*parsed), {});
  if (!request) return refuse(std::move(request.issues));
  Result<std::shared_ptr<SearchJob>> job = SearchJob::Make(*request, *spec);
  if (!job) return refuse(std::move(job.issues));
  request_ = std::move(*request);
  spec_ = std::move(*parsed);
  for (const char* own : {"request", "shard", "shards"}) spec_.erase(own);
  shard_ = spec->shard;
  shards_ = spec->shards;
  job_ = std::move(*job);
  return "";
}

std::string ShardSearch::Report() const { return job_ ? JsonText(job_->Report()) : issues_; }

std::string ShardSearch::Shard() const {
  return job_ ? ShardText(request_, spec_, shard_, shards_, job_->progress()) : issues_;
}

Answer MergeShards(const std::vector<std::string>& texts) {
  if (texts.empty()) return WrongRequest({{"merge", "Give the output files of the shards"}});
  std::shared_ptr<SearchJob> job;
  Json first;
  SearchProgress all;
  std::vector<Count> seen;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string path = std::to_string(i);
    Result<Json> part = ParseJson(texts[i]);
    if (!part) return WrongRequest(std::move(part.issues));
    const bool whole = part->is_object() && part->contains("request") && part->contains("spec") &&
                       part->contains("progress") && part->contains("shard") && part->contains("shards") &&
                       (*part)["shard"].is_number_integer();
    if (!whole) return WrongRequest({{path, "Must be the output of `search --shard i/n`"}});
    if (i == 0) {
      first = *part;
      Result<SearchSpec> spec = ReadSearchSpec(first["spec"]);
      if (!spec) return WrongRequest(std::move(spec.issues));
      Result<std::shared_ptr<SearchJob>> made = SearchJob::Make(first["request"], *spec);
      if (!made) return WrongRequest(std::move(made.issues));
      job = std::move(*made);
    } else if ((*part)["request"] != first["request"] || (*part)["spec"] != first["spec"] ||
               (*part)["shards"] != first["shards"]) {
      return WrongRequest({{path, "This shard belongs to another search than the first"}});
    }
    seen.push_back((*part)["shard"].get<Count>());
    Result<SearchProgress> progress = ReadProgress((*part)["progress"]);
    if (!progress) return WrongRequest(std::move(progress.issues));
    Merge(all, *progress, job->options());
  }
  std::sort(seen.begin(), seen.end());
  Json missing = Json::array();
  for (Count s = 0; s < first["shards"].get<Count>(); ++s) {
    const auto copies = std::count(seen.begin(), seen.end(), s);
    if (copies == 0) missing.push_back(s);
    if (copies > 1) return WrongRequest({{"merge", "Shard " + std::to_string(s) + " is given twice"}});
  }
  Json report = job->Report(all);
  report["missing_shards"] = std::move(missing);
  return {JsonText(report), {}};
}

Answer MergeShardsText(const std::string& list) {
  Result<Json> parsed = ParseJson(list);
  if (!parsed) return WrongRequest(std::move(parsed.issues));
  if (!parsed->is_array()) return WrongRequest({{"merge", "Must be a list of shard outputs"}});
  return MergeShards(TextsOf(&*parsed));
}

}  // namespace slipstick
