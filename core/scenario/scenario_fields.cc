#include "core/base/field_table.h"
#include "core/scenario/scenario.h"

namespace slipstick {

constexpr FieldRow kScenarioFields[] = {Of<&Scenario::version>("version", "Version of these names").Between(1, 1),
                                        Of<&Scenario::model>("model", "What is trained and served"),
                                        Of<&Scenario::cluster>("cluster", "What it runs on"),
                                        Of<&Scenario::training>("training", "How it is trained; null: not asked"),
                                        Of<&Scenario::serving>("serving", "How it is served; null: not asked"),
                                        Of<&Scenario::cost>("cost", "What it costs; null: not asked")};
constinit const Fields Schema<Scenario>::fields(kScenarioFields);

}  // namespace slipstick
