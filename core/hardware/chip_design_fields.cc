#include "core/base/field_table.h"
#include "core/hardware/chip_design.h"

namespace slipstick {

constexpr FieldRow kTechnologyNodeFields[] = {
    Of<&TechnologyNode::preset>("preset", "Preset; fields below override it"),
    Of<&TechnologyNode::name>("name", "Name"),
    Of<&TechnologyNode::logic_area>("logic_area", "Logic area per circuit, 7 nm = 1").Above(0).AtMost(100),
    Of<&TechnologyNode::sram_area>("sram_area", "SRAM area per bit, 7 nm = 1").Above(0).AtMost(100),
    Of<&TechnologyNode::analog_area>("analog_area", "Analog area per interface, 7 nm = 1").Above(0).AtMost(100),
    Of<&TechnologyNode::energy>("energy", "Energy per operation at equal frequency, 7 nm = 1").Above(0).AtMost(100),
    Of<&TechnologyNode::speed>("speed", "Speed at equal power (L2 only), 7 nm = 1").Above(0).AtMost(100),
    Of<&TechnologyNode::nominal_voltage>("nominal_voltage", "Nominal supply voltage (V)").Between(0.3, 2),
    Of<&TechnologyNode::threshold>("threshold", "Threshold voltage over supply voltage").Between(0.1, 0.7),
    Of<&TechnologyNode::leakage>("leakage", "Leakage fraction of nominal core power").Between(0, 0.9)};
constinit const Fields Schema<TechnologyNode>::fields(kTechnologyNodeFields);

constexpr FieldRow kDramTypeFields[] = {
    Of<&DramType::preset>("preset", "Preset; fields below override it"),
    Of<&DramType::name>("name", "Name"),
    Of<&DramType::bandwidth>("bandwidth", "Bandwidth per stack or chip").In(kGBps).Above(0).AtMost(1'000'000),
    Of<&DramType::capacity>("capacity", "Capacity per stack or chip").In(kGB).Above(0).AtMost(1'000'000),
    Of<&DramType::energy>("energy", "Energy of device and interface").In(kPJPerBit).Above(0).AtMost(1000),
    Of<&DramType::shore>("shore", "Shoreline (die edge)").In(kMm).Above(0).AtMost(1000),
    Of<&DramType::package_area>("package_area", "Package area beside the die").In(kMm2).AtLeast(0),
    Of<&DramType::phy_area>("phy_area", "PHY area on the die, at 7 nm").In(kMm2).AtLeast(0),
    Of<&DramType::controller_area>("controller_area", "Controller area on the die, at 7 nm").In(kMm2).AtLeast(0),
    Of<&DramType::in_package>("in_package", "In the package, whose area it takes; off: chips on the board").Advanced(),
    Of<&DramType::group>("group", "Chips per memory controller: they come in whole groups").Between(1, 64).Advanced(),
    Of<&DramType::max_chips>("max_chips", "Largest number of stacks or chips that one device joins")
        .Between(1, 1024)
        .Advanced()};
constinit const Fields Schema<DramType>::fields(kDramTypeFields);

constexpr FieldRow kLinkTypeFields[] = {
    Of<&LinkType::preset>("preset", "Preset; fields below override it"),
    Of<&LinkType::name>("name", "Name"),
    Of<&LinkType::bandwidth>("bandwidth", "Bandwidth per link, one direction").In(kGBps).Above(0).AtMost(1'000'000),
    Of<&LinkType::energy>("energy", "Energy of data sent").In(kPJPerBit).Above(0).AtMost(1000),
    Of<&LinkType::shore>("shore", "Shoreline (die edge)").In(kMm).Above(0).AtMost(1000),
    Of<&LinkType::phy_area>("phy_area", "PHY area on the die, at 7 nm").In(kMm2).AtLeast(0),
    Of<&LinkType::controller_area>("controller_area", "Controller area on the die, at 7 nm").In(kMm2).AtLeast(0)};
constinit const Fields Schema<LinkType>::fields(kLinkTypeFields);

constexpr FieldRow kUnitTemplateFields[] = {
    Of<&UnitTemplate::flops_per_clock>("flops_per_clock", "Dense 16-bit FLOPs per clock").Between(1, 1 << 24),
    Of<&UnitTemplate::fp32>("fp32", "fp32 throughput over 16-bit throughput").Between(0, 64),
    Of<&UnitTemplate::tf32>("tf32", "tf32 throughput over 16-bit throughput").Between(0, 64),
    Of<&UnitTemplate::fp8>("fp8", "fp8 throughput over 16-bit throughput").Between(0, 64),
    Of<&UnitTemplate::int8>("int8", "int8 throughput over 16-bit throughput").Between(0, 64),
    Of<&UnitTemplate::fp4>("fp4", "fp4 throughput over 16-bit throughput").Between(0, 64),
    Of<&UnitTemplate::tensor_to_vector>("tensor_to_vector",
                                        "Tensor cores per vector lane, relative to the unit's own ratio")
        .Between(0.125, 8),
    Of<&UnitTemplate::tensor_area>("tensor_area", "Area of the tensor cores, at 7 nm").In(kMm2).AtLeast(0),
    Of<&UnitTemplate::vector_area>("vector_area", "Area of the vector lanes, at 7 nm").In(kMm2).AtLeast(0),
    Of<&UnitTemplate::control_area>("control_area", "Area of schedulers and control, at 7 nm").In(kMm2).Above(0),
    Of<&UnitTemplate::registers>("registers", "Register file").In(kKiB).AtLeast(0),
    Of<&UnitTemplate::l1>("l1", "L1 and shared memory").In(kKiB).AtLeast(0),
    Of<&UnitTemplate::energy>("energy", "Energy per clock of dense work, at 7 nm").In(kPJ).Above(0),
    Of<&UnitTemplate::l2_slice>("l2_slice", "L2 slice size").In(kKiB).Above(0),
    Of<&UnitTemplate::register_area>("register_area", "Area of a byte of registers, mm^2 at 7 nm").Between(0, 1),
    Of<&UnitTemplate::l1_area>("l1_area", "Area of a byte of L1, mm^2 at 7 nm").Between(0, 1),
    Of<&UnitTemplate::l2_area>("l2_area", "Area of a byte of L2, tags and control included, mm^2 at 7 nm").Share(),
    Of<&UnitTemplate::l1_rate>("l1_rate", "Bytes that the L1 gives per clock").In(kB).Above(0).AtMost(65536),
    Of<&UnitTemplate::l2_rate>("l2_rate", "Bytes that a slice of the L2 gives per clock").In(kB).Above(0).AtMost(65536),
    Of<&UnitTemplate::l2_energy>("l2_energy", "Energy of a byte read from the L2, at 7 nm")
        .In(kPJPerBit)
        .Above(0)
        .AtMost(1000),
    Of<&UnitTemplate::clock>("clock", "Clock at nominal voltage, at 7 nm").In(kGHz).Above(0).AtMost(100),
    Of<&UnitTemplate::voltage_below>("voltage_below", "Range of the voltage below the nominal one (V)").Between(0, 1),
    Of<&UnitTemplate::voltage_above>("voltage_above", "Range of the voltage above the nominal one (V)").Between(0, 1)};
constinit const Fields Schema<UnitTemplate>::fields(kUnitTemplateFields);

constexpr FieldRow kAreaSplitFields[] = {Of<&AreaSplit::core>("core", "Compute units").Between(0, 1),
                                         Of<&AreaSplit::l2>("l2", "L2").Between(0, 1),
                                         Of<&AreaSplit::memory>("memory", "Memory interfaces").Between(0, 1),
                                         Of<&AreaSplit::network>("network", "Network links").Between(0, 1)};
constinit const Fields Schema<AreaSplit>::fields(kAreaSplitFields);

constexpr FieldRow kPowerSplitFields[] = {Of<&PowerSplit::core>("core", "Compute units").Between(0, 1),
                                          Of<&PowerSplit::l2>("l2", "L2, whose bandwidth it limits").Between(0, 1),
                                          Of<&PowerSplit::memory>("memory", "Memory").Between(0, 1),
                                          Of<&PowerSplit::network>("network", "Network links").Between(0, 1)};
constinit const Fields Schema<PowerSplit>::fields(kPowerSplitFields);

constexpr FieldRow kEdgeSplitFields[] = {Of<&EdgeSplit::memory>("memory", "Memory").Between(0, 1),
                                         Of<&EdgeSplit::network>("network", "Network links").Between(0, 1)};
constinit const Fields Schema<EdgeSplit>::fields(kEdgeSplitFields);

constexpr FieldRow kChipDesignFields[] = {
    Of<&ChipDesign::preset>("preset", "Preset; fields below override it"),
    Of<&ChipDesign::name>("name", "Name"),
    Of<&ChipDesign::node>("node", "Process node"),
    Of<&ChipDesign::dram>("dram", "Memory beside the die"),
    Of<&ChipDesign::link>("link", "Links to other devices"),
    Of<&ChipDesign::unit>("unit", "Compute unit (SM)").Advanced(),
    Of<&ChipDesign::area>("area", "Die area").In(kMm2).Between(1, 100000),
    Of<&ChipDesign::package_area>("package_area", "Package area, die and memory").In(kMm2).Between(1, 1000000),
    Of<&ChipDesign::power>("power", "Power of the whole device, its memory included").In(kWatt).Between(1, 100000),
    Of<&ChipDesign::area_split>("area_split",
                                "Area budget, fractions of the die; the rest is host port, clocks, redundancy")
        .Advanced(),
    Of<&ChipDesign::power_split>("power_split", "Power budget, fractions").Advanced(),
    Of<&ChipDesign::edge_split>("edge_split", "Shoreline (beachfront) budget, fractions of the die edge").Advanced(),
    Of<&ChipDesign::idle_share>("idle_share", "Share of the power that an idle device draws").Between(0, 1).Advanced(),
    Of<&ChipDesign::units_enabled>("units_enabled", "Fraction of compute units enabled; the others are spares")
        .Share()
        .Advanced(),
    Of<&ChipDesign::l2_enabled>("l2_enabled", "Fraction of the L2 enabled").Share().Advanced(),
    Of<&ChipDesign::memory_enabled>("memory_enabled", "Fraction of memory sites enabled").Share().Advanced(),
    Of<&ChipDesign::stacks>("stacks", "Memory stacks or chips wanted; null: as many as the budgets allow")
        .Between(1, 1024)};
constinit const Fields Schema<ChipDesign>::fields(kChipDesignFields);

}  // namespace slipstick
