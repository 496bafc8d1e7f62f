// Shared by the tests of reference cases: the case files next to the project, and a comparison to 1e-9.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

#include "core/base/json.h"
#include "core/base/schema.h"
#include "core/catalogue/presets.h"

namespace slipstick {

inline constexpr double kTolerance = 1e-9;

inline std::string CasesPath(const std::string& name) {
  return SLIPSTICK_SOURCE_DIR "/../shared/validation/reference-cases/" + name + ".json";
}

// null if the file does not exist.
inline Json Cases(const std::string& name) {
  std::ifstream file(CasesPath(name));
  if (!file) return nullptr;
  std::ostringstream text;
  text << file.rdbuf();
  return Json::parse(text.str(), nullptr, false);
}

#define LOAD(json, name)                                                                                       \
  const Json json = Cases(name);                                                                               \
  if ((json).is_null())                                                                                        \
    GTEST_SKIP() << "what other tools computed is not part of the repository; not found: " << CasesPath(name); \
  ASSERT_TRUE((json).is_object()) << CasesPath(name) << " does not parse"

inline void ExpectNear(double ours, const Json& theirs, const std::string& what) {
  ASSERT_TRUE(theirs.is_number()) << what;
  const double expected = theirs.get<double>();
  EXPECT_LE(std::abs(ours - expected), kTolerance * std::max(std::abs(expected), 1e-12))
      << what << ": " << ours << " for " << expected;
}

inline double Get(const Json& json, const char* key) { return json.at(key).get<double>(); }

// A catalogue entry as a value.
template <class T>
T FromCatalogue(std::string_view kind, std::string_view id) {
  T value;
  Issues none;
  const Json* entry = FindPreset(kind, std::string(id));
  EXPECT_NE(entry, nullptr) << kind << ' ' << id;
  if (entry != nullptr) Read(WithoutRemarks(*entry), "", none, value);
  EXPECT_TRUE(none.empty()) << kind << ' ' << id;
  return value;
}

}  // namespace slipstick
