// slipstick: the command line. Parses arguments and calls the verbs that the page calls too.
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
#include "core/command_line/advise_command.h"
#include "core/command_line/help.h"
#include "core/command_line/progress_line.h"
#include "core/command_line/search_command.h"
#include "core/command_line/size_command.h"
#include "core/command_line/study_command.h"
#include "core/exploration/dependence.h"
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

struct CommandLine {
  std::vector<std::string> assignments, words;
  std::vector<std::string> limits, against;
  // Options with a value, and their defaults.
  std::map<std::string, std::string> options{
      {"--explain", ""},   {"--report", ""},     {"--until", ""},    {"--figure", ""},       {"--input", ""},  {"--format", "json"},
      {"--objective", ""}, {"--share", "0.2"},   {"--for", ""},      {"--pareto", ""},       {"--best", ""},   {"--optimise", ""},
      {"--top", "10"},     {"--shard", "0/1"},   {"--threads", "0"}, {"--clusters", ""},     {"--prices", ""}, {"--rate", ""},
      {"--peak", ""},      {"--ttft", ""},       {"--tpot", ""},     {"--percentile", ""},   {"--spares", ""}, {"--devices", ""},
      {"--power", ""},     {"--rack-power", ""}, {"--budget", ""},   {"--hourly-budget", ""}};
  bool lines = false, prune = true, show_progress = false;

  [[nodiscard]] const std::string& Option(const std::string& name) const { return options.at(name); }
};

slipstick::Result<CommandLine> ParseArguments(const std::vector<std::string>& arguments) {
  CommandLine line;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const auto option = line.options.find(argument == "--optimize" ? "--optimise" : argument);
    const bool takes_value = option != line.options.end() || argument == "--limit" || argument == "--against";
    if (takes_value && i + 1 == arguments.size()) return slipstick::Issues{{argument, "A value must follow this option"}};
    if (argument == "--lines") {
      line.lines = true;
    } else if (argument == "--progress") {
      line.show_progress = true;
    } else if (argument == "--no-prune") {
      line.prune = false;
    } else if (argument == "--limit") {
      line.limits.push_back(arguments[++i]);
    } else if (argument == "--against") {
      line.against.push_back(arguments[++i]);
    } else if (argument == "--until" && !option->second.empty()) {
      option->second += "," + arguments[++i];
    } else if (option != line.options.end()) {
      option->second = arguments[++i];
    } else if (argument.size() > 1 && argument[0] == '-') {
      return slipstick::Issues{{argument, "Unknown option"}};
    } else if (argument.find('=') != std::string::npos) {
      line.assignments.push_back(argument);
    } else {
      line.words.push_back(argument);
    }
  }
  return line;
}

// One request per line of standard input, one answer per line of output.
int AnswerLines(const std::string& verb, const CommandLine& line) {
  std::string request;
  while (std::getline(std::cin, request)) {
    if (request.empty()) continue;
    const bool is_kernel = verb == "kernel";
    std::cout << (is_kernel ? slipstick::KernelAnswer(request)
                            : slipstick::EvaluateAnswer(request, line.assignments, line.Option("--explain")))
                     .text
              << '\n';
  }
  return kAnswered;
}

int MergeFiles(const std::vector<std::string>& names) {
  std::vector<std::string> shards(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!ReadAll(names[i], shards[i])) return Wrong(names[i], "Cannot read this file");
  }
  return Print(slipstick::MergeShards(shards));
}

// sweep and solve: PATH=a,b and PATH=lo:hi are axes, PATH=VALUE is an assignment.
int AnswerRange(const std::string& verb, const std::string& request, const CommandLine& line) {
  std::vector<std::string> axes, fixed;
  for (const std::string& text : line.assignments) {
    (text.find_first_of(",:", text.find('=')) != std::string::npos ? axes : fixed).push_back(text);
  }
  std::optional<slipstick::SearchSpec> search;
  if (!line.Option("--best").empty()) {
    search.emplace();
    search->part = line.Option("--best");
    search->objective = line.Option("--objective");
    search->limits = line.limits;
  }
  if (verb == "sweep") {
    return Print(slipstick::SweepAnswer(request, fixed, axes, SplitCommas(line.Option("--report")), search, line.Option("--optimise")));
  }
  if (axes.size() != 1) return Wrong("range", "Give one PATH=lo:hi");
  slipstick::ProgressLine progress_line(line.show_progress);
  const auto on_progress = [&](const slipstick::SolveProgress& progress) { progress_line.Update(progress.tried, progress.of); };
  return Print(slipstick::SolveAnswer(request, fixed, axes[0], line.Option("--until"), {line.against, search, on_progress}));
}

int Run(const std::string& verb, const CommandLine& line) {
  const std::vector<std::string>& words = line.words;
  if (verb == "describe") return Print(slipstick::DescribeAnswer());
  if (verb == "presets") return Print(slipstick::PresetsAnswer(words.empty() ? "" : words[0]));
  if (verb == "study") {
    if (words.size() != 1) return Wrong("study", "Give the id of one study");
    return Print(slipstick::RunStudy(words[0], line.Option("--threads"), line.show_progress));
  }
  if (line.lines && (verb == "evaluate" || verb == "kernel")) return AnswerLines(verb, line);
  if (verb == "merge") return MergeFiles(words);
  if (words.size() > 1) return Wrong(words[1], "Give one file only");
  std::string request;
  if (!words.empty() && !ReadAll(words[0], request)) return Wrong(words[0], "Cannot read this file");
  if (verb == "cost-study") return Print(slipstick::CostStudyAnswer(request));
  if (verb == "import-model") return Print(slipstick::ImportModelAnswer(request));
  if (verb == "evaluate" && line.Option("--format") == "text") {
    return Print(slipstick::DerivationAnswer(request, line.assignments, line.Option("--explain")));
  }
  if (verb == "evaluate") return Print(slipstick::EvaluateAnswer(request, line.assignments, line.Option("--explain")));
  if (verb == "kernel") return Print(slipstick::KernelAnswer(request));
  if (verb == "search") {
    const std::string of = line.Option("--for").empty() ? "training" : line.Option("--for");
    return Print(
        slipstick::RunSearch({request, line.assignments, of, line.Option("--objective"), line.Option("--pareto"), line.Option("--top"),
                              line.Option("--shard"), line.Option("--threads"), line.limits, line.prune, line.show_progress}));
  }
  if (verb == "advise") {
    return Print(slipstick::RunAdvise(
        {request, line.assignments, line.Option("--for"), line.Option("--objective"), line.Option("--top"), line.limits}));
  }
  if (verb == "size") return Print(slipstick::RunSize(request, line.assignments, line.options, line.limits));
  if (verb == "design") return Print(slipstick::DesignAnswer(request, line.assignments, line.Option("--objective")));
  if (verb == "sensitivity") {
    const double share = std::strtod(line.Option("--share").c_str(), nullptr);
    return Print(slipstick::SensitivityAnswer(request, line.assignments, line.Option("--figure"), share));
  }
  if (verb == "dependence") return Print(slipstick::DependenceAnswer(request, line.assignments, line.Option("--input")));
  if (verb == "sweep" || verb == "solve") return AnswerRange(verb, request, line);
  return Wrong(verb, "Unknown command");
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
    if (help.empty()) return Wrong(verb, "Unknown command");
    std::cout << help;
    return kAnswered;
  }
  const slipstick::Result<CommandLine> line = ParseArguments(arguments);
  return line ? Run(verb, *line) : Print(slipstick::WrongRequest(line.issues));
}
