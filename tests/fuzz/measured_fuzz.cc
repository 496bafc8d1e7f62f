// Measurements: the input of `slipstick calibrate`, or a file of published runs.
#include "core/api/api.h"
#include "core/exploration/calibrate.h"
#include "tests/fuzz/text_fuzz.h"

FUZZ_JSON(text) {
  slipstick::Answered(slipstick::CalibrateAnswer(text));
  // Issues of rows are part of the answer here.
  slipstick::Answered({slipstick::MeasurementsAnswer("own", text).text, {}}, false);
}
