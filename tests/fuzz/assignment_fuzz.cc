// Assignments "PATH=VALUE", one per line, as the command line and links contain them.
#include <string>
#include <vector>

#include "core/api/api.h"
#include "tests/fuzz/text_fuzz.h"

namespace {

std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The paths of all inputs, and hostile values.
const std::vector<std::string>& Paths() {
  static const std::vector<std::string> paths = [] {
    std::vector<std::string> all;
    const slipstick::Json described = slipstick::Json::parse(slipstick::DescribeAnswer().text);
    for (const slipstick::Json& input : described["inputs"]) all.push_back(input["path"].get<std::string>());
    return all;
  }();
  return paths;
}
constexpr const char* kValues[] = {
    "0",    "1",    "-1",           "3",           "7",         "64",       "1e-300", "1e300", "0.5",  "null",
    "true", "auto", "max",          "8k",          "50 %",      "1 GB",     "3.35",   "-2 s",  "{}",   "[]",
    "[{}]", "\"\"", "llama-3.1-8b", "deepseek-v3", "single-t4", "dgx-h100", "fp8",    "none",  "full", "4294967296"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string> lines = LinesOf({reinterpret_cast<const char*>(data), size});
  slipstick::Answered(slipstick::EvaluateAnswer("", lines, "", false));
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  std::mt19937 random(seed);
  std::string text(reinterpret_cast<const char*>(data), size);
  if (random() % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  if (random() % 3 == 0 && text.find('\n') != std::string::npos) text.erase(0, text.find('\n') + 1);
  const std::string line = Paths()[random() % Paths().size()] + "=" + kValues[random() % std::size(kValues)];
  text += (text.empty() || text.ends_with('\n') ? "" : "\n") + line;
  if (text.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(text.begin(), text.end(), data);
  return text.size();
}
