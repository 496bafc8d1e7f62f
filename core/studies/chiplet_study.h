// Cost studies of chiplets against one die; their answers are members of the study's (cost_study.h).
#pragma once

#include "core/base/json.h"
#include "core/studies/cost_question.h"

namespace slipstick {

// CostQuestion::kArea: cost over silicon area, one curve per number of chiplets.
Json AnswerArea(const StudyInput& input);
// CostQuestion::kPartition: the device on one die and split, with the scenario's answers on each.
Json AnswerPartition(const StudyInput& input);

}  // namespace slipstick
