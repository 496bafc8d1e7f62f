#include "core/base/json.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace slipstick {
namespace {

constexpr std::size_t kMaxText = 4'000'000, kMaxDepth = 64, kMaxMembers = 4096, kMaxIndex = 64;
constexpr int kOutOfRange = 406;  // the library's number of that error

// "line 2, column 7" of the character at a position; both count from 1, columns in bytes.
std::string PlaceIn(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, std::max<std::size_t>(position, 1) - 1);
  const std::size_t line_end = before.rfind('\n');  // npos + 1 is 0
  return "line " + std::to_string(std::count(before.begin(), before.end(), '\n') + 1) + ", column " +
         std::to_string(before.size() - (line_end + 1) + 1);
}

// Builds the value and tracks the current path.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(std::string_view text) : text_(text) {}
  bool null() override { return Put(nullptr); }
  bool boolean(bool value) override { return Put(value); }
  bool number_integer(number_integer_t value) override { return Put(value); }
  bool number_unsigned(number_unsigned_t value) override { return Put(value); }
  bool number_float(number_float_t value, const string_t&) override { return Put(value); }
  bool string(string_t& value) override { return Put(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return Open(Json::object()); }
  bool start_array(std::size_t) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    Level& level = levels_.back();
    level.key = std::move(name);
    if (level.value.contains(level.key)) return Fail(levels_.size(), "Given twice");
    if (level.value.size() < kMaxMembers) return true;
    return Fail(levels_.size() - 1, "Too many members: at most " + std::to_string(kMaxMembers));
  }
  bool parse_error(std::size_t position, const std::string&, const Json::exception& error) override {
    if (text_.find_first_not_of(" \t\r\n") == std::string_view::npos) return Fail(0, "Enter JSON: the text is empty");
    const char* what = error.id == kOutOfRange ? "Number out of range in " : "Not valid JSON in ";
    return Fail(levels_.size(), what + PlaceIn(text_, position));
  }

  Json root;
  Issues issues;

 private:
  struct Level {
    Json value;
    std::string key;
  };

  template <class T>
  bool Put(T&& value) {
    if (levels_.empty()) {
      root = Json(std::forward<T>(value));
    } else if (Level& level = levels_.back(); level.value.is_array()) {
      level.value.push_back(Json(std::forward<T>(value)));
    } else {
      AddMember(level.value, level.key, Json(std::forward<T>(value)));
    }
    return true;
  }
  bool Open(Json&& container) {
    if (levels_.size() >= kMaxDepth)
      return Fail(levels_.size(), "Nested too deep: at most " + std::to_string(kMaxDepth) + " levels");
    levels_.push_back({std::move(container), {}});
    return true;
  }
  bool Close() {
    Json value = std::move(levels_.back().value);
    levels_.pop_back();
    return Put(std::move(value));
  }
  // Reports a fault at the path of the outermost `depth` levels.
  bool Fail(std::size_t depth, const std::string& message) {
    if (!issues.empty()) return false;
    std::string path;
    for (std::size_t i = 0; i < depth && path.size() <= 200; ++i) {
      const Level& level = levels_[i];
      path = JoinPath(path, level.value.is_array() ? std::to_string(level.value.size()) : level.key);
    }
    while (!path.empty() && path.back() == '.') path.pop_back();
    issues.push_back({path, message});
    return false;
  }

  std::string_view text_;
  std::vector<Level> levels_;
};

}  // namespace

Result<Json> ParseJson(std::string_view text) {
  if (text.size() > kMaxText) return Issues{{"", "Too long: at most 4 MB"}};
  Builder builder(text);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) return std::move(builder.issues);
  return std::move(builder.root);
}

std::string JsonText(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

const Json* FindMember(const Json& json, std::string_view key) {
  const auto found = json.find(key);
  return found == json.end() ? nullptr : &*found;
}

Json ObjectOf(std::initializer_list<JsonMember> members) {
  Json object = Json::object();
  object.get_ref<Json::object_t&>().reserve(members.size());
  for (const JsonMember& member : members) AddMember(object, member.key, std::move(member.value));
  return object;
}

void MergeJson(Json& under, const Json& over) {
  if (under.is_object() && over.is_object()) {
    for (const auto& [key, value] : over.items()) {
      if (const auto found = under.find(key); found != under.end()) {
        MergeJson(*found, value);
      } else {
        under[key] = value;
      }
    }
  } else if (under.is_array() && over.is_array() && !over.empty()) {
    for (std::size_t i = 0; i < over.size(); ++i) {
      if (i < under.size()) {
        MergeJson(under[i], over[i]);
      } else {
        under.push_back(over[i]);
      }
    }
  } else {
    under = over;
  }
}

void SetPath(Json& json, std::string_view path, Json value) {
  Json* at = &json;
  while (true) {
    const std::size_t dot = path.find('.');
    const std::string member(path.substr(0, dot));
    if (IsPlace(member) && member.size() < 4 && !at->is_object()) {
      if (!at->is_array()) *at = Json::array();
      const std::size_t index = std::min<std::size_t>(std::stoul(member), kMaxIndex);
      while (at->size() <= index) at->push_back(Json::object());
      at = &(*at)[index];
    } else {
      if (!at->is_object()) *at = Json::object();
      at = &(*at)[member];
    }
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
  }
  *at = std::move(value);
}

const Json* MemberAt(const Json& json, std::string_view path) {
  const Json* at = &json;
  for (std::size_t from = 0; from <= path.size();) {
    const std::size_t dot = std::min(path.find('.', from), path.size());
    const std::string member(path.substr(from, dot - from));
    from = dot + 1;
    if (at->is_object()) {
      const auto found = at->find(member);
      if (found == at->end()) return nullptr;
      at = &*found;
    } else if (at->is_array() && IsPlace(member) && std::strtoul(member.c_str(), nullptr, 10) < at->size()) {
      at = &(*at)[std::strtoul(member.c_str(), nullptr, 10)];
    } else {
      return nullptr;
    }
  }
  return at;
}

Json* MemberAt(Json& json, std::string_view path) { return const_cast<Json*>(MemberAt(std::as_const(json), path)); }

bool IsSet(const Json& json, std::string_view path) {
  const Json* found = MemberAt(json, path);
  return found != nullptr && !found->is_null();
}

std::string TextAt(const Json& json, std::string_view path) {
  const Json* found = MemberAt(json, path);
  return found != nullptr && found->is_string() ? TextOf(*found) : "";
}

std::optional<double> NumberAt(const Json& json, std::string_view path) {
  const Json* found = MemberAt(json, path);
  if (found == nullptr) return std::nullopt;
  if (found->is_boolean()) return found->get<bool>() ? 1 : 0;
  if (found->is_number()) return found->get<double>();
  return std::nullopt;
}

}  // namespace slipstick
