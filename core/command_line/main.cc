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
#include <string_view>
#include <utility>
#include <vector>

#include "core/api/api.h"
#include "core/base/listed.h"
#include "core/base/release.h"
#include "core/command_line/commands.h"
#include "core/command_line/verbs.h"
#include "core/exploration/calibrate.h"
#include "core/exploration/compare.h"
#include "core/exploration/dependence.h"
#include "core/exploration/search_shard.h"
#include "core/exploration/sensitivity.h"
#include "core/import/import_config.h"
#include "core/scenario/answer.h"
#include "core/studies/cost_study.h"
#include "core/text/answer_text.h"
#include "core/text/json_schema.h"

namespace slipstick {
namespace {

constexpr int kAnswered = 0, kWrongRequest = 2;

// Commands whose answers have a form for people; the answers of other commands are always JSON or CSV.
using PeopleForm = std::string (*)(std::string_view answer, bool is_colored);
constexpr std::pair<std::string_view, PeopleForm> kPeopleForms[] = {
    {"evaluate", ReportText},         {"search", SearchText}, {"merge", SearchText},    {"size", SizeText},
    {"replay", ReplayText},           {"advise", AdviceText}, {"compare", CompareText}, {"solve", SolveText},
    {"sensitivity", SensitivityText}, {"design", DesignText}, {"presets", PresetsText}, {"study", StudyText},
    {"describe", DescribeText}};

bool IsForPeople(const CommandLine& line) {
  const std::string format = line.Option("--format");
  return format == "table" || (format.empty() && isatty(STDOUT_FILENO) != 0);
}

// Null for JSON: it was requested, or the answer has no other form, as derivations and shards.
PeopleForm PeopleFormOf(std::string_view verb, const CommandLine& line) {
  if (!IsForPeople(line) || !line.Option("--explain").empty() || line.Option("--shard") != "0/1") return nullptr;
  for (const auto& [name, form] : kPeopleForms) {
    if (name == verb) return form;
  }
  return nullptr;
}

bool IsColored() {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0');
}

// `people`: the form for people; null: prints the answer as it is.
int Print(const Answer& answer, PeopleForm people) {
  if (people == nullptr) {
    std::cout << answer.text << '\n';
  } else if (answer.issues.empty()) {
    std::cout << people(answer.text, IsColored());
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

// Reads a file, or standard input for "-".
Result<std::string> ReadAll(const std::string& name) {
  std::ifstream file;
  if (name != "-") file.open(name);
  std::istream& from = name == "-" ? std::cin : file;
  std::string text;
  if (!ReadUpTo(std::nullopt, from, text)) return Issues{{name, kTooLong}};
  if (from.bad() || (name != "-" && !file.is_open()))
    return Issues{{name, "Cannot read this file"}};  // missing, or a folder
  if (text.empty()) return Issues{{name, "This file is empty"}};
  return text;
}

// The scenario in the word at a place; "", the default scenario, if there is none.
Result<std::string> ReadScenario(const CommandLine& line, std::size_t place) {
  if (line.words.size() > place + 1) return Issues{{line.words[place + 1], "Give one file only"}};
  return line.words.size() > place ? ReadAll(line.words[place]) : Result<std::string>("");
}

bool IsHelp(const std::string& argument) { return argument == "--help" || argument == "-h"; }

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
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string argument = arguments[i] == "--optimize" ? "--optimise" : arguments[i];
    if (const CommandOption* option = OptionOf(argument)) {
      if (!HasOption(verb, argument)) {
        return Issues{
            {argument, "Not an option of " + arguments[0] + ", which `slipstick " + arguments[0] + " --help` lists"}};
      }
      if (argument == "--json") {
        line.options["--format"].emplace_back("json");
      } else if (option->value.empty()) {
        line.options[argument].emplace_back();
      } else if (++i < arguments.size()) {
        line.options[argument].push_back(arguments[i]);
      } else {
        return Issues{{argument, "A value must follow this option"}};
      }
    } else if (argument.size() > 1 && argument[0] == '-') {
      return Issues{{argument, UnknownOption(argument, verb)}};
    } else if (argument.find('=') != std::string::npos) {
      line.assignments.push_back(argument);
    } else {
      line.words.push_back(argument);
    }
  }
  if (!AddMeasured(line.All("--measured"), line.assignments)) return Issues{{"--measured", "Enter PATH=VALUE"}};
  Issues wrong;
  for (const auto& [name, values] : line.options) {
    const Issues issues = WrongName(*OptionOf(name), values.back());
    wrong.insert(wrong.end(), issues.begin(), issues.end());
  }
  if (!wrong.empty()) return wrong;
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

Answer MergeFiles(const std::vector<std::string>& names) {
  std::vector<std::string> shards;
  for (const std::string& name : names) {
    Result<std::string> shard = ReadAll(name);
    if (!shard) return WrongRequest(shard.issues);
    shards.push_back(std::move(*shard));
  }
  return MergeShards(shards);
}

// Each file is a scenario, and each --against the first one with further changes.
Answer CompareScenarios(const CommandLine& line) {
  std::vector<ComparedScenario> scenarios;
  for (const std::string& name : line.words) {
    Result<std::string> request = ReadAll(name);
    if (!request) return WrongRequest(request.issues);
    scenarios.push_back({name, std::move(*request), line.assignments});
  }
  if (scenarios.empty()) scenarios.push_back({"scenario", "", line.assignments});
  for (const std::string& changes : line.All("--against")) {
    ComparedScenario changed = scenarios.front();
    changed.name = changes;
    for (std::string& change : ListedIn(changes, '&')) changed.changes.push_back(std::move(change));
    scenarios.push_back(std::move(changed));
  }
  return CompareAnswer(scenarios);
}

Answer EvaluateScenario(const std::string& request, const CommandLine& line) {
  const std::string explain = line.Option("--explain");
  const bool is_text = line.Option("--format") == "text";
  if (is_text && explain.empty())
    return WrongRequest({{"--format text", "Needs --explain PATH; or choose --format table"}});
  const bool is_derivation = is_text || (IsForPeople(line) && !explain.empty() && explain != "*");
  return is_derivation ? DerivationAnswer(request, line.assignments, explain)
                       : EvaluateAnswer(request, line.assignments, explain);
}

Answer SensitivityOf(const std::string& request, const CommandLine& line) {
  const auto share = ParseJson(line.Option("--share"));
  return SensitivityAnswer(request, line.assignments, line.Option("--figure"),
                           share && share->is_number() ? share->get<double>() : std::nan(""));
}

Answer SchemaOf(const std::string& of) {
  if (!of.empty() && of != "scenario" && of != "report" && of != "size_question")
    return WrongRequest({{"schema", "Give scenario, report or size_question"}});
  return {FormatSchema(of), {}};
}

Answer CompletionFor(const std::string& shell) {
  const std::string script = CompletionScript(shell);
  return script.empty() ? WrongRequest({{"completion", "Give bash or zsh"}}) : Answer{script, {}};
}

// The first word is the file of requests, the second is the scenario.
Answer ReplayFile(const CommandLine& line) {
  if (line.words.empty() || line.words.size() > 2)
    return WrongRequest({{"replay", "Give the file of requests, and at most one scenario"}});
  const Result<std::string> trace = ReadAll(line.words[0]);
  if (!trace) return WrongRequest(trace.issues);
  const Result<std::string> request = ReadScenario(line, 1);
  return request ? RunReplay(*trace, *request, line) : WrongRequest(request.issues);
}

// The answer of a command that reads its own files, or none; nothing for other commands.
std::optional<Answer> AnswerWithoutScenario(const std::string& verb, const CommandLine& line) {
  const std::vector<std::string>& words = line.words;
  const std::string first = words.empty() ? "" : words[0];
  if (verb == "describe") return DescribeAnswer(words);
  if (verb == "presets") return PresetsAnswer(first);
  if (verb == "schema") return SchemaOf(first);
  if (verb == "completion") return CompletionFor(first);
  if (verb == "man") return Answer{ManualText(), {}};
  if (verb == "study") {
    if (words.size() == 1) return RunStudy(first, line);
    return WrongRequest({{"study", "Give the id of one study; `slipstick presets study` lists them"}});
  }
  if (verb == "merge") return MergeFiles(words);
  if (verb == "compare") return CompareScenarios(line);
  if (verb == "replay") return ReplayFile(line);
  return std::nullopt;
}

Answer AnswerOf(const std::string& verb, const CommandLine& line) {
  if (std::optional<Answer> answer = AnswerWithoutScenario(verb, line)) return std::move(*answer);
  const Result<std::string> read = ReadScenario(line, 0);
  if (!read) return WrongRequest(read.issues);
  const std::string& request = *read;
  if (verb == "cost-study") return CostStudyAnswer(request);
  if (verb == "calibrate") return CalibrateAnswer(request);
  if (verb == "import-model") return ImportModelAnswer(request);
  if (verb == "evaluate") return EvaluateScenario(request, line);
  if (verb == "kernel") return KernelAnswer(request);
  if (verb == "search") return RunSearch(request, line);
  if (verb == "advise") return RunAdvise(request, line);
  if (verb == "size") return RunSize(request, line);
  if (verb == "design") return RunDesign(request, line);
  if (verb == "evidence") return EvidenceAnswer(request, line.assignments, line.Option("--figure"));
  if (verb == "sensitivity") return SensitivityOf(request, line);
  if (verb == "dependence") return DependenceAnswer(request, line.assignments, line.Option("--input"));
  return verb == "sweep" ? RunSweep(request, line) : RunSolve(request, line);
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
  if (command == nullptr) return Print(WrongRequest({{verb, UnknownCommand(verb)}}), nullptr);
  if (std::any_of(arguments.begin() + 1, arguments.end(), IsHelp)) {
    std::cout << HelpText(verb);
    return kAnswered;
  }
  const Result<CommandLine> line = ParseArguments(*command, arguments);
  if (!line) return Print(WrongRequest(line.issues), nullptr);
  if (line->Has("--lines")) return AnswerLines(verb, *line);
  return Print(AnswerOf(verb, *line), PeopleFormOf(verb, *line));
}

}  // namespace
}  // namespace slipstick

int main(int argc, char** argv) { return slipstick::Main(argc, argv); }
