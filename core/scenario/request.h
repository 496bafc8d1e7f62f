// How a request is completed: one rule for every command, the page and links.
//
// A request without a version is one of the newest. It is merged into the default scenario of its version:
//   version 3      member by member, as assignments: {"cluster": {"devices": 8}} is cluster.devices=8. An object that
//                  names a preset, or holds every required member, takes the place of the default's. A bare number in a
//                  text has its field's unit. A plain command runs the engine (serving.tuning "stock").
//   versions 1, 2  a written part is complete as it stands: absent members take their fields' defaults; in version 2 an
//                  absent mapping is "auto". A bare number in a text is in base units. The engine is "tuned".
// Assignments ("PATH=VALUE") come on top, shallow paths before deep ones. A completed request lists in "written" the
// paths that the user wrote; each includes everything below it. Values that the user did not write may be moved to
// legal ones (legal_defaults.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/base/quantity.h"
#include "core/scenario/version.h"

namespace slipstick {

// The scenario that the page opens with, as a request. Versions 2 and 3 leave both mappings to the tuner ("auto").
const Json& DefaultRequest(Count version = kNewestVersion);

// The version that a request states; the newest if it states none or an unknown one.
Count VersionOf(const Json& request);

// "training.mapping.tp=8" -> {path, value}; the value is read as JSON if it is JSON, otherwise as text. The number of a
// quantity stays text, because its unit depends on the version of the request.
struct Assignment {
  std::string path;
  Json value;
  friend bool operator==(const Assignment&, const Assignment&) = default;
};
Result<Assignment> ParseAssignment(std::string_view text);

// Applies assignments to a request. "model=llama-3.1-8b" is short for "model.preset=llama-3.1-8b", as at every path
// that names a catalogue entry; it drops the overrides of the former entry, but keeps a written number of devices.
void Apply(Json& request, std::vector<Assignment> assignments);
// The request with values set by path, as answers give them in "overrides".
Json WithOverrides(Json request, const Json& overrides);

// Applies a fix to a completed request.
Json WithFix(Json request, const Fix& fix);

// A request as it is evaluated: absent parts come from the default scenario (all of it if the text is empty), then the
// assignments ("PATH=VALUE") apply. Completing a complete request changes nothing.
Result<Json> ReadRequest(std::string_view text, const std::vector<std::string>& assignments);
Result<Json> CompleteRequest(Json request);

// The paths that a completed request lists as written.
class Written {
 public:
  // All of a request without such a list counts as written.
  explicit Written(const Json& request);
  // Whether the default scenario supplied this value.
  [[nodiscard]] bool IsDefault(std::string_view path) const;
  // Whether the user wrote neither this member nor any member below it.
  [[nodiscard]] bool IsUntouched(std::string_view member) const;

 private:
  bool all_;
  std::vector<std::string> paths_;
};

}  // namespace slipstick
