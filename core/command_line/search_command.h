// `slipstick search` and `slipstick merge`: a search on this machine's threads, or one shard of it, and shards put together.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/answer.h"

namespace slipstick {

struct SearchCommand {
  std::string request;                   // JSON text; "" for the default scenario
  std::vector<std::string> assignments;  // PATH=VALUE
  std::string of = "training", objective, pareto, top = "10", shard = "0/1", threads = "0";
  std::vector<std::string> limits;
  bool prune = true;
  bool show_progress = false;  // say on standard error how far it is, watched or not
};
// The report of a search, or of one shard what `merge` reads.
Answer RunSearch(const SearchCommand& command);

}  // namespace slipstick
