// A device rented by the hour instead of bought.
#pragma once

#include <string>
#include <string_view>

#include "core/base/field.h"

namespace slipstick {

enum class RentalTerm {
  kOnDemand,  // by the hour, can end at any time: idle time costs nothing
  kReserved,  // for a contract term: every hour is paid
  kSpot       // like on demand, but can be withdrawn at short notice
};
ENUM_NAMES(RentalTerm, {kOnDemand, "on_demand"}, {kReserved, "reserved"}, {kSpot, "spot"});

// Prices change: a listed price holds for its date.
struct Rental {
  std::string preset;
  std::string name = "custom";
  std::string device;  // preset of the device that this price is for; empty: any
  std::string provider;
  std::string date;  // when the price was read, year-month-day
  RentalTerm term = RentalTerm::kOnDemand;
  DollarsPerSecond price = 3 * kUsdPerHour;  // per device, including server, network, hosting and power
};
template <>
struct Schema<Rental> {
  static constexpr std::string_view preset_kind = "rental";
  static const Fields fields;
};

}  // namespace slipstick
