#include "core/base/field_table.h"
#include "core/economics/memory_stack.h"

namespace slipstick {

constexpr FieldRow kMemoryInputFields[] = {
    Of<&MemoryInput::preset>("preset", "Catalogue entry that the other members override"),
    Of<&MemoryInput::name>("name", "What to call it"),
    Of<&MemoryInput::price>("price", "What tested stacks or chips cost").In(kUsdPerGB).AtLeast(0).AtMost(10'000),
    Of<&MemoryInput::price_band>("price_band", "How far the price may lie from that").Advanced(),
    Of<&MemoryInput::stacks>("stacks", "Stacks or chips that a device carries").Between(0, 1024).Derived(),
    Of<&MemoryInput::stack_capacity>("stack_capacity", "Of one").In(kGB).Above(0).AtMost(100'000).Derived(),
    Of<&MemoryInput::stack_area>("stack_area", "Footprint of one in the package").In(kMm2).AtLeast(0).AtMost(10'000).Advanced(),
    Of<&MemoryInput::in_package>("in_package", "In the package; otherwise on the board").Advanced(),
    Of<&MemoryInput::carbon>("carbon", "Emitted in making it").In(kGPerGB).AtLeast(0).Advanced()};
constinit const Fields Schema<MemoryInput>::fields(kMemoryInputFields);

}  // namespace slipstick
