// What a change requires, and whether it needs a new mapping.
#pragma once

#include "core/base/field.h"

namespace slipstick {

// What the user must do or risk, in ascending order: a pair of changes requires the greater.
enum class Needs {
  kSettings,   // another value in a configuration
  kContract,   // another price
  kSoftware,   // software, a model or traffic that allows it
  kAccuracy,   // a check that model quality is still good
  kOtherWork,  // another model or a fine-tune: the figures are for other work
  kPurchase    // devices
};
ENUM_NAMES(Needs, {kSettings, "settings"}, {kContract, "contract"}, {kSoftware, "software"}, {kAccuracy, "accuracy"},
           {kOtherWork, "other_work"}, {kPurchase, "purchase"});

enum class MappingSearch {
  kNone,
  kIfNeeded,  // if the scenario's own mapping is illegal or does not fit after the change
  kAlways
};

}  // namespace slipstick
