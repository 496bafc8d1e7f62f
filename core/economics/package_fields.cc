#include "core/base/field_table.h"
#include "core/economics/interface.h"
#include "core/economics/memory_stack.h"
#include "core/economics/package.h"

namespace slipstick {

constexpr FieldRow kAssemblyStepFields[] = {
    Of<&AssemblyStep::name>("name", "Name"),
    Of<&AssemblyStep::adds>("adds", "Parts that the step adds").Advanced(),
    Of<&AssemblyStep::yield_each>("yield_each", "Bond yield per part").Between(0.01, 1),
    Of<&AssemblyStep::loss_band>("loss_band", "Uncertainty of the loss per part").Advanced(),
    Of<&AssemblyStep::yield>("yield", "Yield of the step as a whole").Between(0.01, 1),
    Of<&AssemblyStep::groups>("groups", "Equal sub-assemblies, each tested before the next step")
        .Between(1, 1024)
        .Advanced(),
    Of<&AssemblyStep::void_density>("void_density", "Density of killer voids in a hybrid bond")
        .In(kPerCm2)
        .Between(0, 1)
        .Advanced(),
    Of<&AssemblyStep::pad_pitch>("pad_pitch", "Pad pitch of a hybrid bond; 0: pad losses not counted")
        .In(kMm)
        .Between(0, 10)
        .Advanced(),
    Of<&AssemblyStep::pad_loss>("pad_loss", "Probability that a pad fails").Between(0, 1).Advanced(),
    Of<&AssemblyStep::cost_each>("cost_each", "Cost per part joined").In(kUsd).AtLeast(0).AtMost(1'000'000).Advanced(),
    Of<&AssemblyStep::cost>("cost", "Cost of the step").In(kUsd).AtLeast(0).AtMost(1'000'000).Advanced()};
constinit const Fields Schema<AssemblyStep>::fields(kAssemblyStepFields);

constexpr auto kCarrierFields = Advanced(
    {Of<&Carrier::count>("count", "Number of carriers (bridges)").Between(1, 1024),
     Of<&Carrier::edge_each>(
         "edge_each", "Bridges: edge of two dies that one bridge joins; above 0, it sets their number, one per stack")
         .Label("Shared edge per bridge")
         .In(kMm)
         .Between(0, 1000),
     Of<&Carrier::area>("area", "Area of one carrier; null: in proportion to the dies on it")
         .In(kMm2)
         .Above(0)
         .AtMost(60000),
     Of<&Carrier::area_scale>("area_scale", "Carrier area as a ratio to the dies on it").Between(0.01, 100),
     Of<&Carrier::wafer_price>("wafer_price", "Price of a processed 300 mm wafer or panel")
         .In(kUsd)
         .AtLeast(0)
         .AtMost(1'000'000)
         .Basic(),
     Of<&Carrier::wafer_price_band>("wafer_price_band", "Uncertainty of the price"),
     Of<&Carrier::defect_density>("defect_density", "Density of killer defects").In(kPerCm2).Between(0, 100),
     Of<&Carrier::clustering>("clustering", "Defect clustering (alpha of the negative binomial)")
         .Between(0.1, 1'000'000'000),
     Of<&Carrier::stitch_yield>("stitch_yield", "Yield of a stitched seam").Share(),
     Of<&Carrier::stitched>("stitched", "Stitch exposures where the carrier exceeds the reticle"),
     Of<&Carrier::tested>("tested", "Carrier tested before the dies are attached (chip-last)"),
     Of<&Carrier::carbon>("carbon", "Embodied carbon per area").In(kGPerCm2).AtLeast(0).AtMost(100'000)});
constinit const Fields Schema<Carrier>::fields(kCarrierFields);

constexpr auto kSubstrateFields = Advanced(
    {Of<&Substrate::price>("price", "Price per area of the simplest build-up").In(kUsdPerMm2).AtLeast(0).AtMost(1000),
     Of<&Substrate::layers_factor>("layers_factor", "Price factor for further layers").Between(0, 100),
     Of<&Substrate::area_scale>("area_scale", "Substrate area as a ratio to the silicon on it").Between(0.1, 100),
     Of<&Substrate::area>("area", "Substrate area; null: in proportion to the silicon")
         .In(kMm2)
         .Above(0)
         .AtMost(1'000'000)});
constinit const Fields Schema<Substrate>::fields(kSubstrateFields);

constexpr auto kPackageFields = Advanced(
    {Of<&Package::preset>("preset", "Preset; fields below override it").Basic(),
     Of<&Package::name>("name", "Name").Basic(),
     Of<&Package::holds_hbm>("holds_hbm",
                             "Has the fine-pitch wiring that HBM needs (interposer, bridges or RDL); without it HBM is "
                             "refused. No figure of a report uses it"),
     Of<&Package::area_limit>(
         "area_limit", "Largest area of dies and memory stacks side by side that can be packaged; null: no limit")
         .Label("Area limit")
         .In(kMm2)
         .Above(0)
         .AtMost(1'000'000),
     Of<&Package::carrier>("carrier",
                           "Carrier that joins the dies (interposer, bridges, RDL); null: the substrate alone"),
     Of<&Package::substrate>("substrate", "Package substrate"),
     Of<&Package::bumps>("bumps", "Bumping cost per die area").In(kUsdPerMm2).AtLeast(0).AtMost(100),
     Of<&Package::steps>("steps", "Assembly steps in order").Label("Assembly step"),
     Of<&Package::price>("price",
                         "Packaging price: carrier, substrate and assembly from an assembly house; null: computed")
         .In(kUsd)
         .AtLeast(0)
         .AtMost(1'000'000)
         .Basic(),
     Of<&Package::price_factor>("price_factor",
                                "Price of carrier, substrate and assembly over their computed cost, if no price is "
                                "set; default: that of the device's published price, on the same carrier; 1 on others")
         .Label("Packaging price over its cost")
         .Above(0)
         .AtMost(100)
         .Derived(),
     Of<&Package::price_band>("price_band", "Uncertainty of the price"),
     Of<&Package::design>("design", "Package design cost per carrier area").In(kUsdPerMm2).AtLeast(0).AtMost(1'000'000),
     Of<&Package::design_fixed>("design_fixed", "Fixed package design cost").In(kMUsd).AtLeast(0).AtMost(10'000)});
constinit const Fields Schema<Package>::fields(kPackageFields);

constexpr FieldRow kLinkInterfaceFields[] = {
    Of<&LinkInterface::preset>("preset", "Preset; fields below override it"),
    Of<&LinkInterface::name>("name", "Name"),
    Of<&LinkInterface::module_bandwidth>("module_bandwidth", "Bandwidth per module, both directions")
        .In(kGBps)
        .Above(0)
        .AtMost(1'000'000),
    Of<&LinkInterface::module_area>("module_area", "Die area per module").In(kMm2).AtLeast(0).AtMost(1000),
    Of<&LinkInterface::module_edge>("module_edge", "Die edge (shoreline) per module").In(kMm).AtLeast(0).AtMost(100),
    Of<&LinkInterface::energy>("energy", "Energy per bit transferred").In(kPJPerBit).AtLeast(0).AtMost(1000),
    Of<&LinkInterface::energy_band>("energy_band", "Uncertainty of the energy").Advanced()};
constinit const Fields Schema<LinkInterface>::fields(kLinkInterfaceFields);

constexpr FieldRow kMemoryInputFields[] = {
    Of<&MemoryInput::preset>("preset", "Preset; fields below override it"),
    Of<&MemoryInput::name>("name", "Name"),
    Of<&MemoryInput::price>("price", "Price of tested stacks or chips").In(kUsdPerGB).AtLeast(0).AtMost(10'000),
    Of<&MemoryInput::price_year>(
        "price_year", "Year of the price; null: not known, or a price of your own. Informational: no figure uses it")
        .Label("Year of the memory's price")
        .Between(kFirstPriceYear, kLastPriceYear)
        .Advanced(),
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
