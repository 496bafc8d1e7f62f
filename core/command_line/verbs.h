// The commands of the command line and their options. Parsing, --help, completion and the manual page are derived from
// them.
#pragma once

#include <map>
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
// Options whose value, by option, is none of the names that they take.
Issues WrongNames(const std::map<std::string, std::string>& values);

}  // namespace slipstick
