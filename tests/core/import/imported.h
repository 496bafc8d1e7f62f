// Importing a config.json in tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/base/json.h"
#include "core/import/import_config.h"
#include "core/scenario/answer.h"

namespace slipstick {

inline Json Imported(const std::string& config) {
  const Answer answer = ImportModelAnswer(config);
  for (const Issue& issue : answer.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
  return *ParseJson(answer.text);
}

}  // namespace slipstick
