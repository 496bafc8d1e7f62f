// The parsed command line, and the commands that turn its options into a question.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/scenario/answer.h"

namespace slipstick {

struct CommandLine {
  std::vector<std::string> assignments, words;
  std::vector<std::string> limits, against, axes, measured;
  std::map<std::string, std::string> options;  // those with a value; "" for absent ones without a default
  bool lines = false, prune = true, show_progress = false;

  [[nodiscard]] const std::string& Option(const std::string& name) const { return options.at(name); }
};

// `request`: JSON text; "" for the default scenario.
Answer RunAdvise(const std::string& request, const CommandLine& line);
// Assignments PATH=a,b and PATH=lo:hi vary.
Answer RunDesign(const std::string& request, const CommandLine& line);
// `trace`: the text of a file of requests.
Answer RunReplay(const std::string& trace, const std::string& request, const CommandLine& line);
// The report of a search on this machine's threads; for one shard, the input of `merge`.
Answer RunSearch(const std::string& request, const CommandLine& line);
Answer RunSize(const std::string& request, const CommandLine& line);
// Runs the points of a paper study on this machine's threads.
Answer RunStudy(const std::string& id, const CommandLine& line);

}  // namespace slipstick
