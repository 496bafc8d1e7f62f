#include "core/evaluation/derivation.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "core/base/type_path.h"
#include "core/base/units.h"
#include "core/evaluation/measurement_texts.h"
#include "core/evaluation/report.h"
#include "core/scenario/scenario.h"

namespace slipstick {
namespace {

struct Weighed {
  const FigureRecord* figure = nullptr;  // null: the explained figure does not depend on it
  std::size_t leads = kNoFigure;         // index of the term on the path to the most influential input
};

// The figures that figure `root` depends on, itself included. Figures come after those that they depend on.
std::vector<Weighed> WeighBelow(const std::vector<FigureRecord>& figures, std::size_t root) {
  std::vector<Weighed> all(root + 1);
  all[root].figure = &figures[root];
  for (std::size_t i = root + 1; i-- > 0;) {
    if (all[i].figure == nullptr) continue;
    for (const Term& term : figures[i].terms) {
      if (term.figure != kNoFigure) all[term.figure].figure = &figures[term.figure];
    }
  }
  return all;
}

// The input with the largest elasticity of the last figure, summed over all paths to it.
std::string_view LeadingInput(const std::vector<Weighed>& all) {
  std::vector<double> moves(all.size());  // elasticities: % change of the last figure per % change of this one
  moves.back() = 1;
  std::unordered_map<std::string_view, double> inputs;
  for (std::size_t i = all.size(); i-- > 0;) {
    if (moves[i] == 0) continue;
    const std::vector<Term>& terms = all[i].figure->terms;
    for (std::size_t j = 0; j < terms.size(); ++j) {
      if (terms[j].origin.empty()) continue;
      (terms[j].figure == kNoFigure ? inputs[terms[j].origin] : moves[terms[j].figure]) +=
          moves[i] * all[i].figure->shares[j];
    }
  }
  const auto less = [](const auto& one, const auto& other) {
    const double a = std::abs(one.second), b = std::abs(other.second);
    return a != b ? a < b : one.first > other.first;
  };
  const auto leading = std::max_element(inputs.begin(), inputs.end(), less);
  return leading == inputs.end() || leading->second == 0 ? std::string_view() : leading->first;
}

// Marks the path from the last figure to that input: at each level, the term through which the input has most effect.
void MarkPath(std::vector<Weighed>& all) {
  const std::string_view input = LeadingInput(all);
  if (input.empty()) return;
  std::vector<double> moved(all.size());  // % change of a figure per % change of the input
  const auto through = [&](const Weighed& one, std::size_t i) {
    const Term& term = one.figure->terms[i];
    return one.figure->shares[i] * (term.figure != kNoFigure ? moved[term.figure] : term.origin == input ? 1.0 : 0.0);
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].figure == nullptr) continue;
    for (std::size_t j = 0; j < all[i].figure->terms.size(); ++j) moved[i] += through(all[i], j);
  }
  for (std::size_t at = all.size() - 1; at != kNoFigure; at = all[at].figure->terms[all[at].leads].figure) {
    double most = 0;
    for (std::size_t j = 0; j < all[at].figure->terms.size(); ++j) {
      if (std::abs(through(all[at], j)) > most) all[at].leads = j, most = std::abs(through(all[at], j));
    }
    if (all[at].leads == kNoFigure) return;
  }
}

double Rounded(double share) {
  constexpr double kSteps = 10'000;
  return std::round(share * kSteps) / kSteps;
}

Json Write(const Weighed& weighed) {
  const FigureRecord& figure = *weighed.figure;
  // The figure's own title where the output shows it in another dimension: the price of a token, not of a million.
  const Measure shown = OneUnitOf(figure.path);
  const bool is_converted = shown.has_unit && shown.dimension != figure.dimension;
  const std::string_view title = is_converted ? std::string_view() : OutputTitle(figure.path);
  Json terms = Json::array();
  terms.get_ref<Json::array_t&>().reserve(figure.terms.size());
  for (std::size_t i = 0; i < figure.terms.size(); ++i) {
    const Term& term = figure.terms[i];
    terms.push_back(ObjectOf({{"symbol", term.symbol},
                              {"value", term.value},
                              {"unit", BaseUnitText(term.dimension)},
                              {"origin", term.origin},
                              {"share", Rounded(figure.shares[i])}}));
    if (i == weighed.leads) AddMember(terms.back(), "leads", true);
  }
  Json written = ObjectOf({{"path", figure.path},
                           {"symbol", figure.symbol},
                           {"title", title.empty() ? figure.title : title},
                           {"note", figure.note},
                           {"source", figure.source},
                           {"formula", figure.formula},
                           {"value", figure.value},
                           {"unit", BaseUnitText(figure.dimension)},
                           {"terms", std::move(terms)}});
  if (figure.kind == FigureKind::kConstant) AddMember(written, "kind", "constant");
  if (figure.kind == FigureKind::kProcedure) AddMember(written, "kind", "procedure");
  if (figure.kind == FigureKind::kChoice) {
    Json among = Json::array();
    for (const Option& option : figure.among) {
      among.push_back(ObjectOf({{"name", option.name},
                                {"value", option.value},
                                {"unit", BaseUnitText(figure.compared)},
                                {"chosen", option.is_chosen}}));
    }
    AddMember(written, "kind", "choice");
    AddMember(written, "among", std::move(among));
  }
  return written;
}

}  // namespace

Json WriteExplanations(const std::vector<FigureRecord>& figures, std::string_view path) {
  Json list = Json::array();
  if (path == "*") {
    list.get_ref<Json::array_t&>().reserve(figures.size());
    for (const FigureRecord& figure : figures) list.push_back(Write({&figure}));
    return list;
  }
  std::size_t root = figures.size();
  while (root > 0 && figures[root - 1].path != path) --root;
  if (root == 0) return list;
  std::vector<Weighed> all = WeighBelow(figures, root - 1);
  MarkPath(all);
  std::vector<std::size_t> open{root - 1};
  std::unordered_set<std::string_view> seen;
  for (std::size_t next = 0; next < open.size(); ++next) {
    const Weighed& one = all[open[next]];
    if (!seen.insert(one.figure->path).second) continue;
    list.push_back(Write(one));
    for (const Term& term : one.figure->terms) {
      if (term.figure != kNoFigure) open.push_back(term.figure);
    }
  }
  return list;
}

namespace {

constexpr std::size_t kTermsShown = 7;
constexpr std::size_t kLevels = 4;    // below them only the marked path is opened
constexpr double kLeastShown = 0.05;  // smaller fractions of the explained figure are not opened

std::string ValueText(const Json& number) {
  return ReadableText(number["value"].get<double>(), TextOf(number["unit"]));
}

// An input in its own unit, as it is entered.
std::string InputText(const Json& term, std::string_view path) {
  const std::string text = TextInUnitAt<Scenario>(path, term["value"].get<double>());
  return text.empty() ? ValueText(term) : text;
}

// Writes the tree of a figure, each level indented under the previous one.
class Tree {
 public:
  Tree(const Json& explanations, const Json& sources) : sources_(sources) {
    for (const Json& one : explanations) by_path_[TextOf(one["path"])] = &one;
  }

  std::string Of(std::string_view path) {
    const auto found = by_path_.find(path);
    if (found == by_path_.end()) return "";
    text_ = "# " + Headline(*found->second) + "\n\n";
    Below(*found->second, 1, true, 0);
    return std::move(text_);
  }

 private:
  static std::string Headline(const Json& figure) {
    const std::string& formula = TextOf(figure["formula"]);
    return TextOf(figure["title"]) + ": " + ValueText(figure) + (formula.empty() ? "" : " = `" + formula + "`");
  }

  // `part`: fraction of the explained figure; `marked`: on the marked path, which is also followed through figures that
  // were already shown.
  void Below(const Json& figure, double part, bool marked, std::size_t depth) {
    const bool is_new = opened_.insert(TextOf(figure["path"])).second;
    const auto leads = [marked](const Json& term) { return marked && term.contains("leads"); };
    if (!is_new && !marked) return;
    if (is_new && FindMember(figure, "kind") != nullptr) WithoutFormula(figure, depth);
    std::vector<const Json*> terms;
    for (const Json& term : figure["terms"]) {
      const bool is_shown = is_new && FindMember(figure, "kind") == nullptr && term["value"].get<double>() != 0;
      if (is_shown || leads(term)) terms.push_back(&term);
    }
    const auto share = [](const Json* term) { return (*term)["share"].get<double>(); };
    std::stable_sort(terms.begin(), terms.end(),
                     [&](const Json* a, const Json* b) { return std::abs(share(a)) > std::abs(share(b)); });
    std::size_t hidden = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const bool is_led = leads(*terms[i]);
      if (i < kTermsShown || is_led) TermBelow(*terms[i], part * share(terms[i]), is_led, depth);
      hidden += i >= kTermsShown && !is_led;
    }
    if (hidden > 0) Line(depth, "and " + std::to_string(hidden) + " smaller ones");
  }

  // A figure without a formula: what was chosen over what, or which procedure computed it, and from which terms.
  void WithoutFormula(const Json& figure, std::size_t depth) {
    std::string names;
    for (const Json& term : figure["terms"]) names += (names.empty() ? "; by " : ", ") + TextOf(term["symbol"]);
    if (const Json* among = FindMember(figure, "among")) return Line(depth, ChosenOf(*among) + names);
    if (!names.empty()) Line(depth, "found: " + TextOf(figure["note"]) + names);
  }

  static std::string ChosenOf(const Json& among) {
    const Json *chosen = nullptr, *next = nullptr;
    for (const Json& one : among) {
      const Json*& place = one["chosen"].get<bool>() ? chosen : next;
      if (place == nullptr || one["value"].get<double>() < (*place)["value"].get<double>()) place = &one;
    }
    const auto text = [](const Json& one) { return TextOf(one["name"]) + " (" + ValueText(one) + ")"; };
    const std::string line = chosen != nullptr ? "chosen: " + text(*chosen) : "";
    return next != nullptr ? line + ", before " + text(*next) : line;
  }

  void TermBelow(const Json& term, double part, bool marked, std::size_t depth) {
    const std::string& origin = TextOf(term["origin"]);
    const auto found = by_path_.find(origin);
    const std::string share = std::to_string(static_cast<int>(std::round(100 * term["share"].get<double>()))) + " % ";
    const std::string mark = marked ? " **←**" : "";
    if (found == by_path_.end()) {
      const Json* source = cited_.insert(origin).second ? FindMember(sources_, origin) : nullptr;
      const std::string from = source != nullptr ? ": " + TextOf(*source) : "";
      Line(depth, share + TextOf(term["symbol"]) + ": " + InputText(term, origin) +
                      (origin.empty() ? "" : " (`" + origin + "`" + from + ")") + mark);
      return;
    }
    Line(depth, share + Headline(*found->second) + mark);
    if ((std::abs(part) >= kLeastShown && depth < kLevels) || marked) Below(*found->second, part, marked, depth + 1);
  }

  void Line(std::size_t depth, const std::string& line) { text_ += std::string(2 * depth, ' ') + "- " + line + "\n"; }

  const Json& sources_;
  std::unordered_map<std::string_view, const Json*> by_path_;
  std::unordered_set<std::string_view> opened_, cited_;
  std::string text_;
};

}  // namespace

std::string DerivationText(const Json& explanations, const Json& sources, std::string_view path) {
  return Tree(explanations, sources).Of(path);
}

}  // namespace slipstick
