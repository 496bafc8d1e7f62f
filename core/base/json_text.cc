// JSON values from text.
#include <cmath>
#include <cstring>

#include "core/base/decimal.h"
#include "core/base/json.h"
#include "core/base/utf8.h"

namespace slipstick {
namespace {

using internal::CharacterSize;
using internal::IsPlain;

constexpr std::size_t kMaxText = 4'000'000, kMaxMembers = 4096;
constexpr int kMaxDepth = 64;

Words Counted(std::int64_t count) { return kExplains ? Words(std::to_string(count)) : Words(); }

void AppendCharacter(std::string& out, unsigned code) {
  const auto put = [&out](unsigned byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6), put(0x80 | (code & 63));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 63)), put(0x80 | (code & 63));
  } else {
    put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 63)), put(0x80 | (code >> 6 & 63)), put(0x80 | (code & 63));
  }
}

// Reads one value and knows at every moment the path it has reached.
class Reader {
 public:
  Reader(std::string_view text, bool lasts) : lasts_(lasts), start_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  bool Whole(Json& out) {
    if (!Value(out, nullptr, 0)) return false;
    Skip();
    return at_ == end_ || Wrong(nullptr);
  }

  Issues issues;

 private:
  struct Level {
    const Level* parent;
    const Json* container;
    std::string_view key;
  };

  void Skip() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  [[nodiscard]] bool At(char c) const { return at_ != end_ && *at_ == c; }
  bool Eat(char c) {
    Skip();
    if (!At(c)) return false;
    ++at_;
    return true;
  }

  static std::string PathOf(const Level* level) {
    if (level == nullptr) return "";
    std::string path = PathOf(level->parent);
    if (path.size() > 200) return path;
    const bool list = level->container->is_array();
    return JoinPath(path, list ? std::to_string(level->container->size()) : std::string(level->key));
  }
  bool Fail(const Level* level, const Words& message) {
    if (!kExplains) {
      issues.emplace_back();
      return false;
    }
    std::string path = PathOf(level);
    while (!path.empty() && path.back() == '.') path.pop_back();
    issues.push_back({path, message});
    return false;
  }
  bool Wrong(const Level* level) { return Fail(level, "not valid JSON at byte " + Counted(at_ - start_ + 1)); }

  bool Value(Json& out, const Level* level, int depth) {
    Skip();
    if (at_ == end_) return Wrong(level);
    switch (*at_) {
      case '{':
      case '[':
        if (depth >= kMaxDepth) return Fail(level, "nested more than " + Counted(kMaxDepth) + " levels deep");
        return *at_++ == '{' ? Object(out, level, depth) : List(out, level, depth);
      case '"': {
        Text text;
        if (!Quoted(text, level)) return false;
        out = Json(std::move(text));
        return true;
      }
      case 't':
        return Word("true", true, out, level);
      case 'f':
        return Word("false", false, out, level);
      case 'n':
        return Word("null", nullptr, out, level);
      default:
        return Number(out, level);
    }
  }

  bool Object(Json& out, const Level* parent, int depth) {
    out = Json::object();
    Level level{parent, &out, {}};
    if (Eat('}')) return true;
    out.reserve(8);
    while (true) {
      Text key;
      Skip();
      if (!At('"')) return Wrong(&level);
      if (!Quoted(key, &level)) return false;
      level.key = key;
      if (out.contains(key.view())) return Fail(&level, "given twice");
      if (out.size() >= kMaxMembers) return Fail(parent, "more than " + Counted(kMaxMembers) + " members");
      if (!Eat(':')) return Wrong(&level);
      Json value;
      if (!Value(value, &level, depth + 1)) return false;
      out.Append(std::move(key), std::move(value));
      if (Eat('}')) return true;
      if (!Eat(',')) return Wrong(&level);
    }
  }

  bool List(Json& out, const Level* parent, int depth) {
    out = Json::array();
    const Level level{parent, &out, {}};
    if (Eat(']')) return true;
    while (true) {
      Json value;
      if (!Value(value, &level, depth + 1)) return false;
      out.push_back(std::move(value));
      if (Eat(']')) return true;
      if (!Eat(',')) return Wrong(&level);
    }
  }

  bool Word(std::string_view word, Json meant, Json& out, const Level* level) {
    if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).substr(0, word.size()) != word) return Wrong(level);
    at_ += word.size();
    out = std::move(meant);
    return true;
  }

  bool Hex(unsigned& code) {
    code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      if (at_ == end_) return false;
      const char c = *at_;
      const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
      if (digit < 0) return false;
      code = code * 16 + static_cast<unsigned>(digit);
    }
    return true;
  }

  bool Escaped(std::string& out) {
    static constexpr std::string_view names = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    if (++at_ == end_) return false;
    const char name = *at_++;
    if (name != 'u') {
      const std::size_t found = names.find(name);
      if (found == std::string_view::npos) return false;
      out += meant[found];
      return true;
    }
    unsigned code = 0, low = 0;
    if (!Hex(code) || (code >= 0xDC00 && code < 0xE000)) return false;
    if (code >= 0xD800 && code < 0xDC00) {
      if (end_ - at_ < 6 || *at_++ != '\\' || *at_++ != 'u' || !Hex(low) || low < 0xDC00 || low >= 0xE000) return false;
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    AppendCharacter(out, code);
    return true;
  }

  bool Quoted(Text& out, const Level* level) {
    const char* from = at_ + 1;
    const char* to = from;
    while (to != end_ && IsPlain(*to)) ++to;
    if (to != end_ && *to == '"') {
      const std::string_view plain(from, static_cast<std::size_t>(to - from));
      out = lasts_ ? Text::Lasting(plain) : Text(plain);
      at_ = to + 1;
      return true;
    }
    std::string text;
    if (!String(text, level)) return false;
    out = Text(text);
    return true;
  }

  bool String(std::string& out, const Level* level) {
    for (++at_; at_ != end_ && *at_ != '"';) {
      const char* from = at_;
      while (at_ != end_ && IsPlain(*at_)) ++at_;
      out.append(from, at_);
      if (at_ == end_ || *at_ == '"') break;
      if (*at_ == '\\') {
        if (!Escaped(out)) return Wrong(level);
      } else {
        const auto byte = static_cast<unsigned char>(*at_);
        const std::size_t size = byte < 0x20 ? 0 : CharacterSize(at_, end_);
        if (size == 0) return Wrong(level);
        out.append(at_, size);
        at_ += size;
      }
    }
    if (at_ == end_) return Wrong(level);
    ++at_;
    return true;
  }

  // Digits without a gap; false where there is none.
  bool Digits(std::uint64_t& value, int& count) {
    const char* from = at_;
    for (; at_ != end_ && *at_ >= '0' && *at_ <= '9'; ++at_) {
      if (count < 18) value = value * 10 + static_cast<std::uint64_t>(*at_ - '0');
      if (value > 0) ++count;
    }
    return at_ != from;
  }

  bool Number(Json& out, const Level* level) {
    const char* from = at_;
    const bool negative = At('-');
    if (negative) ++at_;
    const bool zero = At('0');
    std::uint64_t value = 0;
    int digits = 0;
    const char* first = at_;
    if (!Digits(value, digits) || (zero && at_ - first > 1)) return Wrong(level);
    bool whole = true;
    if (At('.')) {
      ++at_;
      if (!Digits(value, digits)) return Wrong(level);
      whole = false;
    }
    if (At('e') || At('E')) {
      ++at_;
      if (At('-') || At('+')) ++at_;
      if (!Digits(value, digits)) return Wrong(level);
      whole = false;
    }
    if (whole && digits <= 18) {
      out = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
      return true;
    }
    const double number = DoubleOf({from, static_cast<std::size_t>(at_ - from)});
    if (!std::isfinite(number)) return Fail(level, "number out of range, at byte " + Counted(at_ - start_));
    out = number;
    return true;
  }

  bool lasts_;
  const char* start_;
  const char* at_;
  const char* end_;
};

}  // namespace

namespace {

Result<Json> Parse(std::string_view text, bool lasts) {
  if (text.size() > kMaxText) return Issues{{"", "longer than 4 MB"}};
  Reader reader(text, lasts);
  Json json;
  if (!reader.Whole(json)) return std::move(reader.issues);
  return json;
}

}  // namespace

Result<Json> ParseJson(std::string_view text) { return Parse(text, false); }
Result<Json> ParseLasting(std::string_view text) { return Parse(text, true); }

}  // namespace slipstick
