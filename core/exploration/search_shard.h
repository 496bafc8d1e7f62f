// Shards of a search as text, to run on other workers or machines and to merge.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/exploration/search_job.h"
#include "core/scenario/answer.h"

namespace slipstick {

// Reads the request of a search, with its measurements applied.
Result<Json> ReadSearchRequest(std::string_view text, const std::vector<std::string>& assignments);

// The result of one shard, with its request and spec.
std::string ShardText(const Json& request, const Json& spec, Count shard, Count shards, const SearchProgress& progress);

// The report of the whole search from the texts of its shards; "missing_shards" lists absent ones.
Answer MergeShards(const std::vector<std::string>& texts);
// As MergeShards, for a JSON list of texts.
Answer MergeShardsText(const std::string& list);

// One shard, for the page. `spec` is a search spec with a member "request".
class ShardSearch {
 public:
  explicit ShardSearch(const std::string& spec);
  // {"issues": […]} if the spec is wrong; then Step does nothing.
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
