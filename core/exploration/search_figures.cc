#include "core/exploration/search_figures.h"

#include <algorithm>

#include "core/base/listed.h"
#include "core/base/output.h"
#include "core/search/mapping_space.h"
#include "core/search/serving_space.h"

namespace slipstick {
namespace {

template <class Part>
std::vector<SearchFigure> FiguresOf(const std::vector<SearchableOutput<Part>>& outputs,
                                    double (*SearchFigure::*read)(const Part&)) {
  std::vector<SearchFigure> figures;
  for (const SearchableOutput<Part>& one : outputs) {
    figures.push_back({one.name, one.better == Better::kLarger});
    figures.back().*read = one.read;
  }
  return figures;
}

}  // namespace

double SearchFigure::Read(const EvaluatedPoint& point) const {
  return of_training != nullptr ? of_training(*point.training) : of_serving(*point.serving);
}

const std::vector<SearchFigure>& SearchFigures(std::string_view of) {
  static const auto& training =
      *new std::vector<SearchFigure>(FiguresOf(SearchableTrainingOutputs(), &SearchFigure::of_training));
  static const auto& serving =
      *new std::vector<SearchFigure>(FiguresOf(SearchableServingOutputs(), &SearchFigure::of_serving));
  return of == "training" ? training : serving;
}

const SearchFigure* FindSearchFigure(std::string_view of, std::string_view name) {
  const std::vector<SearchFigure>& figures = SearchFigures(of);
  const auto found =
      std::find_if(figures.begin(), figures.end(), [name](const SearchFigure& one) { return one.name == name; });
  return found == figures.end() ? nullptr : &*found;
}

std::vector<std::string> MemberPaths(std::string_view of) {
  const bool training = of == "training";
  std::vector<std::string> paths;
  for (const std::string_view member : training ? TrainingSpace::Members() : ServingSpace::Members()) {
    std::string part = "mapping.";
    const bool is_outside =
        member == "recompute" || member == "batch" || member == "prefill_chunk" || member.find('.') != member.npos;
    if (is_outside) part = "";
    if (member == "weights" || member == "activations" || member == "kv_cache") part = "precision.";
    const bool is_of_pools =
        member == "prefill_devices" || member == "decode_devices" || member.starts_with("prefill_mapping.");
    if (is_of_pools) part = "disaggregated.";
    paths.push_back(std::string(of) + "." + part + std::string(member));
  }
  return paths;
}

std::string SearchFigureNames(std::string_view of) { return Listed(SearchFigures(of), &SearchFigure::name); }

Json SearchObjectives() {
  Json all = Json::object();
  for (const char* of : {"training", "serving"}) {
    Json& names = all[of] = Json::array();
    for (const SearchFigure& one : SearchFigures(of)) {
      names.push_back(Json{{"name", one.name}, {"better", one.larger_is_better ? "larger" : "smaller"}});
    }
  }
  all["members"] = Json{{"training", MemberPaths("training")}, {"serving", MemberPaths("serving")}};
  return all;
}

}  // namespace slipstick
