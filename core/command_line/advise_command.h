// `slipstick advise`: discrete changes to a scenario, ranked by their gain.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/answer.h"

namespace slipstick {

struct AdviseCommand {
  std::string request;
  std::vector<std::string> assignments;
  std::string of, objective, top;  // as written; "" for the default
  std::vector<std::string> limits;
};
Answer RunAdvise(const AdviseCommand& command);

}  // namespace slipstick
