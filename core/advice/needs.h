// What a change takes, and whether it takes a new mapping.
#pragma once

#include "core/base/field.h"

namespace slipstick {

// What a person must do or risk, the least first: two changes together need the greater.
enum class Needs {
  kSettings,   // another value in a configuration
  kContract,   // another price
  kSoftware,   // software, a model or traffic that allow it
  kAccuracy,   // a check that the model is still good
  kOtherWork,  // another model or a fine-tune, whose figures are of other work
  kPurchase    // devices
};
ENUM_NAMES(Needs, {kSettings, "settings"}, {kContract, "contract"}, {kSoftware, "software"}, {kAccuracy, "accuracy"},
           {kOtherWork, "other_work"}, {kPurchase, "purchase"});

enum class MappingSearch {
  kNone,
  kIfNeeded,  // where the scenario's own mapping is illegal or does not fit after the change
  kAlways
};

}  // namespace slipstick
