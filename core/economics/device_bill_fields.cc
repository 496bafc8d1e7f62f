#include "core/base/field_table.h"
#include "core/economics/device_bill.h"

namespace slipstick {

constexpr auto kFinalTestFields = Advanced(
    {Of<&FinalTest::rate>("rate", "Hourly cost of tester and handler").In(kUsdPerHour).AtLeast(0),
     Of<&FinalTest::time>("time", "Test time per package").In(kS).AtLeast(0),
     Of<&FinalTest::yield>("yield", "Final test yield").Share(),
     Of<&FinalTest::system_rate>("system_rate", "Hourly cost of the system-level tester").In(kUsdPerHour).AtLeast(0),
     Of<&FinalTest::system_time>("system_time", "System-level test time per package").In(kS).AtLeast(0),
     Of<&FinalTest::system_yield>("system_yield", "System-level test yield").Share()});
constinit const Fields Schema<FinalTest>::fields(kFinalTestFields);

constexpr FieldRow kDesignFields[] = {
    Of<&Design::volume>("volume", "Production volume: packages made over the product's life").Between(1, 1LL << 40),
    Of<&Design::module_share>("module_share", "Share of the design cost that grows with the modules' area")
        .Between(0, 1)
        .Advanced(),
    Of<&Design::chip_share>("chip_share", "Share of the design cost that grows with the chip's area")
        .Between(0, 1)
        .Advanced(),
    Of<&Design::link_area>("link_area", "Die-to-die interface area, designed once per node")
        .In(kMm2)
        .AtLeast(0)
        .AtMost(1000)
        .Advanced()};
constinit const Fields Schema<Design>::fields(kDesignFields);

constexpr FieldRow kDeviceBillFields[] = {
    Of<&DeviceBill::preset>("preset", "Preset; fields below override it. Default: the device's own").Derived(),
    Of<&DeviceBill::name>("name", "Name"),
    Of<&DeviceBill::dies>("dies", "Dies in the package, compute dies first").Label("Die").Derived(),
    Of<&DeviceBill::memory>("memory", "Memory stacks or chips"),
    Of<&DeviceBill::package>("package", "Packaging"),
    Of<&DeviceBill::wafer>("wafer", "Wafer and reticle").Advanced(),
    Of<&DeviceBill::sort>("sort", "Wafer sort (test of the dies on the wafer)").Advanced(),
    Of<&DeviceBill::test>("test", "Final and system-level test").Advanced(),
    Of<&DeviceBill::design>("design", "Design cost (NRE), amortized over the production volume"),
    Of<&DeviceBill::module>("module", "Board, VRM and heat spreader, assembled")
        .Label("Board, VRM and heat spreader")
        .In(kUsd)
        .AtLeast(0)
        .AtMost(1'000'000),
    Of<&DeviceBill::board_area>("board_area", "Board area of the card or module")
        .In(kMm2)
        .AtLeast(0)
        .AtMost(1'000'000)
        .Advanced(),
    Of<&DeviceBill::margin>("margin", "Vendor's gross margin, used when no price is given").Between(0, kMaxMargin),
    Of<&DeviceBill::price>("price", "Purchase price; null: cost plus margin")
        .Label("Price per device")
        .In(kUsd)
        .Above(0)
        .AtMost(100'000'000),
    Of<&DeviceBill::price_year>(
        "price_year", "Year of the price; null: not known, or a price of your own. Informational: no figure uses it")
        .Label("Year of the price per device")
        .Between(kFirstPriceYear, kLastPriceYear)
        .Advanced(),
    Of<&DeviceBill::price_band>("price_band", "Uncertainty of the price").Advanced()};
constinit const Fields Schema<DeviceBill>::fields(kDeviceBillFields);

}  // namespace slipstick
