#include "core/base/field_table.h"
#include "core/economics/package.h"

namespace slipstick {

constexpr FieldRow kAssemblyStepFields[] = {
    Of<&AssemblyStep::name>("name", "What to call it"),
    Of<&AssemblyStep::adds>("adds", "What it puts in").Advanced(),
    Of<&AssemblyStep::yield_each>("yield_each", "Yield of each part joined").Above(0).AtMost(1),
    Of<&AssemblyStep::loss_band>("loss_band", "How far the loss of a part may lie from that").Advanced(),
    Of<&AssemblyStep::yield>("yield", "Yield of the step as a whole").Above(0).AtMost(1),
    Of<&AssemblyStep::groups>("groups", "Equal sub-assemblies, each tested before it goes on").Between(1, 1024).Advanced(),
    Of<&AssemblyStep::void_density>("void_density", "Killing voids of a hybrid bond").In(kPerCm2).Between(0, 100).Advanced(),
    Of<&AssemblyStep::pad_pitch>("pad_pitch", "Pitch of a hybrid bond's pads; 0: not counted").In(kMm).Between(0, 10).Advanced(),
    Of<&AssemblyStep::pad_loss>("pad_loss", "Chance that one pad fails").Between(0, 1).Advanced(),
    Of<&AssemblyStep::cost_each>("cost_each", "Of joining one part").In(kUsd).AtLeast(0).AtMost(1'000'000).Advanced(),
    Of<&AssemblyStep::cost>("cost", "Of the step").In(kUsd).AtLeast(0).AtMost(1'000'000).Advanced()};
constinit const Fields Schema<AssemblyStep>::fields(kAssemblyStepFields);

constexpr FieldRow kCarrierFields[] = {
    Of<&Carrier::count>("count", "How many (bridges)").Between(1, 1024).Advanced(),
    Of<&Carrier::area>("area", "Of one; otherwise in proportion to what stands on it").In(kMm2).Above(0).AtMost(60000).Advanced(),
    Of<&Carrier::area_scale>("area_scale", "Area over that of what stands on it").Between(0.01, 100).Advanced(),
    Of<&Carrier::wafer_price>("wafer_price", "A processed wafer or panel of 300 mm").In(kUsd).AtLeast(0).AtMost(1'000'000),
    Of<&Carrier::wafer_price_band>("wafer_price_band", "How far the price may lie from that").Advanced(),
    Of<&Carrier::defect_density>("defect_density", "Killing defects per area").In(kPerCm2).Between(0, 100).Advanced(),
    Of<&Carrier::clustering>("clustering", "Alpha of its negative binomial").Between(0.1, 1'000'000'000).Advanced(),
    Of<&Carrier::stitch_yield>("stitch_yield", "Of a seam between two exposures").Above(0).AtMost(1).Advanced(),
    Of<&Carrier::stitched>("stitched", "Exposures are stitched where it exceeds the reticle").Advanced(),
    Of<&Carrier::tested>("tested", "Tested before dies go on it (chip-last)").Advanced(),
    Of<&Carrier::carbon>("carbon", "Emitted in making it, by area").In(kGPerCm2).AtLeast(0).AtMost(100'000).Advanced()};
constinit const Fields Schema<Carrier>::fields(kCarrierFields);

constexpr FieldRow kSubstrateFields[] = {
    Of<&Substrate::price>("price", "Of the simplest build-up").In(kUsdPerMm2).AtLeast(0).AtMost(1000).Advanced(),
    Of<&Substrate::layers_factor>("layers_factor", "Price over that of the simplest build-up").Between(0, 100).Advanced(),
    Of<&Substrate::area_scale>("area_scale", "Area over that of the silicon on it").Between(0.1, 100).Advanced(),
    Of<&Substrate::area>("area", "Its area; otherwise in proportion to the silicon").In(kMm2).Above(0).AtMost(1'000'000).Advanced()};
constinit const Fields Schema<Substrate>::fields(kSubstrateFields);

constexpr FieldRow kPackageFields[] = {
    Of<&Package::preset>("preset", "Catalogue entry that the other members override"),
    Of<&Package::name>("name", "What to call it"),
    Of<&Package::holds_hbm>("holds_hbm", "Fine-pitch wiring that HBM stacks need: an interposer, bridges or an RDL").Advanced(),
    Of<&Package::carrier>("carrier", "What the dies are joined through; null: the substrate alone").Advanced(),
    Of<&Package::substrate>("substrate", "The board of the package").Advanced(),
    Of<&Package::bumps>("bumps", "Bumps, by area of the dies joined").In(kUsdPerMm2).AtLeast(0).AtMost(100).Advanced(),
    Of<&Package::steps>("steps", "In order: what each adds, costs and loses").Advanced(),
    Of<&Package::price>("price", "What an assembler asks for carrier, substrate and assembly; null: worked out")
        .In(kUsd)
        .AtLeast(0)
        .AtMost(1'000'000),
    Of<&Package::price_band>("price_band", "How far the price may lie from that").Advanced(),
    Of<&Package::design>("design", "One-off design, by area of the carrier").In(kUsdPerMm2).AtLeast(0).AtMost(1'000'000).Advanced(),
    Of<&Package::design_fixed>("design_fixed", "One-off design, whatever the area").In(kMUsd).AtLeast(0).AtMost(10'000).Advanced()};
constinit const Fields Schema<Package>::fields(kPackageFields);

}  // namespace slipstick
