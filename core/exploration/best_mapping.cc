#include "core/exploration/best_mapping.h"

#include <utility>

namespace slipstick {

Result<BestMapping> FindBestMapping(const Json& request, const SearchSpec& spec) {
  SearchSpec one = spec;
  one.top = 1;
  one.pareto.clear();
  one.shard = 0;
  one.shards = 1;
  Result<std::shared_ptr<SearchJob>> job = SearchJob::Make(request, one);
  if (!job) return std::move(job.issues);
  while ((*job)->Step((*job)->SpaceSize())) {
  }
  const SearchProgress& progress = (*job)->progress();
  BestMapping best;
  if (!progress.best.empty()) {
    best.found = true;
    best.overrides = (*job)->Report()["best"][0]["overrides"];
    return best;
  }
  best.why = "None of " + std::to_string(progress.done) + " mappings is feasible";
  const char* joint = ": ";
  for (const auto& [reason, count] : progress.rejected) {
    best.why += joint + std::to_string(count) + " by " + reason;
    joint = ", ";
  }
  return best;
}

std::string MappingText(const Json& overrides) {
  std::string text;
  for (const auto& [path, value] : overrides.items()) {
    const bool offloads = path.find(".offload.") != std::string::npos;  // offload is a share: 1 means all
    if (value.is_null() || (value == Json(1) && !offloads) || value == Json(0) || value == Json(false) ||
        value == Json("none"))
      continue;
    const bool is_of_prefill = path.find(".prefill_mapping.") != std::string::npos;
    text += (text.empty() ? "" : ", ") +
            std::string(offloads        ? "offloaded "
                        : is_of_prefill ? "prefill pool "
                                        : "") +
            path.substr(path.rfind('.') + 1);
    if (!(value == Json(true))) text += " " + PlainText(value);
  }
  return text;
}

}  // namespace slipstick
