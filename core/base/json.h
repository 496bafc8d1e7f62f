// JSON values: a small type of our own, because every answer is made of it and every byte of code is in a page's first view.
// Texts that are literals of the program are kept without a copy; members keep their order.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/issue.h"

namespace slipstick {

// A literal, which lasts as long as the program, or a copy of any other text.
class Text {
 public:
  Text() = default;
  template <std::size_t N>
  Text(const char (&literal)[N]) : data_(literal), size_(N - 1) {}  // NOLINT: a literal is a text
  template <std::size_t N>
  Text(char (&buffer)[N]) : Text(std::string_view(buffer)) {}  // NOLINT: no literal
  template <class T, class = std::enable_if_t<std::is_convertible_v<const T&, std::string_view>>>
  Text(const T& text) {  // NOLINT: so is a string
    Copy(text);
  }
  // Of a text that lasts as long as the program, such as a key of a field table.
  static Text Lasting(std::string_view text);

  Text(const Text& other) { *this = other; }
  Text(Text&& other) noexcept { *this = std::move(other); }
  Text& operator=(const Text& other);
  Text& operator=(Text&& other) noexcept;
  ~Text() { Drop(); }

  [[nodiscard]] std::string_view view() const { return {data_, size_}; }
  operator std::string_view() const { return view(); }  // NOLINT: what it is
  [[nodiscard]] std::size_t size() const { return size_; }
  friend bool operator==(const Text& a, std::string_view b) { return a.view() == b; }

 private:
  void Copy(std::string_view text);
  void Drop() {
    if (is_copy_) delete[] data_;
  }

  const char* data_ = "";
  std::uint32_t size_ = 0;
  bool is_copy_ = false;
};

namespace internal {
class Sink;
}

class Json {
 public:
  // A member in the making: Json{{"preset", id}, {"devices", 8}}.
  struct Part;
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  Json() : whole_(0) {}
  Json(std::nullptr_t) : Json() {}  // NOLINT: values of JSON are JSON, here and below
  template <class T, std::enable_if_t<std::is_same_v<T, bool>, int> = 0>
  Json(T flag) : flag_(flag), kind_(Kind::kFlag) {}  // NOLINT
  template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  Json(T whole) : whole_(static_cast<std::int64_t>(whole)), kind_(Kind::kWhole) {}  // NOLINT
  Json(double number) : number_(number), kind_(Kind::kNumber) {}                    // NOLINT
  Json(Text text) : text_(std::move(text)), kind_(Kind::kText) {}                   // NOLINT
  template <class T, std::enable_if_t<std::is_convertible_v<const T&, std::string_view>, int> = 0>
  Json(T&& text) : Json(Text(std::forward<T>(text))) {}  // NOLINT
  template <class T, std::enable_if_t<std::is_constructible_v<Json, const T&>, int> = 0>
  Json(const std::vector<T>& list) : Json(array()) {  // NOLINT
    for (const T& one : list) push_back(one);
  }
  Json(std::initializer_list<Part> parts);
  static Json array(std::initializer_list<Json> list = {});
  static Json object();

  Json(const Json& other) : Json() { *this = other; }
  Json(Json&& other) noexcept : Json() { Take(std::move(other)); }
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json() { Drop(); }

  [[nodiscard]] bool is_null() const { return kind_ == Kind::kNull; }
  [[nodiscard]] bool is_boolean() const { return kind_ == Kind::kFlag; }
  [[nodiscard]] bool is_number() const { return kind_ == Kind::kWhole || kind_ == Kind::kNumber; }
  [[nodiscard]] bool is_number_integer() const { return kind_ == Kind::kWhole; }
  [[nodiscard]] bool is_string() const { return kind_ == Kind::kText; }
  [[nodiscard]] bool is_array() const { return kind_ == Kind::kArray; }
  [[nodiscard]] bool is_object() const { return kind_ == Kind::kObject; }

  // The value as a truth, a number or a std::string. It must be of that kind, a whole number may be read as a fraction.
  template <class T>
  [[nodiscard]] T get() const {
    if constexpr (std::is_same_v<T, bool>) {
      return Flag();
    } else if constexpr (std::is_same_v<T, std::string>) {
      return T(text());
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(Whole());
    } else {
      return Number();
    }
  }
  [[nodiscard]] std::string_view text() const;
  // The member's text where there is one.
  [[nodiscard]] std::string value(std::string_view key, std::string_view otherwise) const;

  // Of lists, objects; 0 of anything else.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }

  // The places of a list. In an object begin() and end() are one, and find() looks for a member, end() for none.
  [[nodiscard]] Json* begin() { return kind_ == Kind::kArray ? array_->data() : nullptr; }
  [[nodiscard]] Json* end() { return kind_ == Kind::kArray ? array_->data() + array_->size() : nullptr; }
  [[nodiscard]] const Json* begin() const { return kind_ == Kind::kArray ? array_->data() : nullptr; }
  [[nodiscard]] const Json* end() const { return kind_ == Kind::kArray ? array_->data() + array_->size() : nullptr; }
  [[nodiscard]] Json* find(std::string_view key);
  [[nodiscard]] const Json* find(std::string_view key) const { return const_cast<Json*>(this)->find(key); }
  [[nodiscard]] bool contains(std::string_view key) const { return find(key) != nullptr; }

  // The members in their order, each with `key` and `value`; none of what is no object.
  [[nodiscard]] const Object& items() const;

  // Members and places; a new member is null, and null becomes the object or list that is asked for. Of a constant a
  // member that is not there is null.
  Json& operator[](Text key);
  const Json& operator[](std::string_view key) const;
  template <class T, std::enable_if_t<std::is_convertible_v<const T&, std::string_view>, int> = 0>
  Json& operator[](const T& key) {
    return (*this)[Text(key)];
  }
  template <class T, std::enable_if_t<std::is_convertible_v<const T&, std::string_view>, int> = 0>
  const Json& operator[](const T& key) const {
    return (*this)[std::string_view(key)];
  }
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  Json& operator[](T place) {
    return Place(static_cast<std::size_t>(place));
  }
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  const Json& operator[](T place) const {
    return const_cast<Json*>(this)->Place(static_cast<std::size_t>(place));
  }
  void push_back(Json value);
  // A further member whose key is known to be new.
  void Append(Text key, Json value);
  void reserve(std::size_t members_or_places);
  void erase(std::string_view key);
  void erase(Json* from, Json* to);
  // Sets each member of `other`.
  void update(const Json& other);

  friend bool operator==(const Json& a, const Json& b);

 private:
  enum class Kind : std::uint8_t { kNull, kFlag, kWhole, kNumber, kText, kArray, kObject };

  void Take(Json&& other) noexcept;
  void Drop();
  void BecomeArray();
  void BecomeObject();
  [[nodiscard]] Json& Place(std::size_t place);
  [[nodiscard]] bool Flag() const;
  [[nodiscard]] std::int64_t Whole() const;
  [[nodiscard]] double Number() const;
  void WriteTo(internal::Sink& out) const;
  friend std::string JsonText(const Json& json);

  union {
    bool flag_;
    std::int64_t whole_;
    double number_;
    Text text_;
    Array* array_;
    Object* object_;
  };
  Kind kind_ = Kind::kNull;
};

struct Json::Part {
  mutable Text key;  // both are moved out of the list that holds them
  mutable Json value;
};
struct Json::Member {
  Text key;
  Json value;
};

// Reads one JSON value. Faults (syntax, numbers out of range, invalid UTF-8, a member given twice, more than 4 MB, 64
// levels or 4,096 members in one object) are issues with the path reached and what was found there.
Result<Json> ParseJson(std::string_view text);
// The same of a text that lasts as long as the program: its texts are kept without copies.
Result<Json> ParseLasting(std::string_view text);

// Compact text, numbers by the fewest digits that read back the same; a byte that is no UTF-8 becomes U+FFFD.
std::string JsonText(const Json& json);

// `over` laid over `under`: objects member by member, arrays place by place, anything else replaces.
void MergeJson(Json& under, const Json& over);

// Sets the value at a dotted path ("cluster.networks.1.bandwidth"), making objects, and arrays padded with {}, on the way.
void SetPath(Json& json, std::string_view path, Json value);

}  // namespace slipstick
