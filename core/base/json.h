// The only include of the JSON library, with helpers to read and change JSON.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/issue.h"
#include "core/base/members.h"

namespace slipstick {

// Members keep their order. Exceptions are off: check the kind of a value before reading it.
using Json = nlohmann::basic_json<Members>;

// Reads one JSON value. Faults (syntax, numbers out of range, invalid UTF-8, a member given twice, more than 4 MB, 64
// levels or 4,096 members in one object) are issues with the path reached.
Result<Json> ParseJson(std::string_view text);

// Compact text; numbers with the fewest digits that read back exactly; invalid UTF-8 becomes U+FFFD.
std::string JsonText(const Json& json);

// The member of an object; null if absent or if `json` is not an object.
const Json* FindMember(const Json& json, std::string_view key);

// Appends a member with a new key, without the lookup of [].
inline void AddMember(Json& object, std::string_view key, Json value) {
  object.get_ref<Json::object_t&>().emplace_back(key, std::move(value));
}

// Like Json{{"key", value}, …}, but without a temporary array per member.
struct JsonMember {
  std::string_view key;
  mutable Json value;  // moved out of the list that holds it
};
Json ObjectOf(std::initializer_list<JsonMember> members);

// The text of a JSON string.
inline const std::string& TextOf(const Json& json) { return json.get_ref<const std::string&>(); }

// Merges `over` into `under`: objects by member, arrays by index (an empty one replaces), anything else is replaced.
void MergeJson(Json& under, const Json& over);

// Sets the value at a dotted path ("cluster.networks.1.bandwidth"). Creates the objects and arrays that are missing on
// the way; arrays are padded with {}.
void SetPath(Json& json, std::string_view path, Json value);

// The value at a dotted path (array elements by number), or null.
const Json* MemberAt(const Json& json, std::string_view path);
Json* MemberAt(Json& json, std::string_view path);

// Whether there is a value other than null at a dotted path.
bool IsSet(const Json& json, std::string_view path);

// The text at a dotted path; "" if there is none.
std::string TextAt(const Json& json, std::string_view path);

// The number at a dotted path; true is 1, false is 0.
std::optional<double> NumberAt(const Json& json, std::string_view path);

}  // namespace slipstick
