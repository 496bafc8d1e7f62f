// Lines of `slipstick kernel --lines`: an operator, a collective or an expert exchange each.
#include "core/api/api.h"
#include "tests/fuzz/text_fuzz.h"

FUZZ_JSON(text) { slipstick::Answered(slipstick::KernelAnswer(text)); }
