// How a request comes about: the one rule of every verb, of the page and of links.
//
// A part that is absent at the top level is the default scenario's. A part that is written holds what it says: members that
// it leaves out take their fields' defaults. Assignments ("PATH=VALUE") are laid over that, whatever their order: what they
// are laid over comes first. A completed request knows what was written, in "written": paths, each with all below it. What
// the default scenario supplied and nobody wrote follows what was written (follow.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/issue.h"
#include "core/base/json.h"

namespace slipstick {

// The scenario that the page opens with, as a request.
const Json& DefaultRequest();

// "training.mapping.tp=8" -> {path, value}; the value is read as JSON where it is JSON, as text otherwise.
struct Assignment {
  std::string path;
  Json value;
};
Result<Assignment> ParseAssignment(std::string_view text);

// Lays assignments over a request; "model=llama-3.1-8b" is short for "model.preset=llama-3.1-8b", and so at every path that
// names a catalogue entry, whose former overrides go.
void Apply(Json& request, std::vector<Assignment> assignments);

// A completed request with a fix of one of its issues.
Json WithFix(Json request, const Fix& fix);

// A request as it is evaluated: the default scenario where the text is empty, parts that it does not mention taken from
// the default scenario, assignments ("PATH=VALUE") laid over it. Completing what is complete changes nothing.
Result<Json> ReadRequest(std::string_view text, const std::vector<std::string>& assignments);
Result<Json> CompleteRequest(Json request);

// The paths that a completed request lists as written.
class Written {
 public:
  // Of a request without such a list everything is written.
  explicit Written(const Json& request);
  // Whether nobody wrote this: the default scenario supplied it.
  [[nodiscard]] bool IsDefault(std::string_view path) const;

 private:
  bool all_;
  std::vector<std::string> paths_;
};

}  // namespace slipstick
