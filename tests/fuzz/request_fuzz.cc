// Requests, as the page and `slipstick evaluate -` take them.
#include "core/api/api.h"
#include "tests/fuzz/text_fuzz.h"

// Adds the names of all inputs, so that members occur that no seed has.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const slipstick::Json described = slipstick::Json::parse(slipstick::DescribeAnswer().text);
  for (const slipstick::Json& input : described["inputs"]) {
    const std::string path = input["path"].get<std::string>();
    slipstick::Mutator().Know(path.substr(path.rfind('.') + 1));
  }
  return 0;
}

FUZZ_JSON(text) { slipstick::Answered(slipstick::EvaluateAnswer(text, {}, text.size() % 8 == 0 ? "*" : "", false)); }
