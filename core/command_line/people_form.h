// Commands whose answers have a form for people; the answers of other commands are always JSON or CSV.
#pragma once

#include <string>
#include <string_view>

namespace slipstick {

struct PeopleForm {
  std::string_view verb;
  std::string (*text)(std::string_view answer, bool is_colored);
};
// Null if the command has none.
const PeopleForm* PeopleFormOf(std::string_view verb);

}  // namespace slipstick
