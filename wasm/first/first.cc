// The first module of the page: what its first view asks, without glue. Texts go through memory: the caller puts a text at
// Room(size), names its place and size, and reads the answer at AnswerText() of AnswerSize().
#include <cstddef>
#include <string>
#include <string_view>

#include "core/study/answer.h"

#define EXPORTED(name) extern "C" __attribute__((export_name(name), used))

namespace {

// The texts of the call in hand.
std::string& Asked() {
  static std::string& text = *new std::string;
  return text;
}
std::string& Answered() {
  static std::string& text = *new std::string;
  return text;
}

}  // namespace

EXPORTED("room") char* Room(std::size_t size) {
  Asked().resize(size);
  return Asked().data();
}
EXPORTED("answerText") const char* AnswerText() { return Answered().data(); }
EXPORTED("answerSize") std::size_t AnswerSize() { return Answered().size(); }

EXPORTED("evaluate") void Evaluate() { Answered() = slipstick::EvaluateAnswer(Asked(), {}, "", false).text; }
EXPORTED("timeline") void Timeline() { Answered() = slipstick::TimelineAnswer(Asked()).text; }
EXPORTED("describe") void Describe() { Answered() = slipstick::DescribeAnswer().text; }
EXPORTED("presets") void Presets() { Answered() = slipstick::PresetsAnswer(Asked()).text; }
