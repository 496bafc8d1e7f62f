// Measurements of one's own: what `slipstick calibrate` takes, or a file of published runs.
#include "core/api/api.h"
#include "core/exploration/calibrate.h"
#include "tests/fuzz/text_fuzz.h"

FUZZ_JSON(text) {
  slipstick::Answered(slipstick::CalibrateAnswer(text));
  // Its rows have issues of their own beside the answer.
  slipstick::Answered({slipstick::MeasurementsAnswer("own", text).text, {}}, false);
}
