#include "core/base/explanation.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "core/base/provenance.h"

namespace slipstick {
namespace {

std::string InWords(std::string symbol) {
  std::replace(symbol.begin(), symbol.end(), '_', ' ');
  return symbol;
}

bool SaysTheSame(const FigureRecord& a, const FigureRecord& b) {
  return a.value == b.value && a.formula == b.formula && a.kind == b.kind &&
         std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(),
                    [](const Term& one, const Term& other) {
                      return one.symbol == other.symbol && one.origin == other.origin;
                    });
}

// Records each figure after the figures that it rests on.
class Explainer {
 public:
  Explainer(std::span<const ShownNumber> shown, const InputRules& rules) : rules_(rules) {
    for (const ShownNumber& one : shown) {
      if (one.node != nullptr && one.node->op != Op::kInput) shown_.try_emplace(one.node, &one);
    }
  }

  void Add(const ShownNumber& shown) {
    question_ = shown.path.substr(0, shown.path.find('.'));
    const auto first = shown_.find(shown.node);
    if (first != shown_.end() && first->second == &shown) {
      OriginOf(*shown.node, "", shown.dimension);
    } else {
      figures_.push_back(SameAs(shown));
    }
  }

  std::vector<FigureRecord> Figures() && { return std::move(figures_); }

 private:
  struct Origin {
    std::string path;
    std::size_t figure = kNoFigure;
  };

  // Where a node comes from. `symbol`, `dimension`: from the term that refers to it, for a node without a title.
  Origin OriginOf(const Node& node, std::string_view symbol, const Dimension& dimension) {
    const auto known = of_nodes_.find(&node);
    if (known != of_nodes_.end()) return known->second;
    Origin origin = node.op != Op::kInput     ? Record(node, symbol, dimension)
                    : node.label->is_constant ? RecordConstant(node)
                                              : Origin{node.label->path};
    return of_nodes_[&node] = std::move(origin);
  }

  Origin Record(const Node& node, std::string_view symbol, const Dimension& dimension) {
    const auto shown = shown_.find(&node);
    if (shown == shown_.end()) return Record(FigureOf(node, symbol, dimension));
    const std::string& path = shown->second->path;
    FigureRecord figure = FigureOf(node, path.substr(path.rfind('.') + 1), shown->second->dimension);
    figure.path = path;
    return Place(std::move(figure));
  }

  // Figures with the same name and the same content are recorded once; others with that name are numbered.
  Origin Record(FigureRecord figure) {
    figure.path = question_ + "." + figure.symbol;
    std::vector<std::size_t>& places = places_[figure.path];
    for (const std::size_t place : places) {
      if (SaysTheSame(figures_[place], figure)) return {figures_[place].path, place};
    }
    places.push_back(figures_.size());
    if (places.size() > 1) figure.path += " (" + std::to_string(places.size()) + ")";
    return Place(std::move(figure));
  }

  Origin RecordConstant(const Node& node) {
    const Label& label = *node.label;
    const int number = ++constants_[label.path];
    FigureRecord constant;
    constant.kind = FigureKind::kConstant;
    constant.path = label.path + (number > 1 ? " (" + std::to_string(number) + ")" : "");
    constant.symbol = SymbolOf(node);
    constant.title = label.title;
    constant.source = label.source;
    constant.value = node.value;
    constant.dimension = label.dimension;
    return Place(std::move(constant));
  }

  Origin Place(FigureRecord figure) {
    figures_.push_back(std::move(figure));
    return {figures_.back().path, figures_.size() - 1};
  }

  // The figure of a node, still without its path. Also records the figures that it rests on.
  FigureRecord FigureOf(const Node& node, std::string_view symbol, const Dimension& dimension) {
    const NodeFormula formula = FormulaOf(node);
    FigureRecord figure;
    figure.symbol = node.label != nullptr ? SymbolOf(node) : std::string(symbol);
    figure.title = node.label != nullptr ? node.label->title : InWords(figure.symbol);
    figure.formula = formula.text;
    figure.value = node.value;
    figure.dimension = node.label != nullptr ? node.label->dimension : dimension;
    for (const FormulaTerm& term : formula.terms) {
      const Dimension of_term = term.node->label != nullptr ? term.node->label->dimension : Dimension{};
      Origin origin = OriginOf(*term.node, term.symbol, of_term);
      figure.terms.push_back({term.symbol, term.node->value, of_term, std::move(origin.path), origin.figure});
      const double share = node.value != 0 ? term.derivative * term.node->value / node.value : 0;
      figure.shares.push_back(std::isnan(share) ? 0 : share);
    }
    if (node.label != nullptr) AddText(*node.label, figure);
    if (node.op == Op::kProcedure) figure.kind = FigureKind::kProcedure;
    if (!figure.among.empty()) figure.kind = FigureKind::kChoice;
    AddRules(figure);
    return figure;
  }

  static void AddText(const Label& label, FigureRecord& figure) {
    figure.note = label.note;
    figure.source = label.source;
    figure.compared = label.compared_in;
    for (std::size_t i = 0; i < label.options.size(); ++i)
      figure.among.push_back({label.options[i], label.compared[i], i == label.chosen});
  }

  void AddRules(FigureRecord& figure) const {
    std::string rules;
    for (const Term& term : figure.terms) {
      const auto rule = rules_.find(term.origin);
      if (rule == rules_.end() || rules.find(rule->second) != std::string::npos) continue;
      rules += (rules.empty() ? "assumed from the data sheet: " : "; ") + std::string(rule->second);
    }
    if (!rules.empty()) figure.source = std::move(rules);
  }

  // A figure for a number that the report also shows at another path, that is an input, or that has no node.
  FigureRecord SameAs(const ShownNumber& shown) {
    FigureRecord figure;
    figure.path = shown.path;
    figure.symbol = shown.path.substr(shown.path.rfind('.') + 1);
    figure.title = InWords(figure.symbol);
    figure.value = shown.value;
    figure.dimension = shown.dimension;
    figure.formula = "0";
    if (shown.node == nullptr) return figure;
    Origin origin = OriginOf(*shown.node, figure.symbol, shown.dimension);
    figure.formula = "1 * value";
    figure.terms.push_back({"value", shown.value, shown.dimension, std::move(origin.path), origin.figure});
    figure.shares.push_back(1);
    return figure;
  }

  const InputRules& rules_;
  std::string question_;  // path of the number that is explained
  std::vector<FigureRecord> figures_;
  std::unordered_map<const Node*, const ShownNumber*> shown_;         // the first path that shows a node
  std::unordered_map<const Node*, Origin> of_nodes_;                  // of the nodes met so far
  std::unordered_map<std::string, std::vector<std::size_t>> places_;  // indices of the figures with each name
  std::unordered_map<std::string, int> constants_;                    // number of constants per path
};

}  // namespace

std::vector<FigureRecord> Explain(std::span<const ShownNumber> shown, const InputRules& rules) {
  Explainer explainer(shown, rules);
  for (const ShownNumber& one : shown) explainer.Add(one);
  return std::move(explainer).Figures();
}

}  // namespace slipstick
