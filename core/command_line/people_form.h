// Verbs whose answers have a form for people; those of others are JSON, or CSV, anywhere.
#pragma once

#include <string>
#include <string_view>

namespace slipstick {

struct PeopleForm {
  std::string_view verb;
  std::string (*text)(std::string_view answer, bool is_colored);
};
// Null if the verb has none.
const PeopleForm* PeopleFormOf(std::string_view verb);

}  // namespace slipstick
