#include "core/base/field_table.h"
#include "core/hardware/chip_design.h"

namespace slipstick {

constexpr FieldRow kTechnologyNodeFields[] = {
    Of<&TechnologyNode::preset>("preset", "Catalogue entry that the other members override"),
    Of<&TechnologyNode::name>("name", "What to call it"),
    Of<&TechnologyNode::logic_area>("logic_area", "Area of the same logic, 7 nm = 1").Above(0).AtMost(100),
    Of<&TechnologyNode::sram_area>("sram_area", "Area of the same memory cell, 7 nm = 1").Above(0).AtMost(100),
    Of<&TechnologyNode::analog_area>("analog_area", "Area of the same interface, 7 nm = 1").Above(0).AtMost(100),
    Of<&TechnologyNode::energy>("energy", "Energy of the same operation at the same frequency, 7 nm = 1").Above(0).AtMost(100),
    Of<&TechnologyNode::speed>("speed", "Speed at the same power, 7 nm = 1; of the L2 alone. Informational: no figure uses it yet")
        .Above(0)
        .AtMost(100),
    Of<&TechnologyNode::nominal_voltage>("nominal_voltage", "Supply, over one volt").Between(0.3, 2),
    Of<&TechnologyNode::threshold>("threshold", "Threshold voltage over the supply").Between(0.1, 0.7),
    Of<&TechnologyNode::leakage>("leakage", "Share of leakage in the core's nominal power").Between(0, 0.9)};
constinit const Fields Schema<TechnologyNode>::fields(kTechnologyNodeFields);

constexpr FieldRow kDramTypeFields[] = {
    Of<&DramType::preset>("preset", "Catalogue entry that the other members override"),
    Of<&DramType::name>("name", "What to call it"),
    Of<&DramType::bandwidth>("bandwidth", "Of one stack or chip").In(kGBps).Above(0).AtMost(1'000'000),
    Of<&DramType::capacity>("capacity", "Of one stack or chip").In(kGB).Above(0).AtMost(1'000'000),
    Of<&DramType::energy>("energy", "Device and interface").In(kPJPerBit).Above(0).AtMost(1000),
    Of<&DramType::shore>("shore", "Die edge it takes").In(kMm).Above(0).AtMost(1000),
    Of<&DramType::package_area>("package_area", "Package it takes beside the die").In(kMm2).AtLeast(0),
    Of<&DramType::phy_area>("phy_area", "Interface on the die, at 7 nm").In(kMm2).AtLeast(0),
    Of<&DramType::controller_area>("controller_area", "Controller on the die, at 7 nm").In(kMm2).AtLeast(0)};
constinit const Fields Schema<DramType>::fields(kDramTypeFields);

constexpr FieldRow kLinkTypeFields[] = {
    Of<&LinkType::preset>("preset", "Catalogue entry that the other members override"),
    Of<&LinkType::name>("name", "What to call it"),
    Of<&LinkType::bandwidth>("bandwidth", "Of one link, one direction").In(kGBps).Above(0).AtMost(1'000'000),
    Of<&LinkType::energy>("energy", "Of data sent").In(kPJPerBit).Above(0).AtMost(1000),
    Of<&LinkType::shore>("shore", "Die edge it takes").In(kMm).Above(0).AtMost(1000),
    Of<&LinkType::phy_area>("phy_area", "Interface on the die, at 7 nm").In(kMm2).AtLeast(0),
    Of<&LinkType::controller_area>("controller_area", "Controller on the die, at 7 nm").In(kMm2).AtLeast(0)};
constinit const Fields Schema<LinkType>::fields(kLinkTypeFields);

constexpr FieldRow kUnitTemplateFields[] = {
    Of<&UnitTemplate::flops_per_clock>("flops_per_clock", "Dense 16-bit matrix work a clock").Between(1, 1 << 24),
    Of<&UnitTemplate::fp32>("fp32", "fp32 rate over the 16-bit rate").Between(0, 64),
    Of<&UnitTemplate::tf32>("tf32", "tf32 rate over the 16-bit rate").Between(0, 64),
    Of<&UnitTemplate::fp8>("fp8", "fp8 rate over the 16-bit rate").Between(0, 64),
    Of<&UnitTemplate::int8>("int8", "int8 rate over the 16-bit rate").Between(0, 64),
    Of<&UnitTemplate::fp4>("fp4", "fp4 rate over the 16-bit rate").Between(0, 64),
    Of<&UnitTemplate::tensor_area>("tensor_area", "Matrix units, at 7 nm").In(kMm2).AtLeast(0),
    Of<&UnitTemplate::vector_area>("vector_area", "Vector lanes, at 7 nm").In(kMm2).AtLeast(0),
    Of<&UnitTemplate::control_area>("control_area", "Schedulers and control, at 7 nm").In(kMm2).Above(0),
    Of<&UnitTemplate::registers>("registers", "Register file").In(kKiB).AtLeast(0),
    Of<&UnitTemplate::l1>("l1", "L1 and shared memory").In(kKiB).AtLeast(0),
    Of<&UnitTemplate::energy>("energy", "Of a clock of dense work, at 7 nm").In(kPJ).Above(0),
    Of<&UnitTemplate::l2_slice>("l2_slice", "Smallest piece of the L2").In(kKiB).Above(0)};
constinit const Fields Schema<UnitTemplate>::fields(kUnitTemplateFields);

constexpr FieldRow kAreaSplitFields[] = {
    Of<&AreaSplit::core>("core", "Compute units").Between(0, 1), Of<&AreaSplit::l2>("l2", "L2").Between(0, 1),
    Of<&AreaSplit::memory>("memory", "Memory interfaces").Between(0, 1), Of<&AreaSplit::network>("network", "Network links").Between(0, 1)};
constinit const Fields Schema<AreaSplit>::fields(kAreaSplitFields);

constexpr FieldRow kPowerSplitFields[] = {Of<&PowerSplit::core>("core", "Compute units").Between(0, 1),
                                          Of<&PowerSplit::l2>("l2", "L2. Informational: no figure uses it yet").Between(0, 1),
                                          Of<&PowerSplit::memory>("memory", "Memory").Between(0, 1),
                                          Of<&PowerSplit::network>("network", "Network links").Between(0, 1)};
constinit const Fields Schema<PowerSplit>::fields(kPowerSplitFields);

constexpr FieldRow kEdgeSplitFields[] = {Of<&EdgeSplit::memory>("memory", "Memory").Between(0, 1),
                                         Of<&EdgeSplit::network>("network", "Network links").Between(0, 1)};
constinit const Fields Schema<EdgeSplit>::fields(kEdgeSplitFields);

constexpr FieldRow kChipDesignFields[] = {
    Of<&ChipDesign::preset>("preset", "Catalogue entry that the other members override"),
    Of<&ChipDesign::name>("name", "What to call it"),
    Of<&ChipDesign::node>("node", "Process node"),
    Of<&ChipDesign::dram>("dram", "Memory beside the die"),
    Of<&ChipDesign::link>("link", "Links to other devices"),
    Of<&ChipDesign::unit>("unit", "One compute unit").Advanced(),
    Of<&ChipDesign::area>("area", "Die").In(kMm2).Between(1, 100000),
    Of<&ChipDesign::package_area>("package_area", "Die and memory together").In(kMm2).Between(1, 1000000),
    Of<&ChipDesign::power>("power", "Whole package").In(kWatt).Between(1, 100000),
    Of<&ChipDesign::area_split>("area_split", "Shares of the die; the rest is host port, clocks, redundancy").Advanced(),
    Of<&ChipDesign::power_split>("power_split", "Shares of the power").Advanced(),
    Of<&ChipDesign::edge_split>("edge_split", "Shares of the die's edge").Advanced(),
    Of<&ChipDesign::units_enabled>("units_enabled", "Compute units in use; the rest are spare").Above(0).AtMost(1).Advanced(),
    Of<&ChipDesign::l2_enabled>("l2_enabled", "L2 in use").Above(0).AtMost(1).Advanced(),
    Of<&ChipDesign::memory_enabled>("memory_enabled", "Memory sites in use").Above(0).AtMost(1).Advanced()};
constinit const Fields Schema<ChipDesign>::fields(kChipDesignFields);

}  // namespace slipstick
