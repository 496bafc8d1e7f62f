// The catalogue: reviewed data files under core/presets/, embedded at build time, each number with its source. One
// entry is found by FindPreset (schema.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/schema.h"

namespace slipstick {

struct PresetText {
  std::string_view kind;  // "device", "model", "cluster", …
  std::string_view id;
  std::string_view text;
};
// The embedded files, ordered by kind and id.
const std::vector<PresetText>& PresetTexts();
// Kind, id and text of each file, each followed by a NUL. Generated at build time.
std::string_view EmbeddedPresets();

// The id of the first cluster file whose devices are these; "" if there is none.
std::string_view ClusterWith(std::string_view device);
// The rental for the devices of a cluster where a device `rented` has been rented, with the preset `rental` or "": "" if
// the rent holds there too, otherwise the id of one by the same provider on the same terms; no value if none is known.
std::optional<std::string_view> RentalOnCluster(std::string_view rental, std::string_view rented,
                                                std::string_view cluster);
// All kinds, in alphabetical order.
std::vector<std::string_view> PresetKinds();
// All entries of a kind ("": every kind), as the `presets` command prints them.
Json PresetCatalogue(std::string_view kind);

}  // namespace slipstick
