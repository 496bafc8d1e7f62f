// Shared by the fuzzers of JSON.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/scenario/answer.h"
#include "tests/fuzz/json_mutator.h"

namespace slipstick {

// Aborts if an answer is not JSON, or if `says_issues` and it does not contain its issues.
inline Json Answered(const Answer& answer, bool says_issues = true) {
  Json json = Json::parse(answer.text, nullptr, false);
  const bool has_issues = json.is_object() && json.contains("issues") && !json["issues"].empty();
  if (json.is_discarded() || (says_issues && has_issues != !answer.issues.empty())) {
    std::fprintf(stderr, "the answer: %.2000s\n", answer.text.c_str());
    std::abort();
  }
  return json;
}

}  // namespace slipstick

// FUZZ_JSON(text) { … }: the test of one text.
#define FUZZ_JSON(text)                                                                                      \
  static void Try(std::string_view text);                                                                    \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {                        \
    const std::string_view given{reinterpret_cast<const char*>(data), size};                                 \
    slipstick::Mutator().See(given);                                                                         \
    Try(given);                                                                                              \
    return 0;                                                                                                \
  }                                                                                                          \
  extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, \
                                                 unsigned seed) {                                            \
    return slipstick::Mutator().Change(data, size, max_size, seed);                                          \
  }                                                                                                          \
  static void Try(std::string_view text)
