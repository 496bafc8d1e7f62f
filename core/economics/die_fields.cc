#include "core/base/field_table.h"
#include "core/economics/die.h"
#include "core/economics/wafer.h"

namespace slipstick {

constexpr FieldRow kProcessNodeFields[] = {
    Of<&ProcessNode::preset>("preset", "Preset; fields below override it"),
    Of<&ProcessNode::name>("name", "Name"),
    Of<&ProcessNode::wafer_price>("wafer_price", "Price of a processed 300 mm wafer")
        .In(kUsd)
        .Above(0)
        .AtMost(10'000'000),
    Of<&ProcessNode::wafer_price_band>("wafer_price_band", "Uncertainty of the wafer price").Advanced(),
    Of<&ProcessNode::defect_density>("defect_density", "Density of killer defects").In(kPerCm2).Between(0, 100),
    Of<&ProcessNode::defect_density_band>("defect_density_band",
                                          "Uncertainty of the defect density: mature process to early ramp")
        .Advanced(),
    Of<&ProcessNode::clustering>("clustering",
                                 "Defect clustering (alpha of the negative binomial): smaller means more clustered")
        .Between(0.1, 1'000'000'000),
    Of<&ProcessNode::clustering_band>("clustering_band", "Uncertainty of alpha").Advanced(),
    Of<&ProcessNode::mask_set>("mask_set", "Price of a mask set; the design cost includes it")
        .In(kMUsd)
        .AtLeast(0)
        .AtMost(10'000)
        .Advanced()
        .OutsideReports(),
    Of<&ProcessNode::design>("design", "Design cost of a 300 mm² die up to tape-out, masks included")
        .In(kMUsd)
        .AtLeast(0)
        .AtMost(100'000)
        .Advanced(),
    Of<&ProcessNode::logic_density>("logic_density", "Transistor density of a logic library")
        .In(kPerMm2)
        .Above(0)
        .AtMost(1'000'000'000'000)
        .Advanced()
        .OutsideReports(),
    Of<&ProcessNode::sram_cell>("sram_cell", "Area of a high-density SRAM cell")
        .In(kUm2)
        .Above(0)
        .AtMost(100)
        .Advanced()
        .OutsideReports(),
    Of<&ProcessNode::analog_scale>(
        "analog_scale", "Area of analog and PHY circuits relative to 7 nm, for cost studies that split the die")
        .Above(0)
        .AtMost(100)
        .Advanced()
        .OutsideReports(),
    Of<&ProcessNode::fab_energy>("fab_energy", "Fab electricity per wafer area").In(kKWhPerCm2).AtLeast(0).Advanced(),
    Of<&ProcessNode::fab_gas>("fab_gas", "Process-gas emissions per wafer area, as CO2")
        .In(kGPerCm2)
        .AtLeast(0)
        .Advanced()};
constinit const Fields Schema<ProcessNode>::fields(kProcessNodeFields);

constexpr FieldRow kDieInputFields[] = {
    Of<&DieInput::name>("name", "Name"),
    Of<&DieInput::count>("count", "Dies of this kind per package").Between(1, 1024),
    Of<&DieInput::area>("area", "Die area").In(kMm2).Between(0.01, 60000),
    Of<&DieInput::aspect>("aspect", "Aspect ratio (width / height)").Between(0.05, 20).Advanced(),
    Of<&DieInput::node>("node", "Process node"),
    Of<&DieInput::yield_model>("yield_model", "Yield model"),
    Of<&DieInput::critical_area>("critical_area", "Critical area: share of the die where a defect is fatal")
        .Between(0, 1)
        .Advanced(),
    Of<&DieInput::layers>("layers", "Number of critical layers (Bose-Einstein model)").Between(1, 1000).Advanced(),
    Of<&DieInput::manual_yield>("manual_yield", "Yield (manual model)").Share().Advanced(),
    Of<&DieInput::process_yield>("process_yield", "Process yield: after lost wafers and parametric loss")
        .Share()
        .Advanced(),
    Of<&DieInput::units>("units", "Repeated blocks on the die, some of which may be defective")
        .Between(1, 1 << 20)
        .Advanced(),
    Of<&DieInput::unit_area>("unit_area", "Area of one repeated block").In(kMm2).AtLeast(0).Advanced(),
    Of<&DieInput::spare_units>("spare_units", "Repeated blocks that may be defective (harvesting)")
        .Label("Spare repeated blocks")
        .Between(0, 1 << 20)
        .Advanced(),
    Of<&DieInput::stacked>("stacked", "Stacked on another die of the package").Advanced(),
    Of<&DieInput::reuse>("reuse", "Design reuse: packages of all products with this die per package of this product")
        .Between(1, 1'000'000'000)
        .Advanced()};
constinit const Fields Schema<DieInput>::fields(kDieInputFields);

constexpr FieldRow kSortTestFields[] = {
    Of<&SortTest::rate>("rate", "Hourly cost of tester and prober").In(kUsdPerHour).AtLeast(0).Advanced(),
    Of<&SortTest::time>("time", "Test time per die").In(kS).AtLeast(0).Advanced(),
    Of<&SortTest::coverage>("coverage", "Test coverage: share of the bad dies found").Between(0, 1).Advanced()};
constinit const Fields Schema<SortTest>::fields(kSortTestFields);

constexpr auto kWaferFields =
    Advanced({Of<&Wafer::diameter>("diameter", "Wafer diameter").In(kMm).Between(25, 1000),
              Of<&Wafer::edge>("edge", "Edge exclusion").In(kMm).Between(0, 10),
              Of<&Wafer::scribe>("scribe", "Scribe line between dies").In(kMm).Between(0, 5),
              Of<&Wafer::reticle_width>("reticle_width", "Reticle field width").In(kMm).Between(1, 200),
              Of<&Wafer::reticle_height>("reticle_height", "Reticle field height").In(kMm).Between(1, 200)});
constinit const Fields Schema<Wafer>::fields(kWaferFields);

}  // namespace slipstick
