// The commands of the command line and their options. Parsing, --help, completion and the manual page are derived from
// them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/issue.h"

namespace slipstick {

struct Verb {
  std::string_view name;
  std::string_view arguments;  // before the options, as usage shows them
  std::string_view what;       // one sentence, then further details
  std::string_view options;    // names of the accepted options, separated by one space
  std::vector<std::string_view> examples;
};

// The candidates that completion offers for a value.
enum class Offered { kNothing, kNames, kFigures, kInputs, kClusters };

struct CommandOption {
  std::string_view name;
  std::string_view value;  // name of its value in the usage; "": it takes none
  std::string_view what;
  std::string_view standard = "";
  Offered offered = Offered::kNothing;
  std::string_view names = "";  // of kNames, one space apart
};

std::span<const Verb> Verbs();
std::span<const CommandOption> CommandOptions();
// Null if there is no command with this name.
const Verb* VerbOf(std::string_view name);
const CommandOption* OptionOf(std::string_view name);
std::vector<const CommandOption*> OptionsOf(const Verb& verb);
// Issues of the value of an option that takes one of several names; none for other options.
Issues WrongName(const CommandOption& option, const std::string& value);

// Help texts, written from the tables.
std::string UsageText();
// Usage, options and examples of a command; "" for an unknown one.
std::string HelpText(std::string_view name);
// The manual page, as man reads it.
std::string ManualText();
// Messages about a wrong name of a command, or of an option of one, with the names like it.
std::string UnknownCommand(std::string_view word);
std::string UnknownOption(std::string_view word, const Verb& verb);

// A script for bash or zsh that calls `slipstick complete WORD ...` for the candidates of the last word; "" for another
// shell.
std::string CompletionScript(std::string_view shell);
// Completions of the last word after `slipstick`: commands, options and their values, paths of inputs, presets.
std::vector<std::string> Completions(const std::vector<std::string>& words);

}  // namespace slipstick
