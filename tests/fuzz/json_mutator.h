// Mutates JSON for the fuzzers. Random bytes rarely get past a parser, so most mutations keep the text valid JSON: they
// replace a value, or remove, add or rename a member. Names and values come from the texts seen so far, starting with
// the seeds, and from a list of hostile ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/base/json.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace slipstick {

class JsonMutator {
 public:
  // Adds a name that the fuzzer may use before it has seen it.
  void Know(std::string name) { Keep(names_, std::move(name)); }
  // Keeps the names and values of a text for later changes.
  void See(std::string_view text) {
    if (const Result<Json> json = ParseJson(text)) Learn(*json);
  }

  // Same signature as LLVMFuzzerCustomMutator.
  std::size_t Change(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
    random_.seed(seed);
    Result<Json> json = ParseJson({reinterpret_cast<const char*>(data), size});
    if (!json || Below(8) == 0) return LLVMFuzzerMutate(data, size, max_size);
    for (std::size_t changes = 1 + Below(3); changes > 0; --changes) ChangeBelow(*json, 0);
    const std::string text = JsonText(*json);
    if (text.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
    std::memcpy(data, text.data(), text.size());
    return text.size();
  }

 private:
  static constexpr std::size_t kMostKept = 4096;

  std::size_t Below(std::size_t count) { return random_() % count; }
  template <class T>
  static void Keep(std::vector<T>& all, T one) {
    if (all.size() < kMostKept && std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
  }
  void Learn(const Json& json) {
    if (json.is_object()) {
      for (const auto& [name, value] : json.items()) Keep(names_, name), Learn(value);
    } else if (json.is_array()) {
      for (const Json& value : json) Learn(value);
    } else {
      Keep(values_, json);
    }
  }

  Json AnyValue() {
    static const std::vector<Json> hard{nullptr,
                                        true,
                                        false,
                                        0,
                                        -1,
                                        1,
                                        2,
                                        3,
                                        8,
                                        1000,
                                        0.5,
                                        1e-300,
                                        1e300,
                                        2147483648,
                                        -1e18,
                                        1ULL << 63,
                                        "",
                                        "auto",
                                        "max",
                                        "8k",
                                        "1e300 B/s",
                                        "-1 s",
                                        "1 $/h",
                                        "50 %",
                                        "1e400",
                                        "0 GB",
                                        "9007199254740993",
                                        Json::object(),
                                        Json{{}},
                                        Json::array(),
                                        Json({1, 2}),
                                        "none",
                                        "2:3:4",
                                        "1,2,3"};
    const std::size_t place = Below(hard.size() + values_.size());
    return place < hard.size() ? hard[place] : values_[place - hard.size()];
  }
  std::string AnyName() { return names_.empty() ? "a" : names_[Below(names_.size())]; }

  // Mutates this value or one below it.
  void ChangeBelow(Json& json, int depth) {
    const bool has_members = json.is_structured() && !json.empty();
    if (has_members && Below(4) > 0 && depth < 8) {
      auto member = json.begin();
      std::advance(member, static_cast<std::ptrdiff_t>(Below(json.size())));
      return ChangeBelow(*member, depth + 1);
    }
    if (!json.is_structured()) {
      json = AnyValue();
      return;
    }
    auto member = json.begin();
    if (has_members) std::advance(member, static_cast<std::ptrdiff_t>(Below(json.size())));
    switch (Below(5)) {
      case 0:
        if (has_members) json.erase(member);
        return;
      case 1:
        json = AnyValue();
        return;
      default:
        if (json.is_object()) {
          json[AnyName()] = AnyValue();
        } else {
          const Json copy = has_members && Below(2) == 0 ? *member : AnyValue();
          json.push_back(copy);
        }
    }
  }

  std::mt19937 random_;
  std::vector<std::string> names_;
  std::vector<Json> values_;
};

// The mutator of the fuzzer.
inline JsonMutator& Mutator() {
  static JsonMutator mutator;
  return mutator;
}

}  // namespace slipstick
