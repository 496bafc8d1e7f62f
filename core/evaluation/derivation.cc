#include "core/evaluation/derivation.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "core/base/formula.h"
#include "core/base/units.h"
#include "core/evaluation/report.h"

namespace slipstick {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Formulas by their text: a few hundred stand for thousands of figures.
class Formulas {
 public:
  // The share of each term; none for what has no formula.
  std::vector<double> SharesOf(const Figure& figure) {
    std::vector<double> shares(figure.terms.size());
    const Formula* formula = figure.kind == FigureKind::kFormula && figure.value != 0 ? Of(figure) : nullptr;
    if (formula == nullptr) return shares;
    values_.clear();
    for (const Term& term : figure.terms) values_.push_back(term.value);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double share = formula->Derivative(values_, i) * values_[i] / figure.value;
      if (std::isfinite(share)) shares[i] = share;
    }
    return shares;
  }

 private:
  const Formula* Of(const Figure& figure) {
    std::string key = figure.formula;
    for (const Term& term : figure.terms) key += '|', key += term.symbol;
    auto found = formulas_.find(key);
    if (found == formulas_.end()) {
      std::vector<std::string_view> names;
      for (const Term& term : figure.terms) names.push_back(term.symbol);
      found = formulas_.emplace(std::move(key), Formula::Parse(figure.formula, names)).first;
    }
    return found->second ? &*found->second : nullptr;
  }

  std::unordered_map<std::string, Result<Formula>> formulas_;
  std::vector<double> values_;
};

// A figure, the shares of its terms, and where in the list the figures are that its terms come from.
struct Weighed {
  const Figure* figure = nullptr;
  std::vector<double> shares;
  std::vector<std::size_t> origins;  // kNone: an input or a number
  std::size_t leads = kNone;         // the term on the path of the largest shares
};

// Figures come after those that they rest on.
std::vector<Weighed> Weigh(const std::vector<Figure>& figures) {
  Formulas formulas;
  std::vector<Weighed> all;
  all.reserve(figures.size());
  std::unordered_map<std::string_view, std::size_t> latest;
  for (const Figure& figure : figures) {
    Weighed weighed{&figure, formulas.SharesOf(figure), {}, kNone};
    for (const Term& term : figure.terms) {
      const auto found = latest.find(term.origin);
      weighed.origins.push_back(found == latest.end() ? kNone : found->second);
    }
    latest[figure.path] = all.size();
    all.push_back(std::move(weighed));
  }
  return all;
}

// The term that moves a figure most and comes from somewhere; of a choice, whose terms have no shares, the first of its own dimension.
std::size_t LeadingTerm(const Weighed& weighed) {
  const Figure& figure = *weighed.figure;
  std::size_t leads = kNone;
  const auto weight = [&](std::size_t term) {
    if (figure.kind != FigureKind::kChoice) return std::abs(weighed.shares[term]);
    return figure.terms[term].dimension == figure.dimension ? 2.0 : 1.0;
  };
  for (std::size_t term = 0; term < figure.terms.size(); ++term) {
    if (figure.terms[term].origin.empty() || weight(term) == 0) continue;
    if (leads == kNone || weight(term) > weight(leads)) leads = term;
  }
  return leads;
}

// Marks the path of the largest shares from the figure in a place down to an input.
void MarkPath(std::vector<Weighed>& all, std::size_t root) {
  for (std::size_t at = root; at != kNone;) {
    const std::size_t leads = all[at].leads = LeadingTerm(all[at]);
    at = leads == kNone ? kNone : all[at].origins[leads];
  }
}

double Rounded(double share) {
  constexpr double kSteps = 10'000;
  return std::round(share * kSteps) / kSteps;
}

Json Write(const Weighed& weighed) {
  const Figure& figure = *weighed.figure;
  const std::string_view title = OutputTitle(figure.path);
  Json terms = Json::array();
  for (std::size_t i = 0; i < figure.terms.size(); ++i) {
    const Term& term = figure.terms[i];
    terms.push_back(ObjectOf({{"symbol", term.symbol},
                              {"value", term.value},
                              {"unit", BaseUnitText(term.dimension)},
                              {"origin", term.origin},
                              {"share", Rounded(weighed.shares[i])}}));
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
      among.push_back(ObjectOf(
          {{"name", option.name}, {"value", option.value}, {"unit", BaseUnitText(figure.compared)}, {"chosen", option.is_chosen}}));
    }
    AddMember(written, "kind", "choice");
    AddMember(written, "among", std::move(among));
  }
  return written;
}

}  // namespace

Json WriteExplanations(const std::vector<Figure>& figures, std::string_view path) {
  std::vector<Weighed> all = Weigh(figures);
  Json list = Json::array();
  if (path == "*") {
    for (const Weighed& one : all) list.push_back(Write(one));
    return list;
  }
  std::size_t root = all.size();
  while (root > 0 && all[root - 1].figure->path != path) --root;
  if (root == 0) return list;
  MarkPath(all, root - 1);
  std::vector<std::size_t> open{root - 1};
  std::unordered_set<std::string_view> seen;
  for (std::size_t next = 0; next < open.size(); ++next) {
    const Weighed& one = all[open[next]];
    if (!seen.insert(one.figure->path).second) continue;
    list.push_back(Write(one));
    for (const std::size_t origin : one.origins) {
      if (origin != kNone) open.push_back(origin);
    }
  }
  return list;
}

namespace {

constexpr std::size_t kTermsShown = 7;
constexpr std::size_t kLevels = 4;    // beyond them only the path of the largest shares is opened
constexpr double kLeastShown = 0.05;  // of the figure that is explained, for its parts to be opened

std::string ValueText(const Json& number) { return ReadableText(number["value"].get<double>(), TextOf(number["unit"])); }

// Writes the tree below a figure, each level indented under the one above.
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

  // `part`: of the figure that is explained; `marked`: on the path of the largest shares.
  void Below(const Json& figure, double part, bool marked, std::size_t depth) {
    if (!opened_.insert(TextOf(figure["path"])).second) return;
    if (const Json* among = FindMember(figure, "among")) return ChoiceBelow(figure, *among, depth);
    std::vector<const Json*> terms;
    for (const Json& term : figure["terms"]) {
      if (term["value"].get<double>() != 0) terms.push_back(&term);
    }
    const auto share = [](const Json* term) { return (*term)["share"].get<double>(); };
    std::stable_sort(terms.begin(), terms.end(), [&](const Json* a, const Json* b) { return std::abs(share(a)) > std::abs(share(b)); });
    for (std::size_t i = 0; i < std::min(terms.size(), kTermsShown); ++i) {
      TermBelow(*terms[i], part * share(terms[i]), marked && terms[i]->contains("leads"), depth);
    }
    if (terms.size() > kTermsShown) Line(depth, "and " + std::to_string(terms.size() - kTermsShown) + " smaller ones");
  }

  // What was chosen, the next best, and what the choice rests on.
  void ChoiceBelow(const Json& figure, const Json& among, std::size_t depth) {
    const Json *chosen = nullptr, *next = nullptr;
    for (const Json& one : among) {
      const Json*& place = one["chosen"].get<bool>() ? chosen : next;
      if (place == nullptr || one["value"].get<double>() < (*place)["value"].get<double>()) place = &one;
    }
    const auto text = [](const Json& one) { return TextOf(one["name"]) + " (" + ValueText(one) + ")"; };
    std::string line = chosen != nullptr ? "chosen: " + text(*chosen) : "";
    if (next != nullptr) line += ", before " + text(*next);
    std::string names;
    for (const Json& term : figure["terms"]) names += (names.empty() ? "; by " : ", ") + TextOf(term["symbol"]);
    Line(depth, line + names);
  }

  void TermBelow(const Json& term, double part, bool marked, std::size_t depth) {
    const std::string& origin = TextOf(term["origin"]);
    const auto found = by_path_.find(origin);
    const std::string share = std::to_string(static_cast<int>(std::round(100 * term["share"].get<double>()))) + " % ";
    const std::string mark = marked ? " **←**" : "";
    if (found == by_path_.end()) {
      const Json* source = cited_.insert(origin).second ? FindMember(sources_, origin) : nullptr;
      const std::string from = source != nullptr ? ": " + TextOf(*source) : "";
      Line(depth,
           share + TextOf(term["symbol"]) + ": " + ValueText(term) + (origin.empty() ? "" : " (`" + origin + "`" + from + ")") + mark);
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
