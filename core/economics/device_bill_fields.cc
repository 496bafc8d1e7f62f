#include "core/base/field_table.h"
#include "core/economics/device_bill.h"

namespace slipstick {

constexpr FieldRow kFinalTestFields[] = {
    Of<&FinalTest::rate>("rate", "Tester and handler").In(kUsdPerHour).AtLeast(0).Advanced(),
    Of<&FinalTest::time>("time", "On one package").In(kS).AtLeast(0).Advanced(),
    Of<&FinalTest::yield>("yield", "Share of packages that pass").Above(0).AtMost(1).Advanced(),
    Of<&FinalTest::system_rate>("system_rate", "Tester of the system-level test").In(kUsdPerHour).AtLeast(0).Advanced(),
    Of<&FinalTest::system_time>("system_time", "On one package").In(kS).AtLeast(0).Advanced(),
    Of<&FinalTest::system_yield>("system_yield", "Share of packages that pass").Above(0).AtMost(1).Advanced()};
constinit const Fields Schema<FinalTest>::fields(kFinalTestFields);

constexpr FieldRow kDesignFields[] = {
    Of<&Design::volume>("volume", "Packages made over the product's life").Between(1, 1LL << 40),
    Of<&Design::module_share>("module_share", "Share of the design cost that grows with the modules' area").Between(0, 1).Advanced(),
    Of<&Design::chip_share>("chip_share", "Share that grows with the chip's area").Between(0, 1).Advanced(),
    Of<&Design::link_area>("link_area", "Die-to-die interface, designed once a node").In(kMm2).AtLeast(0).AtMost(1000).Advanced()};
constinit const Fields Schema<Design>::fields(kDesignFields);

constexpr FieldRow kDeviceBillFields[] = {
    Of<&DeviceBill::preset>("preset", "Catalogue entry that the other members override; otherwise the device's").Derived(),
    Of<&DeviceBill::name>("name", "What to call it"),
    Of<&DeviceBill::dies>("dies", "Dies of the package; the first are the device's compute dies").Derived(),
    Of<&DeviceBill::memory>("memory", "Memory stacks or chips"),
    Of<&DeviceBill::package>("package", "How it is put together"),
    Of<&DeviceBill::wafer>("wafer", "Wafer and reticle").Advanced(),
    Of<&DeviceBill::sort>("sort", "Test of the dies on the wafer").Advanced(),
    Of<&DeviceBill::test>("test", "Tests of the package").Advanced(),
    Of<&DeviceBill::design>("design", "Design, shared over the volume"),
    Of<&DeviceBill::module>("module", "Board, power stages, heat spreader and their assembly").In(kUsd).AtLeast(0).AtMost(1'000'000),
    Of<&DeviceBill::board_area>("board_area", "Printed circuit board of the card or module")
        .In(kMm2)
        .AtLeast(0)
        .AtMost(1'000'000)
        .Advanced(),
    Of<&DeviceBill::margin>("margin", "Maker's gross margin, where no price is given").Between(0, 0.99),
    Of<&DeviceBill::price>("price", "What a buyer pays; null: cost over 1 - margin").In(kUsd).Above(0).AtMost(100'000'000),
    Of<&DeviceBill::price_band>("price_band", "How far the price may lie from that").Advanced()};
constinit const Fields Schema<DeviceBill>::fields(kDeviceBillFields);

}  // namespace slipstick
