// A model of the catalog with defaults filled in.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "core/workload/model.h"
#include "tests/core/preset.h"

namespace slipstick {

inline Model Named(std::string_view id) {
  Issues issues;
  Model model = FromPreset<Model>(id, issues);
  ValidateAndFillDefaults(model, "model", issues);
  EXPECT_TRUE(issues.empty()) << id;
  return model;
}

}  // namespace slipstick
