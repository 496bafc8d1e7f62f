// The catalogue: reviewed data files under core/presets/, embedded at build time, each number with its source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"

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

// A parsed entry; null if there is none.
const Json* FindPreset(std::string_view kind, std::string_view id);
// The ids of a kind that are similar to a word, most similar first; all of a small kind if none is.
std::vector<std::string> NearestPresets(std::string_view kind, std::string_view id);
// All kinds, in alphabetical order.
std::vector<std::string_view> PresetKinds();
// All entries of a kind ("": every kind), as the `presets` command prints them.
Json PresetCatalogue(std::string_view kind);

}  // namespace slipstick
