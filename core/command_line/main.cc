// slipstick: the core for scripts. Parses arguments and calls what the page calls.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "core/api/api.h"
#include "core/command_line/help.h"
#include "core/command_line/progress_line.h"
#include "core/command_line/search_command.h"
#include "core/command_line/study_command.h"
#include "core/exploration/design.h"
#include "core/exploration/search_shard.h"
#include "core/exploration/search_spec.h"
#include "core/exploration/sensitivity.h"
#include "core/exploration/solve.h"
#include "core/exploration/sweep.h"
#include "core/import/import_config.h"
#include "core/scenario/answer.h"
#include "core/studies/cost_study.h"

namespace {

constexpr int kAnswered = 0, kWrongRequest = 2;

int Print(const slipstick::Answer& answer) {
  std::cout << answer.text << '\n';
  for (const slipstick::Issue& issue : answer.issues) {
    std::cerr << (issue.path.empty() ? "request" : issue.path) << ": " << issue.message << '\n';
    for (const slipstick::Fix& fix : issue.fixes) {
      std::cerr << "  fix: " << slipstick::AssignmentText(fix.change);
      for (const slipstick::Change& also : fix.also) std::cerr << ' ' << slipstick::AssignmentText(also);
      std::cerr << '\n';
    }
  }
  return answer.issues.empty() ? kAnswered : kWrongRequest;
}

int Wrong(const std::string& path, const std::string& message) { return Print(slipstick::WrongRequest({{path, message}})); }

// The text of a file, or of standard input for "-".
bool ReadAll(const std::string& name, std::string& text) {
  std::ostringstream all;
  if (name == "-") {
    all << std::cin.rdbuf();
  } else {
    std::ifstream file(name);
    if (!file) return false;
    all << file.rdbuf();
  }
  text = all.str();
  return true;
}

bool IsHelp(const std::string& argument) { return argument == "--help" || argument == "-h"; }

std::vector<std::string> SplitCommas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty() || IsHelp(arguments[0])) {
    std::cout << slipstick::UsageText();
    return arguments.empty() ? kWrongRequest : kAnswered;
  }
  const std::string& verb = arguments[0];
  if (std::any_of(arguments.begin() + 1, arguments.end(), IsHelp)) {
    const std::string help = slipstick::HelpText(verb);
    if (help.empty()) return Wrong(verb, "there is no such command");
    std::cout << help;
    return kAnswered;
  }
  // Options that take a word, and what they were given.
  std::map<std::string, std::string> options{{"--explain", ""},   {"--report", ""},   {"--until", ""},       {"--figure", ""},
                                             {"--objective", ""}, {"--share", "0.2"}, {"--for", "training"}, {"--pareto", ""},
                                             {"--best", ""},      {"--optimise", ""}, {"--top", "10"},       {"--shard", "0/1"},
                                             {"--threads", "0"}};
  std::vector<std::string> limits, against;
  std::vector<std::string> assignments, words;
  bool lines = false, prune = true, show_progress = false;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--lines") {
      lines = true;
    } else if (argument == "--progress") {
      show_progress = true;
    } else if (argument == "--no-prune") {
      prune = false;
    } else if (argument == "--limit") {
      if (++i == arguments.size()) return Wrong(argument, "expected PATH<=VALUE after it");
      limits.push_back(arguments[i]);
    } else if (argument == "--against") {
      if (++i == arguments.size()) return Wrong(argument, "expected PATH=VALUE after it");
      against.push_back(arguments[i]);
    } else if (const auto option = options.find(argument); option != options.end()) {
      if (++i == arguments.size()) return Wrong(argument, "expected a word after it");
      option->second = arguments[i];
    } else if (argument.size() > 1 && argument[0] == '-') {
      return Wrong(argument, "there is no such option");
    } else if (argument.find('=') != std::string::npos) {
      assignments.push_back(argument);
    } else {
      words.push_back(argument);
    }
  }
  if (verb == "describe") return Print(slipstick::DescribeAnswer());
  if (verb == "study")
    return words.size() == 1 ? Print(slipstick::RunStudy(words[0], options["--threads"], show_progress))
                             : Wrong("study", "expected the id of one study");
  if (verb == "presets") return Print(slipstick::PresetsAnswer(words.empty() ? "" : words[0]));
  const std::string& explain = options["--explain"];
  if (lines && (verb == "evaluate" || verb == "kernel")) {
    std::string line;
    while (std::getline(std::cin, line)) {
      if (line.empty()) continue;
      std::cout << (verb == "kernel" ? slipstick::KernelAnswer(line) : slipstick::EvaluateAnswer(line, assignments, explain)).text << '\n';
    }
    return kAnswered;
  }
  if (verb == "merge") {
    std::vector<std::string> shards(words.size());
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!ReadAll(words[i], shards[i])) return Wrong(words[i], "cannot be read");
    }
    return Print(slipstick::MergeShards(shards));
  }
  if (words.size() > 1) return Wrong(words[1], "expected one file");
  std::string request;
  if (!words.empty() && !ReadAll(words[0], request)) return Wrong(words[0], "cannot be read");
  if (verb == "cost-study") return Print(slipstick::CostStudyAnswer(request));
  if (verb == "import-model") return Print(slipstick::ImportModelAnswer(request));
  if (verb == "evaluate") return Print(slipstick::EvaluateAnswer(request, assignments, explain));
  if (verb == "kernel") return Print(slipstick::KernelAnswer(request));
  if (verb == "search") {
    return Print(slipstick::RunSearch({request, assignments, options["--for"], options["--objective"], options["--pareto"],
                                       options["--top"], options["--shard"], options["--threads"], limits, prune, show_progress}));
  }
  if (verb == "design") return Print(slipstick::DesignAnswer(request, assignments, options["--objective"]));
  if (verb == "sensitivity") {
    return Print(slipstick::SensitivityAnswer(request, assignments, options["--figure"], std::strtod(options["--share"].c_str(), nullptr)));
  }
  if (verb == "sweep" || verb == "solve") {
    // PATH=a,b and PATH=lo:hi are axes; PATH=VALUE is an assignment.
    std::vector<std::string> axes, fixed;
    for (const std::string& text : assignments) {
      (text.find_first_of(",:", text.find('=')) != std::string::npos ? axes : fixed).push_back(text);
    }
    std::optional<slipstick::SearchSpec> search;
    if (!options["--best"].empty()) {
      search.emplace();
      search->part = options["--best"];
      search->objective = options["--objective"];
      search->limits = limits;
    }
    if (verb == "sweep")
      return Print(slipstick::SweepAnswer(request, fixed, axes, SplitCommas(options["--report"]), search, options["--optimise"]));
    if (axes.size() != 1) return Wrong("range", "expected one PATH=lo:hi");
    slipstick::ProgressLine line(show_progress);
    const auto on_progress = [&line](const slipstick::SolveProgress& progress) { line.Update(progress.tried, progress.of); };
    return Print(slipstick::SolveAnswer(request, fixed, axes[0], options["--until"], {against, search, on_progress}));
  }
  return Wrong(verb, "there is no such command");
}
