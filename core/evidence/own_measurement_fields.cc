#include "core/base/field_table.h"
#include "core/evidence/own_measurement.h"

namespace slipstick {

constexpr double kLargest = 1e30;  // upper limit of a figure

constexpr FieldRow kOwnMeasurementFields[] = {
    Of<&OwnMeasurement::path>("path", "Figure measured: its path in the report, such as serving.tpot_s").Required(),
    Of<&OwnMeasurement::value>("value", "Measured value: a text with its unit, or a number in base units")
        .Required()
        .Between(0, kLargest),
    Of<&OwnMeasurement::at>("at",
                            "Scenario measured, as PATH=VALUE joined by & over the default scenario of this version; "
                            "empty: this scenario. On another device or with other software it moves nothing"),
    Of<&OwnMeasurement::input>("input",
                               "Constant that explains the measurement; empty: the one that has to move least. fp8 "
                               "GEMM efficiency moves with the 16-bit one"),
    Of<&OwnMeasurement::system>("system", "Device and software measured, as found: leave out").Derived(),
    Of<&OwnMeasurement::computed>("computed", "Computed figure before, as found: leave out")
        .Between(0, kLargest)
        .Derived(),
    Of<&OwnMeasurement::from>(
        "from", "Value of the constant before, as found: leave out. 0: the measurement moves nothing here")
        .Between(0, kLargest)
        .Derived(),
    Of<&OwnMeasurement::to>("to", "Value of the constant that explains it, as found: leave out")
        .Between(0, kLargest)
        .Derived()};
constinit const Fields Schema<OwnMeasurement>::fields(kOwnMeasurementFields);

}  // namespace slipstick
