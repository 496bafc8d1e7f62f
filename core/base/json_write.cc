// JSON values to text.
#include <algorithm>
#include <cmath>
#include <nlohmann/detail/conversions/to_chars.hpp>

#include "core/base/json.h"
#include "core/base/utf8.h"

namespace slipstick {
namespace internal {

// A text in the making, written behind its end.
class Sink {
 public:
  Sink() : text_(4096, '\0') {}
  // Where `size` characters may be written; Take says behind the last of them.
  char* Room(std::size_t size) {
    if (text_.size() - size_ < size) text_.resize(2 * text_.size() + size);
    return text_.data() + size_;
  }
  void Take(const char* end) { size_ = static_cast<std::size_t>(end - text_.data()); }
  void Append(std::string_view text) { Take(std::copy(text.begin(), text.end(), Room(text.size()))); }
  void Append(const char* text) { Append(std::string_view(text)); }
  void Append(char one) {
    *Room(1) = one;
    ++size_;
  }
  std::string Text() && {
    text_.resize(size_);
    return std::move(text_);
  }

 private:
  std::string text_;
  std::size_t size_ = 0;
};

}  // namespace internal

namespace {

using internal::CharacterSize;
using internal::IsPlain;

void AppendQuoted(internal::Sink& out, std::string_view text) {
  char* to = out.Room(6 * text.size() + 2);
  *to++ = '"';
  const char* end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    if (IsPlain(*at)) {
      *to++ = *at++;
      continue;
    }
    const auto byte = static_cast<unsigned char>(*at);
    if (byte >= 0x7F) {
      const std::size_t size = CharacterSize(at, end);
      const std::string_view shown = size == 0 ? std::string_view("\xEF\xBF\xBD") : std::string_view(at, size);
      to = std::copy(shown.begin(), shown.end(), to);
      at += size == 0 ? 1 : size;
      continue;
    }
    static constexpr std::string_view named = "\"\\\b\f\n\r\t", names = "\"\\bfnrt";
    const std::size_t found = named.find(*at++);
    *to++ = '\\';
    if (found != std::string_view::npos) {
      *to++ = names[found];
    } else {
      static constexpr std::string_view hex = "0123456789abcdef", start = "u00";
      to = std::copy(start.begin(), start.end(), to);
      *to++ = hex[byte >> 4];
      *to++ = hex[byte & 15];
    }
  }
  *to++ = '"';
  out.Take(to);
}

void AppendWhole(internal::Sink& out, std::int64_t whole) {
  char digits[20];
  char* at = digits + sizeof(digits);
  auto left = static_cast<std::uint64_t>(whole < 0 ? -(whole + 1) : whole) + (whole < 0 ? 1 : 0);
  do {
    *--at = static_cast<char>('0' + left % 10);
    left /= 10;
  } while (left > 0);
  if (whole < 0) *--at = '-';
  out.Append({at, static_cast<std::size_t>(digits + sizeof(digits) - at)});
}

void AppendNumber(internal::Sink& out, double number) {
  if (!std::isfinite(number)) return out.Append("null");
  constexpr std::size_t kLongest = 64;
  char* to = out.Room(kLongest);
  out.Take(nlohmann::detail::to_chars(to, to + kLongest, number));
}

}  // namespace

void Json::WriteTo(internal::Sink& out) const {
  switch (kind_) {
    case Kind::kNull:
      return out.Append("null");
    case Kind::kFlag:
      return out.Append(flag_ ? "true" : "false");
    case Kind::kWhole:
      return AppendWhole(out, whole_);
    case Kind::kNumber:
      return AppendNumber(out, number_);
    case Kind::kText:
      return AppendQuoted(out, text_);
    case Kind::kArray: {
      char before = '[';
      for (const Json& one : *array_) {
        out.Append(before);
        one.WriteTo(out);
        before = ',';
      }
      return out.Append(array_->empty() ? "[]" : "]");
    }
    case Kind::kObject: {
      char before = '{';
      for (const Member& member : *object_) {
        out.Append(before);
        AppendQuoted(out, member.key);
        out.Append(':');
        member.value.WriteTo(out);
        before = ',';
      }
      return out.Append(object_->empty() ? "{}" : "}");
    }
  }
}

std::string JsonText(const Json& json) {
  internal::Sink out;
  json.WriteTo(out);
  return std::move(out).Text();
}

}  // namespace slipstick
