// The help texts of the command line.
#include <algorithm>

#include "core/base/nearest_names.h"
#include "core/base/release.h"
#include "core/command_line/verbs.h"
#include "core/text/table.h"

namespace slipstick {
namespace {

std::string Call(const Verb& verb) {
  return "slipstick " + std::string(verb.name) + (verb.arguments.empty() ? "" : " ") + std::string(verb.arguments) +
         (verb.options.empty() ? "" : " [OPTION ...]");
}

std::string OptionCall(const CommandOption& option) {
  return std::string(option.name) + (option.value.empty() ? "" : " ") + std::string(option.value);
}

std::string WhatOf(const CommandOption& option) {
  return std::string(option.what) + (option.standard.empty() ? "" : "; default: " + std::string(option.standard));
}

// The first sentence, up to the list in it.
std::string BriefOf(const Verb& verb) {
  std::size_t end = verb.what.size();
  for (const std::string_view stop : {". ", ".\n", ": ", " (", ";"}) end = std::min(end, verb.what.find(stop));
  std::string brief(verb.what.substr(0, end));
  std::replace(brief.begin(), brief.end(), '\n', ' ');
  return brief + (brief.ends_with('.') ? "" : ".");
}

// Escapes a text for roff: hyphens and backslashes are kept, and no line begins with a roff command.
std::string Roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) escaped += "\\&";
      escaped += c;
    }
  }
  return escaped;
}

std::string Suggested(std::string_view word, const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string& name : NearestNames(word, names)) text += (text.empty() ? "; nearest: " : ", ") + name;
  return text;
}

}  // namespace

std::string UsageText() {
  std::string text = "usage: slipstick COMMAND [ARGUMENT ...] [OPTION ...]\n\n";
  Table table({Table::kLeft, Table::kLeft}, 2);
  for (const Verb& verb : Verbs()) table.Add({{"slipstick " + std::string(verb.name)}, {BriefOf(verb)}});
  return text + table.Text(false) +
         "\n`slipstick COMMAND --help` explains a command with examples; `slipstick man | man -l -` is the manual.\n";
}

std::string HelpText(std::string_view name) {
  const Verb* verb = VerbOf(name);
  if (verb == nullptr) return "";
  std::string text = "usage: " + Call(*verb) + "\n\n" + std::string(verb->what) + "\n\n";
  Table table({Table::kLeft, Table::kLeft}, 2);
  for (const CommandOption* option : OptionsOf(*verb)) table.Add({{OptionCall(*option)}, {WhatOf(*option)}});
  if (!table.empty()) text += "options:\n" + table.Text(false) + "\n";
  for (const std::string_view example : verb->examples) text += "example: slipstick " + std::string(example) + "\n";
  return text;
}

std::string ManualText() {
  std::string text = ".TH SLIPSTICK 1 \"\" \"slipstick " + Roff(kRelease) +
                     "\"\n.SH NAME\nslipstick \\- a slide rule for LLM systems\n" +
                     ".SH SYNOPSIS\n.B slipstick\n.I COMMAND\n[ARGUMENT ...] [OPTION ...]\n.SH DESCRIPTION\n" +
                     "Times, sizes and prices large language models in training and serving, from a scenario: a model, "
                     "a cluster, a way of\n" +
                     "running it. A scenario is JSON; PATH=VALUE sets a member, such as model=llama\\-3.1\\-8b or "
                     "serving.batch=64.\n" +
                     "Commands with a \\-\\-format answer with tables on a terminal and with JSON in a pipe or a file; "
                     "the others with JSON anywhere,\n" +
                     "sweep with CSV.\n.SH COMMANDS\n";
  for (const Verb& verb : Verbs()) {
    text += ".SS " + Roff(verb.name) + "\n.B " + Roff(Call(verb)) + "\n.PP\n" + Roff(verb.what) + "\n";
    for (const CommandOption* option : OptionsOf(verb))
      text += ".TP\n.B " + Roff(OptionCall(*option)) + "\n" + Roff(WhatOf(*option)) + "\n";
    for (const std::string_view example : verb.examples) text += ".PP\n.EX\nslipstick " + Roff(example) + "\n.EE\n";
  }
  return text +
         ".SH EXIT STATUS\n.TP\n.B 0\nAnswered; a scenario that does not fit is an answer.\n.TP\n.B 2\nThe request is "
         "wrong; every issue "
         "is named, with\n" +
         "its fixes.\n.SH ENVIRONMENT\n.TP\n.B NO_COLOR\nNo colors on a terminal.";
}

std::string UnknownCommand(std::string_view word) {
  std::vector<std::string_view> names;
  for (const Verb& verb : Verbs()) names.push_back(verb.name);
  return "Unknown command" + Suggested(word, names) + "; `slipstick --help` lists all";
}

std::string UnknownOption(std::string_view word, const Verb& verb) {
  std::vector<std::string_view> names;
  for (const CommandOption* option : OptionsOf(verb)) names.push_back(option->name);
  return "Unknown option" + Suggested(word, names) + "; `slipstick " + std::string(verb.name) + " --help` lists all";
}

}  // namespace slipstick
