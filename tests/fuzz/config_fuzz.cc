// A pasted config.json and the model that it becomes.
#include "core/api/api.h"
#include "core/import/import_config.h"
#include "tests/fuzz/text_fuzz.h"

FUZZ_JSON(text) {
  const slipstick::Answer answer = slipstick::ImportModelAnswer(text);
  const slipstick::Json imported = slipstick::Answered(answer);
  if (!answer.issues.empty()) return;
  const slipstick::Json request{{"model", imported["model"]}};
  slipstick::Answered(slipstick::EvaluateAnswer(slipstick::JsonText(request), {}, "", false));
}
