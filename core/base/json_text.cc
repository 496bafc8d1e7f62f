// JSON values from text and to text.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/detail/conversions/to_chars.hpp>

#include "core/base/json.h"

namespace slipstick {
namespace {

constexpr std::size_t kMaxText = 4'000'000, kMaxMembers = 4096;
constexpr int kMaxDepth = 64;

// Stands for itself between quotes.
bool IsPlain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

// Bytes of the UTF-8 character at `at`, 0 if it is none.
std::size_t CharacterSize(const char* at, const char* end) {
  const auto byte = [&](std::ptrdiff_t i) { return i < end - at ? static_cast<unsigned char>(at[i]) : 0U; };
  const auto follows = [&](std::ptrdiff_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool wrong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F);  // too long; half of a pair
    return !wrong && follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool wrong = (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F);
    return !wrong && follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

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
  explicit Reader(std::string_view text) : start_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

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
  bool Fail(const Level* level, const std::string& message) {
    std::string path = PathOf(level);
    while (!path.empty() && path.back() == '.') path.pop_back();
    issues.push_back({path, message});
    return false;
  }
  bool Wrong(const Level* level) { return Fail(level, "not valid JSON at byte " + std::to_string(at_ - start_ + 1)); }

  bool Value(Json& out, const Level* level, int depth) {
    Skip();
    if (at_ == end_) return Wrong(level);
    switch (*at_) {
      case '{':
      case '[':
        if (depth >= kMaxDepth) return Fail(level, "nested more than " + std::to_string(kMaxDepth) + " levels deep");
        return *at_++ == '{' ? Object(out, level, depth) : List(out, level, depth);
      case '"': {
        std::string text;
        if (!String(text, level)) return false;
        out = Json(text);
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
    std::string key;
    while (true) {
      Skip();
      if (!At('"')) return Wrong(&level);
      key.clear();
      if (!String(key, &level)) return false;
      level.key = key;
      if (out.contains(key)) return Fail(&level, "given twice");
      if (out.size() >= kMaxMembers) return Fail(parent, "more than " + std::to_string(kMaxMembers) + " members");
      if (!Eat(':')) return Wrong(&level);
      Json value;
      if (!Value(value, &level, depth + 1)) return false;
      out.Append(key, std::move(value));
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
    std::ptrdiff_t exponent = 0;
    if (At('.')) {
      const char* point = ++at_;
      if (!Digits(value, digits)) return Wrong(level);
      exponent = point - at_;
      whole = false;
    }
    if (At('e') || At('E')) {
      ++at_;
      const bool down = At('-');
      if (down || At('+')) ++at_;
      std::uint64_t power = 0;
      int size = 0;
      if (!Digits(power, size)) return Wrong(level);
      if (size > 6) power = 999999;
      exponent += down ? -static_cast<std::ptrdiff_t>(power) : static_cast<std::ptrdiff_t>(power);
      whole = false;
    }
    if (whole && digits <= 18) {
      out = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
      return true;
    }
    double number = 0;
    if (digits <= 15 && exponent >= -22 && exponent <= 22) {
      // Both are exact, so that one rounding gives the nearest number.
      static constexpr double powers[]{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
      number = exponent < 0 ? static_cast<double>(value) / powers[-exponent] : static_cast<double>(value) * powers[exponent];
      if (negative) number = -number;
    } else {
      number = std::strtod(std::string(from, at_).c_str(), nullptr);
    }
    if (!std::isfinite(number)) return Fail(level, "number out of range, at byte " + std::to_string(at_ - start_));
    out = number;
    return true;
  }

  const char* start_;
  const char* at_;
  const char* end_;
};

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  const char* end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    const char* from = at;
    while (at != end && IsPlain(*at)) ++at;
    out.append(from, at);
    if (at == end) break;
    const auto byte = static_cast<unsigned char>(*at);
    if (byte >= 0x7F) {
      const std::size_t size = CharacterSize(at, end);
      size == 0 ? out.append("\xEF\xBF\xBD") : out.append(at, size);
      at += size == 0 ? 1 : size;
      continue;
    }
    static constexpr std::string_view named = "\"\\\b\f\n\r\t", names = "\"\\bfnrt";
    const std::size_t found = named.find(*at++);
    if (found != std::string_view::npos) {
      out += '\\';
      out += names[found];
    } else {
      static constexpr std::string_view hex = "0123456789abcdef";
      out += "\\u00";
      out += hex[byte >> 4];
      out += hex[byte & 15];
    }
  }
  out += '"';
}

void AppendWhole(std::string& out, std::int64_t whole) {
  char digits[20];
  char* at = digits + sizeof(digits);
  auto left = static_cast<std::uint64_t>(whole < 0 ? -(whole + 1) : whole) + (whole < 0 ? 1 : 0);
  do {
    *--at = static_cast<char>('0' + left % 10);
    left /= 10;
  } while (left > 0);
  if (whole < 0) *--at = '-';
  out.append(at, digits + sizeof(digits));
}

void AppendNumber(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  char digits[64];
  out.append(digits, nlohmann::detail::to_chars(digits, digits + sizeof(digits), number));
}

}  // namespace

Result<Json> ParseJson(std::string_view text) {
  if (text.size() > kMaxText) return Issues{{"", "longer than 4 MB"}};
  Reader reader(text);
  Json json;
  if (!reader.Whole(json)) return std::move(reader.issues);
  return json;
}

void Json::WriteTo(std::string& out) const {
  switch (kind_) {
    case Kind::kNull:
      out += "null";
      return;
    case Kind::kFlag:
      out += flag_ ? "true" : "false";
      return;
    case Kind::kWhole:
      return AppendWhole(out, whole_);
    case Kind::kNumber:
      return AppendNumber(out, number_);
    case Kind::kText:
      return AppendQuoted(out, text_);
    case Kind::kArray: {
      char before = '[';
      for (const Json& one : *array_) {
        out += before;
        one.WriteTo(out);
        before = ',';
      }
      out += array_->empty() ? "[]" : "]";
      return;
    }
    case Kind::kObject: {
      char before = '{';
      for (const Member& member : *object_) {
        out += before;
        AppendQuoted(out, member.key);
        out += ':';
        member.value.WriteTo(out);
        before = ',';
      }
      out += object_->empty() ? "{}" : "}";
      return;
    }
  }
}

std::string JsonText(const Json& json) {
  std::string out;
  out.reserve(4096);
  json.WriteTo(out);
  return out;
}

}  // namespace slipstick
