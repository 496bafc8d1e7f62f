#include "core/base/field_table.h"
#include "core/economics/memory_stack.h"

namespace slipstick {

constexpr FieldRow kMemoryInputFields[] = {
    Of<&MemoryInput::preset>("preset", "Preset; fields below override it"),
    Of<&MemoryInput::name>("name", "Name"),
    Of<&MemoryInput::price>("price", "Price of tested stacks or chips").In(kUsdPerGB).AtLeast(0).AtMost(10'000),
    Of<&MemoryInput::price_band>("price_band", "Uncertainty of the price").Advanced(),
    Of<&MemoryInput::stacks>("stacks", "Stacks or chips per device").Between(0, kMaxStacks).Derived(),
    Of<&MemoryInput::stack_capacity>("stack_capacity", "Capacity per stack or chip")
        .In(kGB)
        .Above(0)
        .AtMost(100'000)
        .Derived(),
    Of<&MemoryInput::stack_area>("stack_area", "Footprint per stack in the package")
        .In(kMm2)
        .AtLeast(0)
        .AtMost(10'000)
        .Advanced(),
    Of<&MemoryInput::in_package>("in_package", "Memory in the package; otherwise on the board").Advanced(),
    Of<&MemoryInput::carbon>("carbon", "Embodied carbon per capacity").In(kGPerGB).AtLeast(0).Advanced()};
constinit const Fields Schema<MemoryInput>::fields(kMemoryInputFields);

}  // namespace slipstick
