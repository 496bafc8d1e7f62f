// slipstick: the core for scripts. Parses arguments and calls what the page calls.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "core/study/answer.h"

namespace {

constexpr int kAnswered = 0, kWrongRequest = 2;

const char* const kUsage =
    "usage: slipstick evaluate [FILE|-] [PATH=VALUE ...] [--explain PATH] [--lines]\n"
    "       slipstick kernel --lines < operators.jsonl\n"
    "       slipstick describe\n"
    "       slipstick presets [KIND]\n";

int Print(const slipstick::Answer& answer) {
  std::cout << answer.text << '\n';
  for (const slipstick::Issue& issue : answer.issues) {
    std::cerr << (issue.path.empty() ? "request" : issue.path) << ": " << issue.message << '\n';
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

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    std::cout << kUsage;
    return arguments.empty() ? kWrongRequest : kAnswered;
  }
  const std::string& verb = arguments[0];
  std::string request, explain;
  std::vector<std::string> assignments;
  std::vector<std::string> words;
  bool lines = false;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--lines") {
      lines = true;
    } else if (argument == "--explain") {
      if (++i == arguments.size()) return Wrong("--explain", "expected the path of a figure");
      explain = arguments[i];
    } else if (argument.size() > 1 && argument[0] == '-') {
      return Wrong(argument, "there is no such option");
    } else if (argument.find('=') != std::string::npos) {
      assignments.push_back(argument);
    } else {
      words.push_back(argument);
    }
  }
  if (verb == "describe") return Print(slipstick::DescribeAnswer());
  if (verb == "presets") return Print(slipstick::PresetsAnswer(words.empty() ? "" : words[0]));
  if (verb == "evaluate" || verb == "kernel") {
    if (lines) {
      std::string line;
      while (std::getline(std::cin, line)) {
        if (line.empty()) continue;
        std::cout << (verb == "kernel" ? slipstick::KernelAnswer(line) : slipstick::EvaluateAnswer(line, assignments, explain)).text
                  << '\n';
      }
      return kAnswered;
    }
    if (words.size() > 1) return Wrong(words[1], "expected one file");
    if (!words.empty() && !ReadAll(words[0], request)) return Wrong(words[0], "cannot be read");
    return Print(verb == "kernel" ? slipstick::KernelAnswer(request) : slipstick::EvaluateAnswer(request, assignments, explain));
  }
  return Wrong(verb, "there is no such command");
}
