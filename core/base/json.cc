#include "core/base/json.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

namespace slipstick {
namespace {

bool IsPlace(std::string_view text) {
  return !text.empty() && text.size() < 4 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::size_t PlaceOf(std::string_view place) {
  std::size_t number = 0;
  for (const char digit : place) number = number * 10 + static_cast<std::size_t>(digit - '0');
  return number;
}

constexpr std::size_t kMaxPlaces = 64;

}  // namespace

Text Text::Lasting(std::string_view text) {
  Text lasting;
  lasting.data_ = text.data();
  lasting.size_ = static_cast<std::uint32_t>(text.size());
  return lasting;
}

void Text::Copy(std::string_view text) {
  if (text.empty()) return;
  char* copy = new char[text.size()];
  std::memcpy(copy, text.data(), text.size());
  data_ = copy;
  size_ = static_cast<std::uint32_t>(text.size());
  is_copy_ = true;
}

Text& Text::operator=(const Text& other) {
  if (this == &other) return *this;
  if (other.is_copy_) {
    *this = Text(other.view());
  } else {
    Drop();
    data_ = other.data_, size_ = other.size_, is_copy_ = false;
  }
  return *this;
}

Text& Text::operator=(Text&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(is_copy_, other.is_copy_);
  return *this;
}

Json::Json(std::initializer_list<Part> parts) : object_(new Object), kind_(Kind::kObject) {
  object_->reserve(parts.size());
  for (const Part& part : parts) object_->push_back({std::move(part.key), std::move(part.value)});
}

Json Json::array(std::initializer_list<Json> list) {
  Json made;
  made.BecomeArray();
  made.array_->assign(list.begin(), list.end());
  return made;
}

Json Json::object() {
  Json made;
  made.BecomeObject();
  return made;
}

void Json::BecomeArray() {
  Drop();
  array_ = new Array;
  kind_ = Kind::kArray;
}

void Json::BecomeObject() {
  Drop();
  object_ = new Object;
  kind_ = Kind::kObject;
}

Json& Json::operator=(const Json& other) {
  switch (other.kind_) {
    case Kind::kText:
      return *this = Json(Text(other.text_));
    case Kind::kArray: {
      Json copy = array();
      *copy.array_ = *other.array_;
      return *this = std::move(copy);
    }
    case Kind::kObject: {
      Json copy = object();
      *copy.object_ = *other.object_;
      return *this = std::move(copy);
    }
    default: {
      const std::int64_t bits = other.whole_;
      const Kind kind = other.kind_;
      Drop();
      whole_ = bits, kind_ = kind;
      return *this;
    }
  }
}

Json& Json::operator=(Json&& other) noexcept {
  Json taken(std::move(other));  // which may be a part of this
  Drop();
  Take(std::move(taken));
  return *this;
}

// Of a null: takes the other's value and leaves it null.
void Json::Take(Json&& other) noexcept {
  switch (other.kind_) {
    case Kind::kText:
      new (&text_) Text(std::move(other.text_));
      break;
    case Kind::kArray:
      array_ = other.array_;
      break;
    case Kind::kObject:
      object_ = other.object_;
      break;
    default:
      whole_ = other.whole_;
  }
  kind_ = other.kind_;
  other.whole_ = 0, other.kind_ = Kind::kNull;
}

void Json::Drop() {
  if (kind_ == Kind::kText) text_.~Text();
  if (kind_ == Kind::kArray) delete array_;
  if (kind_ == Kind::kObject) delete object_;
  whole_ = 0, kind_ = Kind::kNull;
}

std::string_view Json::text() const {
  assert(is_string());
  return text_.view();
}
bool Json::Flag() const {
  assert(is_boolean());
  return flag_;
}
std::int64_t Json::Whole() const {
  assert(is_number());
  return kind_ == Kind::kWhole ? whole_ : static_cast<std::int64_t>(number_);
}
double Json::Number() const {
  assert(is_number());
  return kind_ == Kind::kWhole ? static_cast<double>(whole_) : number_;
}

std::string Json::value(std::string_view key, std::string_view otherwise) const {
  const Json* found = find(key);
  return std::string(found != nullptr && found->is_string() ? found->text() : otherwise);
}

std::size_t Json::size() const {
  if (kind_ == Kind::kArray) return array_->size();
  return kind_ == Kind::kObject ? object_->size() : 0;
}

Json* Json::find(std::string_view key) {
  if (kind_ != Kind::kObject) return nullptr;
  for (Member& member : *object_) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

const Json::Object& Json::items() const {
  static const Object none;
  return kind_ == Kind::kObject ? *object_ : none;
}

Json& Json::operator[](Text key) {
  if (kind_ == Kind::kNull) BecomeObject();
  assert(is_object());
  if (Json* found = find(key)) return *found;
  object_->push_back({std::move(key), Json()});
  return object_->back().value;
}

const Json& Json::operator[](std::string_view key) const {
  static const Json null;
  const Json* found = find(key);
  return found == nullptr ? null : *found;
}

Json& Json::Place(std::size_t place) {
  assert(is_array() && place < array_->size());
  return (*array_)[place];
}

void Json::push_back(Json value) {
  if (kind_ == Kind::kNull) BecomeArray();
  assert(is_array());
  array_->push_back(std::move(value));
}

void Json::Append(Text key, Json value) {
  assert(is_object());
  object_->push_back({std::move(key), std::move(value)});
}

void Json::reserve(std::size_t members_or_places) {
  if (kind_ == Kind::kArray) array_->reserve(members_or_places);
  if (kind_ == Kind::kObject) object_->reserve(members_or_places);
}

void Json::erase(std::string_view key) {
  if (kind_ != Kind::kObject) return;
  for (auto member = object_->begin(); member != object_->end(); ++member) {
    if (member->key == key) {
      object_->erase(member);
      return;
    }
  }
}

void Json::erase(Json* from, Json* to) {
  assert(is_array());
  array_->erase(array_->begin() + (from - array_->data()), array_->begin() + (to - array_->data()));
}

void Json::update(const Json& other) {
  for (const Member& member : other.items()) (*this)[member.key] = member.value;
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    return a.kind_ == Json::Kind::kWhole && b.kind_ == Json::Kind::kWhole ? a.whole_ == b.whole_ : a.Number() == b.Number();
  }
  if (a.kind_ != b.kind_) return false;
  switch (a.kind_) {
    case Json::Kind::kFlag:
      return a.flag_ == b.flag_;
    case Json::Kind::kText:
      return a.text() == b.text();
    case Json::Kind::kArray:
      return *a.array_ == *b.array_;
    case Json::Kind::kObject:
      return std::equal(a.object_->begin(), a.object_->end(), b.object_->begin(), b.object_->end(),
                        [](const Json::Member& x, const Json::Member& y) { return x.key == y.key.view() && x.value == y.value; });
    default:
      return true;
  }
}

void MergeJson(Json& under, const Json& over) {
  if (under.is_object() && over.is_object()) {
    for (const auto& [key, value] : over.items()) {
      if (Json* found = under.find(key)) {
        MergeJson(*found, value);
      } else {
        under.Append(key, value);
      }
    }
  } else if (under.is_array() && over.is_array()) {
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
    if (IsPlace(member) && !at->is_object()) {
      if (!at->is_array()) *at = Json::array();
      const std::size_t place = std::min<std::size_t>(PlaceOf(member), kMaxPlaces);
      while (at->size() <= place) at->push_back(Json::object());
      at = &(*at)[place];
    } else {
      if (!at->is_object()) *at = Json::object();
      at = &(*at)[member];
    }
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
  }
  *at = std::move(value);
}

}  // namespace slipstick
