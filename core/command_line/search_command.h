// `slipstick search`: a search on this machine's threads, or one shard of it.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/answer.h"

namespace slipstick {

struct SearchCommand {
  std::string request;                   // JSON text; "" for the default scenario
  std::vector<std::string> assignments;  // PATH=VALUE
  std::string of = "training", objective, pareto, top = "10", shard = "0/1", threads = "0";
  std::vector<std::string> limits, axes;
  bool prune = true;
  bool show_progress = false;  // show progress even if standard error is no terminal
};
// The report of a search; for one shard, the input of `merge`.
Answer RunSearch(const SearchCommand& command);

}  // namespace slipstick
