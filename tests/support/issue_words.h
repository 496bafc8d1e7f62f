// An issue and its fixes as text.
#pragma once

#include <string>

#include "core/base/issue.h"

namespace slipstick {

// "training.mapping.tp=4", followed by further changes.
inline std::string WordsOf(const Fix& fix) {
  std::string words = fix.change.path + "=" + fix.change.value;
  for (const Change& also : fix.also) words += " " + also.path + "=" + also.value;
  return words;
}

// The message, then "; fix training.mapping.tp=4" for each fix.
inline std::string WordsOf(const Issue& issue) {
  std::string words = issue.message;
  for (const Fix& fix : issue.fixes) words += "; fix " + WordsOf(fix);
  return words;
}

}  // namespace slipstick
