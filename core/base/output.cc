#include "core/base/output.h"

namespace slipstick::internal {

void AddDescription(const OutputFacts& facts, const std::string& path, std::string_view kind,
                    const Dimension* dimension, Json& out) {
  Json entry{{"path", path}, {"kind", kind}};
  if (!facts.title.empty()) entry["title"] = facts.title;
  if (!facts.brief.empty()) entry["short"] = facts.brief;
  const std::string unit =
      !facts.unit.empty() || dimension == nullptr ? std::string(facts.unit) : BaseUnitText(*dimension);
  if (!unit.empty()) entry["unit"] = unit;
  if (facts.better != Better::kNeither) entry["better"] = facts.better == Better::kLarger ? "larger" : "smaller";
  if (facts.is_searchable) entry["sought"] = true;
  out.push_back(std::move(entry));
}

}  // namespace slipstick::internal
