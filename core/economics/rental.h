// A device rented by the hour instead of bought.
#pragma once

#include <string>
#include <string_view>

#include "core/base/field.h"

namespace slipstick {

enum class RentalTerm {
  kOnDemand,  // by the hour, ended at any time: nothing is paid while it is not in use
  kReserved,  // for a contract term: every hour of it is paid
  kSpot       // as on demand, and may be taken back at short notice
};
ENUM_NAMES(RentalTerm, {kOnDemand, "on_demand"}, {kReserved, "reserved"}, {kSpot, "spot"});

// Prices move: a listed one is that of its date.
struct Rental {
  std::string preset;
  std::string name = "custom";
  std::string device;  // preset of the device that it is the price of; empty: any
  std::string provider;
  std::string date;  // on which the price was read, year-month-day
  RentalTerm term = RentalTerm::kOnDemand;
  DollarsPerSecond price = 3 * kUsdPerHour;  // per device, with its server, network, hosting and power
};
template <>
struct Schema<Rental> {
  static constexpr std::string_view preset_kind = "rental";
  static const Fields fields;
};

}  // namespace slipstick
