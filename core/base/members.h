// The members of a JSON object, in their order.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace slipstick {

// What the JSON library asks of an object's type. Its own ordered type has constant keys, so a vector that
// grows or loses a member copies every value with all that is below it; these keys can be moved.
template <class Key, class T, class /*less*/ = void, class /*allocator*/ = void>
class Members : public std::vector<std::pair<Key, T>> {
  using Base = std::vector<std::pair<Key, T>>;

 public:
  using key_type = Key;
  using mapped_type = T;
  using key_compare = std::equal_to<>;
  using typename Base::const_iterator;
  using typename Base::iterator;
  using typename Base::size_type;
  using typename Base::value_type;

  using Base::Base;
  using Base::erase;

  iterator find(std::string_view key) { return std::find_if(this->begin(), this->end(), Has(key)); }
  [[nodiscard]] const_iterator find(std::string_view key) const {
    return std::find_if(this->begin(), this->end(), Has(key));
  }
  [[nodiscard]] size_type count(std::string_view key) const { return find(key) == this->end() ? 0 : 1; }

  template <class From>
  std::pair<iterator, bool> emplace(From&& key, T&& value) {
    if (const iterator found = find(key); found != this->end()) return {found, false};
    this->emplace_back(Key(std::forward<From>(key)), std::move(value));
    return {std::prev(this->end()), true};
  }
  T& operator[](std::string_view key) {
    if (const iterator found = find(key); found != this->end()) return found->second;
    return this->emplace_back(Key(key), T()).second;
  }
  std::pair<iterator, bool> insert(value_type member) {
    return emplace(std::move(member.first), std::move(member.second));
  }
  template <class Iterator>
  void insert(Iterator from, Iterator to) {
    for (; from != to; ++from) insert(*from);
  }
  size_type erase(std::string_view key) {
    const iterator found = find(key);
    if (found == this->end()) return 0;
    this->erase(found);
    return 1;
  }

 private:
  static auto Has(std::string_view key) {
    return [key](const value_type& member) { return member.first == key; };
  }
};

}  // namespace slipstick
