// Rented devices: a dated price per GPU-hour replaces the cost of owning.
#include "core/economics/rental.h"

#include <gtest/gtest.h>

#include "core/catalogue/presets.h"
#include "costs.h"

namespace slipstick {
namespace {

const std::vector<std::string> kNode{"cluster=dgx-h100", "cluster.devices=8"};

std::vector<std::string> With(std::vector<std::string> all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// 49.24 $ for eight H100 (CoreWeave, on demand) is 6.155 $ per GPU-hour in use, at any utilization; used nine hours of
// ten, the rent is nine tenths of the years'. DeepSeek-V3's 2.788 M hours at 2 $ are the 5.576 M$ of its report.
TEST(Rental, OnDemandAndSpotArePaidForTheHoursInUse) {
  for (const std::string rental : {"coreweave-h100-on-demand", "coreweave-h100-spot"}) {
    const CostReport busy = CostOf(With(kNode, {"cost.rental=" + rental, "cost.system.utilisation=1"}));
    const CostReport idle = CostOf(With(kNode, {"cost.rental=" + rental, "cost.system.utilisation=0.9"}));
    EXPECT_NEAR(In(idle.device_hour, kUsd), In(busy.device_hour, kUsd), 1e-9);
    EXPECT_NEAR(In(idle.system, kUsd), 0.9 * In(busy.system, kUsd), 1e-3);
  }
  const CostReport busy = CostOf(With(kNode, {"cost.rental=coreweave-h100-on-demand", "cost.system.utilisation=1"}));
  EXPECT_NEAR(In(busy.device_hour, kUsd), 6.155, 1e-9);
  ASSERT_EQ(busy.system_parts.size(), 1u);
  EXPECT_EQ(busy.system_parts.front().name, "rent");
  EXPECT_NEAR(In(busy.system, kUsd), 49.24 * 8760 * 4, 1e-3);
  EXPECT_TRUE(busy.warnings.empty());
}

// 2.72 $ per GPU-hour, paid for all ten hours of which nine are used.
TEST(Rental, ReservationIsPaidForEveryHour) {
  const CostReport idle = CostOf(With(kNode, {"cost.rental=hyperstack-h100-reserved", "cost.system.utilisation=0.9"}));
  EXPECT_NEAR(In(idle.device_hour, kUsd), 2.72 / 0.9, 1e-9);
  EXPECT_NEAR(In(idle.system, kUsd), 8 * 2.72 * 8760 * 4, 1e-3);
}

// Reserved is cheaper than on demand, spot cheaper than both; a stated price overrides the preset's.
TEST(Rental, KindsAndOwnPrices) {
  const auto hour = [](const std::vector<std::string>& rental) {
    return CostOf(With(With(kNode, {"cost.system.utilisation=1"}), rental)).device_hour;
  };
  EXPECT_NEAR(In(hour({"cost.rental=hyperstack-h100-on-demand"}), kUsd), 3.20, 1e-9);
  EXPECT_NEAR(In(hour({"cost.rental=hyperstack-h100-reserved"}), kUsd), 2.72, 1e-9);
  EXPECT_NEAR(In(hour({"cost.rental=coreweave-h100-spot"}), kUsd), 19.71 / 8, 1e-5);
  EXPECT_NEAR(In(hour({"cost.rental.price=2.5 $/h"}), kUsd), 2.5, 1e-9);
}

TEST(Rental, SaysWhereThePriceIsOfAnotherDevice) {
  const CostReport report = CostOf(With(kNode, {"cost.rental=lambda-b200-on-demand"}));
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_NE(report.warnings.front().find("b200"), std::string::npos);
}

// Every listed price has a day, a provider, a source and a device of the catalogue.
TEST(Rental, PricesAreDated) {
  int rentals = 0;
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "rental") continue;
    const Json& json = *FindPreset("rental", preset.id);
    const std::string date = json["date"].get<std::string>();
    EXPECT_EQ(date.size(), 10u) << preset.id;
    EXPECT_EQ(date.substr(0, 3), "202") << preset.id;
    EXPECT_FALSE(json["provider"].get<std::string>().empty()) << preset.id;
    EXPECT_NE(json["sources"]["price"].get<std::string>().find(date), std::string::npos) << preset.id;
    EXPECT_NE(FindPreset("device", json["device"].get<std::string>()), nullptr) << preset.id;
    ++rentals;
  }
  EXPECT_GE(rentals, 20);
}

}  // namespace
}  // namespace slipstick
