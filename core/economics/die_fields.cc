#include "core/base/field_table.h"
#include "core/economics/die.h"

namespace slipstick {

constexpr FieldRow kProcessNodeFields[] = {
    Of<&ProcessNode::preset>("preset", "Catalogue entry that the other members override"),
    Of<&ProcessNode::name>("name", "What to call it"),
    Of<&ProcessNode::wafer_price>("wafer_price", "What a processed 300 mm wafer costs").In(kUsd).Above(0).AtMost(10'000'000),
    Of<&ProcessNode::wafer_price_band>("wafer_price_band", "How far the price may lie from that").Advanced(),
    Of<&ProcessNode::defect_density>("defect_density", "Killing defects per area").In(kPerCm2).Between(0, 100),
    Of<&ProcessNode::defect_density_band>("defect_density_band", "From a mature process to one in ramp").Advanced(),
    Of<&ProcessNode::clustering>("clustering", "Alpha of the negative binomial: small where defects cluster").Between(0.1, 1'000'000'000),
    Of<&ProcessNode::clustering_band>("clustering_band", "How far alpha may lie from that").Advanced(),
    Of<&ProcessNode::mask_set>("mask_set", "A set of masks. Informational: no figure uses it yet; the design cost holds it")
        .In(kMUsd)
        .AtLeast(0)
        .AtMost(10'000)
        .Advanced()
        .OutsideReports(),
    Of<&ProcessNode::design>("design", "Designing a 300 mm^2 die up to tape-out, masks included")
        .In(kMUsd)
        .AtLeast(0)
        .AtMost(100'000)
        .Advanced(),
    Of<&ProcessNode::logic_density>("logic_density", "Transistors of a logic library. Informational: no figure uses it yet")
        .In(kPerMm2)
        .Above(0)
        .AtMost(1'000'000'000'000)
        .Advanced()
        .OutsideReports(),
    Of<&ProcessNode::sram_cell>("sram_cell", "High-density SRAM cell. Informational: no figure uses it yet")
        .In(kUm2)
        .Above(0)
        .AtMost(100)
        .Advanced()
        .OutsideReports(),
    Of<&ProcessNode::analog_scale>(
        "analog_scale",
        "Area of analog and PHY circuits over that at 7 nm. No figure of a report uses it: it acts where a cost study splits the die")
        .Above(0)
        .AtMost(100)
        .Advanced()
        .OutsideReports(),
    Of<&ProcessNode::fab_energy>("fab_energy", "Electricity that processing takes").In(kKWhPerCm2).AtLeast(0).Advanced(),
    Of<&ProcessNode::fab_gas>("fab_gas", "Process gases, as CO2").In(kGPerCm2).AtLeast(0).Advanced()};
constinit const Fields Schema<ProcessNode>::fields(kProcessNodeFields);

constexpr FieldRow kDieInputFields[] = {
    Of<&DieInput::name>("name", "What to call it"),
    Of<&DieInput::count>("count", "How many in a package").Between(1, 1024),
    Of<&DieInput::area>("area", "Of one").In(kMm2).Above(0).AtMost(60000),
    Of<&DieInput::aspect>("aspect", "Width over height").Between(0.05, 20).Advanced(),
    Of<&DieInput::node>("node", "Process node"),
    Of<&DieInput::yield_model>("yield_model", "How defects become bad dies"),
    Of<&DieInput::critical_area>("critical_area", "Share of the area where a defect kills").Between(0, 1).Advanced(),
    Of<&DieInput::layers>("layers", "Critical layers (Bose-Einstein)").Between(1, 1000).Advanced(),
    Of<&DieInput::manual_yield>("manual_yield", "The yield itself (manual)").Above(0).AtMost(1).Advanced(),
    Of<&DieInput::process_yield>("process_yield", "Share left by lost wafers and parametric loss").Above(0).AtMost(1).Advanced(),
    Of<&DieInput::units>("units", "Repeated units, of which some may be bad").Between(1, 1 << 20).Advanced(),
    Of<&DieInput::unit_area>("unit_area", "Of one such unit").In(kMm2).AtLeast(0).Advanced(),
    Of<&DieInput::spare_units>("spare_units", "How many may be bad").Between(0, 1 << 20).Advanced(),
    Of<&DieInput::stacked>("stacked", "Bonded on another die of the package").Advanced(),
    Of<&DieInput::reuse>("reuse", "Packages of all products with this design, over this product's").Between(1, 1'000'000'000).Advanced()};
constinit const Fields Schema<DieInput>::fields(kDieInputFields);

constexpr FieldRow kSortTestFields[] = {
    Of<&SortTest::rate>("rate", "Tester and prober").In(kUsdPerHour).AtLeast(0).Advanced(),
    Of<&SortTest::time>("time", "On one die").In(kS).AtLeast(0).Advanced(),
    Of<&SortTest::coverage>("coverage", "Share of the bad dies that it finds").Between(0, 1).Advanced()};
constinit const Fields Schema<SortTest>::fields(kSortTestFields);

}  // namespace slipstick
