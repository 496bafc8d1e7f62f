// Completion in a shell.
#include "core/base/listed.h"
#include "core/command_line/verbs.h"
#include "core/text/names.h"

namespace slipstick {
namespace {

// Words are split only at blanks, as the program receives them; bash itself also splits them at = and :, and replaces
// only the last piece.
constexpr std::string_view kBash = R"(_slipstick() {
  local line=${COMP_LINE:0:COMP_POINT} words candidate
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  local current=${words[-1]} kept
  kept=${current%"${current##*[=:]}"}
  COMPREPLY=()
  while IFS= read -r candidate; do COMPREPLY+=("${candidate#"$kept"}"); done \
    < <("${words[0]}" complete "${words[@]:1}" 2>/dev/null)
  [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
}
complete -o default -F _slipstick slipstick)";
constexpr std::string_view kZsh = R"(#compdef slipstick
_slipstick() {
  local -a found
  found=("${(@f)$("${words[1]}" complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ -n ${found[1]} ]] && compadd -Q -S '' -- "${found[@]}" || _files
}
compdef _slipstick slipstick)";

using Words = std::vector<std::string>;

void AddInputs(Words& words) {
  for (const std::string& path : InputPaths()) words.push_back(path + "=");
}

void AddOptionValues(const CommandOption& option, Words& words) {
  if (option.offered == Offered::kNames) words = ListedIn(option.names, ' ');
  if (option.offered == Offered::kFigures) words = OutputPaths();
  if (option.offered == Offered::kInputs) AddInputs(words);
  if (option.offered == Offered::kClusters) words = PresetIds("cluster");
}

// All candidates for the last word, whatever it begins with.
Words Possible(const Words& words) {
  Words possible;
  if (words.size() < 2) {
    for (const Verb& verb : Verbs()) possible.emplace_back(verb.name);
    return possible;
  }
  const Verb* verb = VerbOf(words[0]);
  if (verb == nullptr) return possible;
  const std::string& last = words.back();
  const CommandOption* before = OptionOf(words[words.size() - 2]);
  if (before != nullptr && !before->value.empty()) {
    AddOptionValues(*before, possible);
  } else if (last.starts_with('-')) {
    for (const CommandOption* option : OptionsOf(*verb)) possible.emplace_back(option->name);
    possible.emplace_back("--help");
  } else if (verb->name == "completion") {
    possible = {"bash", "zsh"};
  } else if (verb->name == "presets") {
    possible = KindsOfPresets();
  } else if (verb->name == "study") {
    possible = PresetIds("study");
  } else if (last.find('=') != std::string::npos) {
    const std::string path = last.substr(0, last.find('='));
    for (const std::string& value : ValuesOfInput(path)) possible.push_back(path + "=" + value);
  } else if (verb->arguments.find("PATH=") != std::string_view::npos) {
    AddInputs(possible);
  }
  return possible;
}

}  // namespace

std::string CompletionScript(std::string_view shell) {
  return std::string(shell == "bash" ? kBash : shell == "zsh" ? kZsh : "");
}

std::vector<std::string> Completions(const std::vector<std::string>& words) {
  const std::string last = words.empty() ? "" : words.back();
  Words possible = Possible(words);
  // In a list "a,b" only the last entry is completed.
  const bool is_of_option = words.size() > 1 && OptionOf(words[words.size() - 2]) != nullptr;
  const std::string kept = is_of_option ? last.substr(0, last.rfind(',') + 1) : "";
  std::erase_if(possible,
                [&](const std::string& one) { return !one.starts_with(std::string_view(last).substr(kept.size())); });
  for (std::string& one : possible) one.insert(0, kept);
  return possible;
}

}  // namespace slipstick
