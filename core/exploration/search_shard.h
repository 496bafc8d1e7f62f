// A part of a search as text, so that threads, workers and machines can each do one and put them together.
#pragma once

#include <string>
#include <vector>

#include "core/exploration/search_job.h"
#include "core/scenario/answer.h"

namespace slipstick {

// A job's finds as JSON and back, so that another process can merge shards.
Json WriteProgress(const SearchProgress& progress);
Result<SearchProgress> ReadProgress(const Json& json);

// What one shard found, with the request and the spec it searched.
std::string ShardText(const Json& request, const Json& spec, Count shard, Count shards, const SearchProgress& progress);

// The report that the whole search would give, from the texts of its shards; "missing_shards" lists those not given.
Answer MergeShards(const std::vector<std::string>& texts);
// The same of a JSON list of texts.
Answer MergeShardsText(const std::string& list);

// One shard as the page runs it. `spec` is a search spec with a member "request".
class ShardSearch {
 public:
  explicit ShardSearch(const std::string& spec);
  // {"issues": […]} where the spec is wrong; such a search has nothing to step.
  [[nodiscard]] const std::string& issues() const { return issues_; }
  bool Step(int count) { return job_ && job_->Step(count); }
  [[nodiscard]] std::string Report() const;
  [[nodiscard]] std::string Shard() const;

 private:
  std::string Begin(const std::string& text);

  std::string issues_;
  Json request_, spec_;
  Count shard_ = 0, shards_ = 1;
  std::shared_ptr<SearchJob> job_;
};

}  // namespace slipstick
