// The parsed command line, and the commands that turn its options into a question.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/scenario/answer.h"

namespace slipstick {

struct CommandLine {
  std::vector<std::string> assignments, words;
  std::map<std::string, std::vector<std::string>, std::less<>> options;  // the values of each option in use, or none

  [[nodiscard]] bool Has(std::string_view name) const { return options.contains(name); }
  [[nodiscard]] std::vector<std::string> All(std::string_view name) const;
  // The last value, or the default.
  [[nodiscard]] std::string Option(std::string_view name) const;
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
// In a sweep and to solve, PATH=a,b and PATH=lo:hi are axes, PATH=VALUE is an assignment.
Answer RunSolve(const std::string& request, const CommandLine& line);
Answer RunSweep(const std::string& request, const CommandLine& line);
// Runs the points of a paper study on this machine's threads.
Answer RunStudy(const std::string& id, const CommandLine& line);

}  // namespace slipstick
