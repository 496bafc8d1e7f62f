// slipstick replay: reads the file of requests, plays it and shows its progress.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/scenario/answer.h"

namespace slipstick {

struct ReplayCommand {
  std::string trace, request;  // texts
  std::vector<std::string> assignments;
  const std::map<std::string, std::string>& options;
  bool show_progress = false;
};
Answer RunReplay(const ReplayCommand& command);

}  // namespace slipstick
