// The one include of the JSON library, and reading and changing what it holds.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/issue.h"

namespace slipstick {

// Members keep their order. The library throws nothing here: a value is asked for its kind before it is read.
using Json = nlohmann::ordered_json;

// Reads one JSON value. Faults (syntax, numbers out of range, invalid UTF-8, a member given twice, more than 4 MB, 64
// levels or 4,096 members in one object) are issues with the path reached and what was found there.
Result<Json> ParseJson(std::string_view text);

// Compact text, numbers by the fewest digits that read back the same; a byte that is no UTF-8 becomes U+FFFD.
std::string JsonText(const Json& json);

// The member of an object; null where there is none, and of anything else.
const Json* FindMember(const Json& json, std::string_view key);

// A further member, whose key the object does not have: [] would look for it first.
inline void AddMember(Json& object, std::string_view key, Json value) {
  object.get_ref<Json::object_t&>().emplace_back(key, std::move(value));
}

// What Json{{"key", value}, …} makes, without an array for each member on the way: for reports, which are made of objects.
struct JsonMember {
  std::string_view key;
  mutable Json value;  // moved out of the list that holds it
};
Json ObjectOf(std::initializer_list<JsonMember> members);

// The characters of a string.
inline const std::string& TextOf(const Json& json) { return json.get_ref<const std::string&>(); }

// `over` laid over `under`: objects member by member, arrays place by place, anything else replaces.
void MergeJson(Json& under, const Json& over);

// Sets the value at a dotted path ("cluster.networks.1.bandwidth"), making objects, and arrays padded with {}, on the way.
void SetPath(Json& json, std::string_view path, Json value);

// What stands at a dotted path (array elements by number), or null.
const Json* MemberAt(const Json& json, std::string_view path);

// The number at a dotted path; true is 1, false is 0.
std::optional<double> NumberAt(const Json& json, std::string_view path);

}  // namespace slipstick
