// slipstick: the command line. Parses arguments and calls the same commands as the page.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "core/api/api.h"
#include "core/base/listed.h"
#include "core/base/release.h"
#include "core/command_line/commands.h"
#include "core/command_line/completion.h"
#include "core/command_line/help.h"
#include "core/command_line/people_form.h"
#include "core/command_line/progress_line.h"
#include "core/command_line/verbs.h"
#include "core/exploration/calibrate.h"
#include "core/exploration/compare.h"
#include "core/exploration/dependence.h"
#include "core/exploration/search_shard.h"
#include "core/exploration/search_spec.h"
#include "core/exploration/sensitivity.h"
#include "core/exploration/solve.h"
#include "core/exploration/sweep.h"
#include "core/import/import_config.h"
#include "core/scenario/answer.h"
#include "core/studies/cost_study.h"
#include "core/text/json_schema.h"

namespace slipstick {
namespace {

constexpr int kAnswered = 0, kWrongRequest = 2;

bool IsColored() {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0');
}

// `people`: the form for people; null: prints the JSON answer.
int Print(const Answer& answer, const PeopleForm* people = nullptr) {
  if (people == nullptr) {
    std::cout << answer.text << '\n';
  } else if (answer.issues.empty()) {
    std::cout << people->text(answer.text, IsColored());
  }
  for (const Issue& issue : answer.issues) {
    std::cerr << (issue.path.empty() ? "request" : issue.path) << ": " << issue.message << '\n';
    for (const Fix& fix : issue.fixes) {
      std::cerr << "  fix: " << AssignmentText(fix.change);
      for (const Change& also : fix.also) std::cerr << ' ' << AssignmentText(also);
      std::cerr << '\n';
    }
  }
  return answer.issues.empty() ? kAnswered : kWrongRequest;
}

int Wrong(const std::string& path, const std::string& message) { return Print(WrongRequest({{path, message}})); }

constexpr std::size_t kMostRead = 64'000'000;  // bytes of a file or of a line
constexpr const char* kTooLong = "Too long: at most 64 MB";

// Reads up to `end`, or everything; false if that is longer than kMostRead. A longer line is skipped.
bool ReadUpTo(std::optional<char> end, std::istream& from, std::string& text) {
  text.clear();
  bool is_short = true;
  for (int next = from.get(); next != EOF && !(end && next == *end); next = from.get()) {
    is_short = text.size() < kMostRead;
    if (is_short) text.push_back(static_cast<char>(next));
    if (!is_short && !end) break;
  }
  return is_short;
}

// Reads a file, or standard input for "-", into `text`. Returns the reason if that fails, otherwise "".
std::string ReadAll(const std::string& name, std::string& text) {
  std::ifstream file;
  if (name != "-") file.open(name);
  std::istream& from = name == "-" ? std::cin : file;
  if (!ReadUpTo(std::nullopt, from, text)) return kTooLong;
  if (from.bad() || (name != "-" && !file.is_open())) return "Cannot read this file";  // missing, or a folder
  return text.empty() ? "This file is empty" : "";
}

bool IsHelp(const std::string& argument) { return argument == "--help" || argument == "-h"; }

// The command's form for people, if the answer goes to a terminal or the form was requested.
const PeopleForm* PeopleOf(std::string_view verb, const CommandLine& line) {
  const std::string& format = line.Option("--format");
  const bool is_wanted = format == "table" || (format.empty() && isatty(STDOUT_FILENO) != 0);
  return is_wanted ? PeopleFormOf(verb) : nullptr;
}

// Every command accepts --json: if its answer has no other form, the option has no effect.
bool HasOption(const Verb& verb, const std::string& name) {
  const std::vector<const CommandOption*> options = OptionsOf(verb);
  return name == "--json" ||
         std::any_of(options.begin(), options.end(), [&name](const auto* option) { return option->name == name; });
}

// Adds measurements that replace the request's; false if one is not PATH=VALUE.
bool AddMeasured(const std::vector<std::string>& measured, std::vector<std::string>& assignments) {
  if (!measured.empty()) assignments.emplace_back("measured=[]");
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const std::size_t equals = measured[i].find('=');
    if (equals == std::string::npos) return false;
    const std::string start = "measured." + std::to_string(i);
    assignments.push_back(start + ".path=" + measured[i].substr(0, equals));
    assignments.push_back(start + ".value=" + measured[i].substr(equals + 1));
  }
  return true;
}

Result<CommandLine> ParseArguments(const Verb& verb, const std::vector<std::string>& arguments) {
  CommandLine line;
  for (const CommandOption& option : CommandOptions()) {
    if (!option.value.empty()) line.options.emplace(option.name, option.standard);
  }
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string argument = arguments[i] == "--optimize" ? "--optimise" : arguments[i];
    const auto option = line.options.find(argument);
    if (OptionOf(argument) != nullptr && !HasOption(verb, argument)) {
      return Issues{
          {argument, "Not an option of " + arguments[0] + ", which `slipstick " + arguments[0] + " --help` lists"}};
    }
    if (option != line.options.end() && i + 1 == arguments.size()) {
      return Issues{{argument, "A value must follow this option"}};
    }
    if (argument == "--lines") {
      line.lines = true;
    } else if (argument == "--progress") {
      line.show_progress = true;
    } else if (argument == "--no-prune") {
      line.prune = false;
    } else if (argument == "--json") {
      line.options["--format"] = "json";
    } else if (argument == "--limit") {
      line.limits.push_back(arguments[++i]);
    } else if (argument == "--axis") {
      line.axes.push_back(arguments[++i]);
    } else if (argument == "--measured") {
      line.measured.push_back(arguments[++i]);
    } else if (argument == "--against") {
      line.against.push_back(arguments[++i]);
    } else if (argument == "--until" && !option->second.empty()) {
      option->second += "," + arguments[++i];
    } else if (option != line.options.end()) {
      option->second = arguments[++i];
    } else if (argument.size() > 1 && argument[0] == '-') {
      return Issues{{argument, UnknownOption(argument, verb)}};
    } else if (argument.find('=') != std::string::npos) {
      line.assignments.push_back(argument);
    } else {
      line.words.push_back(argument);
    }
  }
  if (!AddMeasured(line.measured, line.assignments)) return Issues{{"--measured", "Enter PATH=VALUE"}};
  if (Issues wrong = WrongNames(line.options); !wrong.empty()) return wrong;
  return line;
}

// One request per line of standard input, one answer per line of output.
int AnswerLines(const std::string& verb, const CommandLine& line) {
  std::string request;
  while (std::cin.peek() != EOF) {
    if (!ReadUpTo('\n', std::cin, request)) {
      std::cout << WrongRequest({{"", kTooLong}}).text << '\n';
      continue;
    }
    if (request.empty()) continue;
    std::cout << (verb == "kernel" ? KernelAnswer(request)
                                   : EvaluateAnswer(request, line.assignments, line.Option("--explain")))
                     .text
              << '\n';
  }
  return kAnswered;
}

int MergeFiles(const std::vector<std::string>& names, const PeopleForm* people) {
  std::vector<std::string> shards(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (const std::string wrong = ReadAll(names[i], shards[i]); !wrong.empty()) return Wrong(names[i], wrong);
  }
  return Print(MergeShards(shards), people);
}

// sweep and solve: PATH=a,b and PATH=lo:hi are axes, PATH=VALUE is an assignment.
int AnswerRange(const std::string& verb, const std::string& request, const CommandLine& line) {
  std::vector<std::string> axes, fixed;
  for (const std::string& text : line.assignments) {
    (text.find_first_of(",:", text.find('=')) != std::string::npos ? axes : fixed).push_back(text);
  }
  std::optional<SearchSpec> search;
  if (!line.Option("--best").empty()) {
    search.emplace();
    search->part = line.Option("--best");
    search->objective = line.Option("--objective");
    search->limits = line.limits;
  }
  if (verb == "sweep") {
    return Print(
        SweepAnswer(request, fixed, axes, ListedIn(line.Option("--report")), search, line.Option("--optimise")));
  }
  if (axes.size() != 1) return Wrong("range", "Give one PATH=lo:hi");
  ProgressLine progress_line(line.show_progress);
  const auto on_progress = [&](const SolveProgress& progress) { progress_line.Update(progress.tried, progress.of); };
  return Print(SolveAnswer(request, fixed, axes[0], line.Option("--until"), {line.against, search, on_progress}),
               PeopleOf(verb, line));
}

// Each file is a scenario, and each --against the first one with further changes.
int CompareScenarios(const CommandLine& line) {
  std::vector<ComparedScenario> scenarios;
  for (const std::string& name : line.words) {
    scenarios.push_back({name, "", line.assignments});
    if (const std::string wrong = ReadAll(name, scenarios.back().request); !wrong.empty()) return Wrong(name, wrong);
  }
  if (scenarios.empty()) scenarios.push_back({"scenario", "", line.assignments});
  for (const std::string& changes : line.against) {
    ComparedScenario changed = scenarios.front();
    changed.name = changes;
    for (std::string& change : ListedIn(changes, '&')) changed.changes.push_back(std::move(change));
    scenarios.push_back(std::move(changed));
  }
  return Print(CompareAnswer(scenarios), PeopleOf("compare", line));
}

int EvaluateScenario(const std::string& request, const CommandLine& line) {
  const std::string& explain = line.Option("--explain");
  const PeopleForm* people = PeopleOf("evaluate", line);
  const bool is_derivation =
      line.Option("--format") == "text" || (people != nullptr && !explain.empty() && explain != "*");
  if (is_derivation && explain.empty()) return Wrong("--format text", "Needs --explain PATH; or choose --format table");
  if (is_derivation) return Print(DerivationAnswer(request, line.assignments, explain));
  return Print(EvaluateAnswer(request, line.assignments, explain), explain.empty() ? people : nullptr);
}

int SchemaOf(const std::vector<std::string>& words) {
  const std::string of = words.empty() ? "" : words[0];
  if (!of.empty() && of != "scenario" && of != "report" && of != "size_question")
    return Wrong("schema", "Give scenario, report or size_question");
  std::cout << FormatSchema(of) << '\n';
  return kAnswered;
}

int CompletionFor(const std::vector<std::string>& words) {
  const std::string script = CompletionScript(words.empty() ? "" : words[0]);
  if (script.empty()) return Wrong("completion", "Give bash or zsh");
  std::cout << script;
  return kAnswered;
}

// The first word is the file of requests, the second is the scenario.
int ReplayFile(const CommandLine& line) {
  const std::vector<std::string>& words = line.words;
  if (words.empty() || words.size() > 2) return Wrong("replay", "Give the file of requests, and at most one scenario");
  std::string trace, request;
  if (const std::string wrong = ReadAll(words[0], trace); !wrong.empty()) return Wrong(words[0], wrong);
  if (words.size() > 1) {
    if (const std::string wrong = ReadAll(words[1], request); !wrong.empty()) return Wrong(words[1], wrong);
  }
  return Print(RunReplay(trace, request, line), PeopleOf("replay", line));
}

// The exit status of a command that reads its own files, or none; nothing for other commands.
std::optional<int> RunWithoutScenario(const std::string& verb, const CommandLine& line) {
  const std::vector<std::string>& words = line.words;
  if (verb == "describe") return Print(DescribeAnswer(words), PeopleOf(verb, line));
  if (verb == "presets") return Print(PresetsAnswer(words.empty() ? "" : words[0]), PeopleOf(verb, line));
  if (verb == "schema") return SchemaOf(words);
  if (verb == "completion") return CompletionFor(words);
  if (verb == "man") {
    std::cout << ManualText();
    return kAnswered;
  }
  if (verb == "study") {
    if (words.size() != 1) return Wrong("study", "Give the id of one study; `slipstick presets study` lists them");
    return Print(RunStudy(words[0], line), PeopleOf(verb, line));
  }
  if (verb == "merge") return MergeFiles(words, PeopleOf(verb, line));
  if (verb == "compare") return CompareScenarios(line);
  if (verb == "replay") return ReplayFile(line);
  if (line.lines && (verb == "evaluate" || verb == "kernel")) return AnswerLines(verb, line);
  return std::nullopt;
}

int Run(const std::string& verb, const CommandLine& line) {
  if (const std::optional<int> status = RunWithoutScenario(verb, line)) return *status;
  const std::vector<std::string>& words = line.words;
  if (words.size() > 1) return Wrong(words[1], "Give one file only");
  std::string request;
  if (!words.empty()) {
    if (const std::string wrong = ReadAll(words[0], request); !wrong.empty()) return Wrong(words[0], wrong);
  }
  if (verb == "cost-study") return Print(CostStudyAnswer(request));
  if (verb == "calibrate") return Print(CalibrateAnswer(request));
  if (verb == "import-model") return Print(ImportModelAnswer(request));
  if (verb == "evaluate") return EvaluateScenario(request, line);
  if (verb == "kernel") return Print(KernelAnswer(request));
  if (verb == "search")
    return Print(RunSearch(request, line), line.Option("--shard") == "0/1" ? PeopleOf(verb, line) : nullptr);
  if (verb == "advise") return Print(RunAdvise(request, line), PeopleOf(verb, line));
  if (verb == "size") return Print(RunSize(request, line), PeopleOf(verb, line));
  if (verb == "design") return Print(RunDesign(request, line), PeopleOf(verb, line));
  if (verb == "evidence") return Print(EvidenceAnswer(request, line.assignments, line.Option("--figure")));
  if (verb == "sensitivity") {
    const auto share = ParseJson(line.Option("--share"));
    return Print(SensitivityAnswer(request, line.assignments, line.Option("--figure"),
                                   share && share->is_number() ? share->get<double>() : std::nan("")),
                 PeopleOf(verb, line));
  }
  if (verb == "dependence") return Print(DependenceAnswer(request, line.assignments, line.Option("--input")));
  return AnswerRange(verb, request, line);  // sweep or solve
}

int Main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 2 && arguments[0] == "help") arguments = {arguments[1], "--help"};
  if (arguments.empty() || IsHelp(arguments[0]) || arguments[0] == "help") {
    std::cout << UsageText();
    return arguments.empty() ? kWrongRequest : kAnswered;
  }
  const std::string& verb = arguments[0];
  if (verb == "--version") {
    std::cout << "slipstick " << kRelease << '\n';
    return kAnswered;
  }
  if (verb == "complete") {  // asked by the shell's completion: words may be anything
    for (const std::string& one : Completions({arguments.begin() + 1, arguments.end()})) std::cout << one << '\n';
    return kAnswered;
  }
  const Verb* command = VerbOf(verb);
  if (command == nullptr) return Wrong(verb, UnknownCommand(verb));
  if (std::any_of(arguments.begin() + 1, arguments.end(), IsHelp)) {
    std::cout << HelpText(verb);
    return kAnswered;
  }
  const Result<CommandLine> line = ParseArguments(*command, arguments);
  return line ? Run(verb, *line) : Print(WrongRequest(line.issues));
}

}  // namespace
}  // namespace slipstick

int main(int argc, char** argv) { return slipstick::Main(argc, argv); }
