// Questions over scenarios, {"sweep": …}, {"solve": …}, {"cost_study": …}, and merges of search shards. Sizing and
// searching take too long for a thousand runs per minute.
#include "core/exploration/search_shard.h"
#include "core/exploration/solve.h"
#include "core/exploration/sweep.h"
#include "core/studies/cost_study.h"
#include "tests/fuzz/text_fuzz.h"

FUZZ_JSON(text) {
  const slipstick::Result<slipstick::Json> json = slipstick::ParseJson(text);
  if (!json) return;
  const auto asked = [&](const char* of) {
    const slipstick::Json* question = slipstick::FindMember(*json, of);
    return question ? slipstick::JsonText(*question) : "";
  };
  if (const std::string sweep = asked("sweep"); !sweep.empty())
    slipstick::Answered(slipstick::SweepRowsAnswer(sweep, 0, 2));
  if (const std::string solve = asked("solve"); !solve.empty()) slipstick::Answered(slipstick::SolveSpecAnswer(solve));
  if (const std::string study = asked("cost_study"); !study.empty())
    slipstick::Answered(slipstick::CostStudyAnswer(study));
  if (const std::string merge = asked("merge"); !merge.empty()) slipstick::Answered(slipstick::MergeShardsText(merge));
}
