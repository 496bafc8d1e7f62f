// Cost studies of chiplets against a single die; their answers are members of the study's answer (cost_study.h).
#pragma once

#include "core/base/json.h"
#include "core/studies/cost_question.h"

namespace slipstick {

// CostQuestion::kArea: cost over silicon area, one curve per number of chiplets.
Json AnswerArea(const StudyInput& input);
// CostQuestion::kPartition: the device on one die and split, with the scenario's answers for each.
Json AnswerPartition(const StudyInput& input);

}  // namespace slipstick
