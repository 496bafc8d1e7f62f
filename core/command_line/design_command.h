// The command `design` on the command line.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/answer.h"

namespace slipstick {

struct DesignCommand {
  const std::string& request;
  const std::vector<std::string>& assignments;  // PATH=a,b and PATH=lo:hi vary, PATH=VALUE is fixed
  const std::string& objective;
  const std::string& against;
  const std::string& locks;  // separated by commas
  const std::string& mapping;
  const std::vector<std::string>& limits;
  bool show_progress = false;
};
Answer RunDesign(const DesignCommand& command);

}  // namespace slipstick
