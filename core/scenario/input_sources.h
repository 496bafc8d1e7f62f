// Where the numbers of a scenario come from.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/json.h"

namespace slipstick {

// The source that a catalogue entry names for a number, by the number's path in a resolved scenario; only for numbers
// that are still the entry's. The texts live as long as the catalogue.
std::unordered_map<std::string, std::string_view> InputSources(const Json& scenario);

// Drops the efficiencies and the usable memory that the catalogue entry does not state and that equal the rules'
// values. A resolved scenario holds them as plain values; without this they would no longer count as assumed.
// `detached`: the entry states none, for the device has a chip design (DetachFromPreset).
void DropRuleDerivedValues(Json& device, bool detached);

}  // namespace slipstick
