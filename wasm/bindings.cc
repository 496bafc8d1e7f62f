// The whole boundary between the page and the core: JSON text in, JSON text out.
#include <emscripten/bind.h>

#include <string>

#include "core/study/answer.h"

namespace {

std::string Evaluate(const std::string& request, const std::string& explain) {
  return slipstick::EvaluateAnswer(request, {}, explain).text;
}
std::string Kernel(const std::string& request) { return slipstick::KernelAnswer(request).text; }
std::string Describe() { return slipstick::DescribeAnswer().text; }
std::string Presets(const std::string& kind) { return slipstick::PresetsAnswer(kind).text; }

}  // namespace

EMSCRIPTEN_BINDINGS(slipstick) {
  emscripten::function("evaluate", &Evaluate);
  emscripten::function("kernel", &Kernel);
  emscripten::function("describe", &Describe);
  emscripten::function("presets", &Presets);
}
