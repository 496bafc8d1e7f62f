#include "core/base/trace.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <functional>
#include <utility>

#include "core/base/provenance.h"

namespace slipstick {
namespace {

// "a, b, c" -> next name, spaces dropped.
std::string_view NextName(std::string_view& names) {
  const std::size_t comma = names.find(',');
  std::string_view name = names.substr(0, comma);
  names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
  while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  return name;
}

void EraseEach(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    const std::size_t end = at + part.size();
    const bool goes_on = end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0;
    if (goes_on) {
      at = end;
    } else {
      text.erase(at, part.size());
    }
  }
}

// A base unit is one: "2 * kFlop * m / (1 * kS)" reads "2 * m".
std::string WithoutBaseUnits(std::string_view formula) {
  std::string text(formula);
  if (text.find(" * k") == std::string::npos) return text;
  for (const std::string_view unit : {" * kFlop", " * kToken", " * kS", " * kB"}) EraseEach(text, unit);
  if (text.size() == formula.size()) return text;
  for (const std::string_view one : {" * (1)", " / (1)"}) EraseEach(text, one);
  return text;
}

constexpr std::string_view kDevice = "cluster.device";

std::size_t HashOf(std::string_view symbol, double value) {
  return std::hash<std::string_view>()(symbol) * 31 + std::hash<double>()(value);
}

}  // namespace

std::size_t Trace::Enter(std::string_view scope) {
  Book& book = *book_;
  const std::size_t outer = book.scope;
  while (!scope.empty()) {
    const std::string_view part = scope.substr(0, scope.find('.'));
    scope.remove_prefix(std::min(part.size() + 1, scope.size()));
    const std::size_t parent = book.scope;
    std::string path = book.scopes[parent].path;
    if (!path.empty()) path += '.';
    path += part;
    const auto [entry, is_new] = book.scope_of_path.try_emplace(std::move(path), book.scopes.size());
    if (is_new) book.scopes.push_back({entry->first, parent, book.scopes[parent].depth + 1});
    book.scope = entry->second;
  }
  return outer;
}

const std::vector<FigureRecord>& Trace::figures() const {
  static const std::vector<FigureRecord> none;
  return book_ == nullptr ? none : book_->figures;
}

// The innermost scope that holds both.
std::size_t Trace::SharedScope(std::size_t a, std::size_t b) const {
  const std::vector<ScopeNode>& scopes = book_->scopes;
  while (a != b) {
    std::size_t& deeper = scopes[a].depth >= scopes[b].depth ? a : b;
    deeper = scopes[deeper].parent;
  }
  return a;
}

void Trace::Bind(std::string symbol, Origin origin, internal::Value value) {
  Book& book = *book_;
  std::size_t& latest = book.latest[HashOf(symbol, value.base)];
  book.bindings.push_back({book.scope, std::move(symbol), value.base, std::move(origin), latest});
  latest = book.bindings.size();
}

// Operators name the members of the device that they run on "cluster.device. ...". A scope with another device binds
// the symbol "cluster.device", of value 0, to the path of that one.
std::string Trace::PathHere(std::string_view path) const {
  const bool is_of_device = path.size() > kDevice.size() && path.starts_with(kDevice) && path[kDevice.size()] == '.';
  const Origin* own = is_of_device ? OriginOf(kDevice, internal::ValueOf(0)) : nullptr;
  return own == nullptr ? std::string(path) : own->path + std::string(path.substr(kDevice.size()));
}

std::string Trace::DeviceHere() const {
  const std::string& scope = book_->scopes[book_->scope].path;
  const Origin* own = OriginOf(kDevice, internal::ValueOf(0));
  return scope.substr(0, scope.find('.')) + " " + (own == nullptr ? std::string(kDevice) : own->path);
}

void Trace::BindInput(std::string_view symbol, internal::Value value, std::string_view path) {
  if (const Origin* replaced = book_->replaces ? OriginOf(ReplacedName(path), value) : nullptr; replaced != nullptr) {
    return Bind(std::string(symbol), Origin(*replaced), value);
  }
  std::string full = PathHere(path);
  const auto reported = book_->reported.find(full);
  const std::size_t figure = reported == book_->reported.end() ? kNoFigure : reported->second;
  Bind(std::string(symbol), {std::move(full), figure}, value);
}

void Trace::BindAlias(std::string_view symbol, internal::Value value, std::string_view of) {
  if (std::optional<Origin> origin = OriginOfTerm(of, value)) Bind(std::string(symbol), *std::move(origin), value);
}

void Trace::BindConstants(std::string_view table, std::string_view source, std::string_view names,
                          std::span<const internal::Value> values) {
  for (const internal::Value& value : values) {
    const std::string_view name = NextName(names);
    const std::string path = OwnPath(std::string(table) + "." + std::string(name), value.base);
    const auto [known, is_new] = book_->constants.try_emplace(path, book_->figures.size());
    Bind(std::string(name), {path, known->second}, value);
    if (!is_new) continue;
    FigureRecord constant;
    constant.kind = FigureKind::kConstant;
    constant.path = path;
    constant.symbol = name;
    constant.title = name;
    std::replace(constant.title.begin(), constant.title.end(), '_', ' ');
    constant.source = source;
    constant.value = value.base;
    constant.dimension = *value.dimension;
    book_->figures.push_back(std::move(constant));
  }
  assert(names.empty());
}

// The nearest scope: the most scopes in common, then an enclosing one before a sibling's, then the latest. The value
// only tells apart bindings of the same name.
const Trace::Origin* Trace::OriginOf(std::string_view symbol, internal::Value value) const {
  const Book& book = *book_;
  const auto found = book.latest.find(HashOf(symbol, value.base));
  const Binding* nearest = nullptr;
  std::pair<std::size_t, bool> nearness;  // 1 + scopes in common, whether it encloses
  for (std::size_t place = found == book.latest.end() ? 0 : found->second; place > 0;
       place = book.bindings[place - 1].before) {
    const Binding& binding = book.bindings[place - 1];
    if (binding.symbol != symbol || binding.value != value.base) continue;
    if (binding.scope == book.scope) return &binding.origin;  // none is nearer
    const std::size_t shared = SharedScope(binding.scope, book.scope);
    if (shared == 0 && binding.scope != 0 && book.scope != 0) continue;  // another question's
    const std::pair<std::size_t, bool> near{1 + book.scopes[shared].depth, shared == binding.scope};
    if (near > nearness) nearest = &binding, nearness = near;
  }
  return nearest == nullptr ? nullptr : &nearest->origin;
}

std::optional<Trace::Origin> Trace::OriginOfTerm(std::string_view symbol, internal::Value value) {
  if (const Origin* named = OriginOf(symbol, value)) return *named;
  if (value.node == nullptr) return std::nullopt;
  return OriginOfNode(*value.node, symbol, *value.dimension);
}

// What a node stands for: an input, or a figure, which is recorded when the first term meets it. `symbol`: what that
// term calls it, for a node without a title.
Trace::Origin Trace::OriginOfNode(const Node& node, std::string_view symbol, const Dimension& dimension) {
  const auto known = book_->of_nodes.find(&node);
  if (known != book_->of_nodes.end()) return known->second;
  Origin origin;
  if (node.op != Op::kInput) {
    origin = RecordFound(FigureOf(node, symbol, dimension));
  } else if (node.label->is_constant) {
    origin = RecordConstant(node);
  } else {
    const auto reported = book_->reported.find(node.label->path);
    origin = {node.label->path, reported == book_->reported.end() ? kNoFigure : reported->second};
  }
  return book_->of_nodes[&node] = std::move(origin);
}

// Of a node, in the current scope: the figure there that says the same, or one with a path of its own.
Trace::Origin Trace::RecordFound(FigureRecord figure) {
  std::string path = BelowScope(figure.symbol);
  std::vector<std::size_t>& places = book_->found[path];
  const auto says_the_same = [&](std::size_t place) {
    const FigureRecord& other = book_->figures[place];
    return other.value == figure.value && other.formula == figure.formula && other.kind == figure.kind &&
           std::equal(other.terms.begin(), other.terms.end(), figure.terms.begin(), figure.terms.end(),
                      [](const Term& a, const Term& b) { return a.symbol == b.symbol && a.origin == b.origin; });
  };
  const auto same = std::find_if(places.begin(), places.end(), says_the_same);
  if (same != places.end()) return {book_->figures[*same].path, *same};
  places.push_back(book_->figures.size());
  std::vector<double>& values = book_->values[path];
  values.push_back(figure.value);
  figure.path = values.size() == 1 ? std::move(path) : std::move(path) + " (" + std::to_string(values.size()) + ")";
  book_->figures.push_back(std::move(figure));
  return {book_->figures.back().path, places.back()};
}

// Without its path. The figures that it rests on are recorded.
FigureRecord Trace::FigureOf(const Node& node, std::string_view symbol, const Dimension& dimension) {
  const NodeFormula formula = FormulaOf(node);
  FigureRecord figure;
  figure.symbol = node.label != nullptr ? SymbolOf(node) : std::string(symbol);
  figure.title = node.label != nullptr ? node.label->title : figure.symbol;
  if (node.label == nullptr) std::replace(figure.title.begin(), figure.title.end(), '_', ' ');
  figure.formula = formula.text;
  figure.value = node.value;
  figure.dimension = node.label != nullptr ? node.label->dimension : dimension;
  for (const FormulaTerm& term : formula.terms) {
    const Dimension of_term = term.node->label != nullptr ? term.node->label->dimension : Dimension{};
    Origin origin = OriginOfNode(*term.node, term.symbol, of_term);
    figure.terms.push_back({term.symbol, term.node->value, of_term, std::move(origin.path), origin.figure});
    figure.shares.push_back(node.value != 0 ? term.derivative * term.node->value / node.value : 0);
  }
  if (node.label != nullptr) {
    figure.note = node.label->note;
    for (std::size_t i = 0; i < node.label->options.size(); ++i)
      figure.among.push_back({node.label->options[i], node.label->compared[i], i == node.label->chosen});
  }
  if (node.op == Op::kProcedure) figure.kind = FigureKind::kProcedure;
  if (!figure.among.empty()) figure.kind = FigureKind::kChoice, figure.compared = figure.dimension;
  figure.source = SourceOf(figure, node.label != nullptr ? node.label->source : "");
  return figure;
}

void Trace::RecordReported(std::string_view path, internal::Value value) {
  const std::string symbol(path.substr(path.rfind('.') + 1));
  const bool is_new = value.node != nullptr && value.node->op != Op::kInput && book_->of_nodes.count(value.node) == 0;
  FigureRecord figure;
  if (is_new) {
    figure = FigureOf(*value.node, symbol, *value.dimension);
    book_->of_nodes[value.node] = {std::string(path), book_->figures.size()};
  } else {
    figure.symbol = symbol;
    figure.title = symbol;
    std::replace(figure.title.begin(), figure.title.end(), '_', ' ');
    figure.value = value.base;
    figure.dimension = *value.dimension;
    if (value.node == nullptr && value.base == 0) {
      figure.formula = "0";  // of what the scenario does not have
    } else {                 // an input, or a figure that has a path
      const Origin origin = value.node != nullptr ? OriginOfNode(*value.node, symbol, *value.dimension) : Origin();
      figure.formula = "1 * value";
      figure.terms.push_back({"value", value.base, *value.dimension, origin.path, origin.figure});
    }
  }
  figure.path = path;
  book_->reported[figure.path] = book_->figures.size();
  Bind(symbol, {figure.path, book_->figures.size()}, value);
  book_->figures.push_back(std::move(figure));
}

Trace::Origin Trace::RecordConstant(const Node& node) {
  const Label& label = *node.label;
  const auto [known, is_new] = book_->constants.try_emplace(OwnPath(label.path, node.value), book_->figures.size());
  if (is_new) {
    FigureRecord constant;
    constant.kind = FigureKind::kConstant;
    constant.path = known->first;
    constant.symbol = SymbolOf(node);
    constant.title = label.title;
    constant.source = label.source;
    constant.value = node.value;
    constant.dimension = label.dimension;
    book_->figures.push_back(std::move(constant));
  }
  return {known->first, known->second};
}

const Node* Trace::NodeOf(std::string_view symbol, internal::Value value) {
  const Origin* named = OriginOf(symbol, value);
  return named == nullptr ? value.node : NodeOf(*named, value);
}

const Node* Trace::NodeOf(const Origin& origin, internal::Value value) {
  const Node* node = book_->tape.Input(origin.path, value.base, *value.dimension);
  book_->of_nodes.try_emplace(node, origin);
  return node;
}

const Node* Trace::InputNode(const std::string& path, double value, const Dimension& dimension) {
  const internal::Value number{value, &dimension};
  for (const std::string& name : {path, ReplacedName(path)}) {  // what a caller makes of it rests on what replaces it
    if (const Origin* other = OriginOf(name, number)) return NodeOf(*other, number);
  }
  std::string full = PathHere(path);
  const auto reported = book_->reported.find(full);
  return NodeOf(Origin{std::move(full), reported == book_->reported.end() ? kNoFigure : reported->second}, number);
}

std::string Trace::PathInScope(std::string_view symbol, double value) { return OwnPath(BelowScope(symbol), value); }

std::string Trace::BelowScope(std::string_view symbol) const {
  const std::string& scope = book_->scopes[book_->scope].path;
  return scope.empty() ? std::string(symbol) : scope + "." + std::string(symbol);
}

// A part computed more than once, with other values, has a path for each.
std::string Trace::OwnPath(std::string path, double value) {
  std::vector<double>& values = book_->values[path];
  const auto place = std::find(values.begin(), values.end(), value) - values.begin();
  if (place == static_cast<std::ptrdiff_t>(values.size())) values.push_back(value);
  return place == 0 ? path : std::move(path) + " (" + std::to_string(place + 1) + ")";
}

// Of a figure whose terms are there.
std::string Trace::SourceOf(const FigureRecord& figure, std::string_view stated) const {
  std::string rules;
  for (const Term& term : figure.terms) {
    const auto rule = book_->assumed.find(term.origin);
    if (rule != book_->assumed.end() && rules.find(rule->second) == std::string::npos) {
      rules += (rules.empty() ? "assumed from the data sheet: " : "; ") + std::string(rule->second);
    }
  }
  if (!rules.empty()) return rules;
  return std::string(stated);
}

void Trace::RecordValues(const internal::FigureText& text, const internal::Value* value_and_terms, std::size_t terms) {
  const Note& note = text.note;
  FigureRecord figure;
  figure.symbol = text.symbol;
  // A figure recorded inside another report ("time_s" of a kernel, in "serving.decode") is not that report's own
  // figure.
  const std::string& scope = book_->scopes[book_->scope].path;
  const std::string_view question = std::string_view(scope).substr(0, scope.find('.'));
  const bool is_reported =
      !note.report.empty() && (scope.empty() || note.report.substr(0, note.report.find('.')) == question);
  figure.title = note.title;
  figure.note = note.note;
  figure.formula = WithoutBaseUnits(text.formula);
  figure.value = value_and_terms->base;
  figure.path = is_reported ? std::string(note.report) : PathInScope(figure.symbol, figure.value);
  figure.dimension = *value_and_terms->dimension;
  std::string_view names = text.terms;
  figure.terms.reserve(terms);
  for (std::size_t i = 1; i <= terms; ++i) {
    const std::string_view name = NextName(names);
    const internal::Value& term = value_and_terms[i];
    const Origin origin = OriginOfTerm(name, term).value_or(Origin{});
    figure.terms.push_back({std::string(name), term.base, *term.dimension, origin.path, origin.figure});
  }
  assert(names.empty());
  figure.source = SourceOf(figure, note.source);
  if (is_reported) book_->reported[figure.path] = book_->figures.size();
  Bind(figure.symbol, {figure.path, book_->figures.size()}, *value_and_terms);
  book_->figures.push_back(std::move(figure));
}

void Trace::RecordChoice(const internal::FigureText& text, const internal::Value* value_and_terms, std::size_t terms,
                         std::vector<Option> among, const Dimension& compared) {
  RecordValues(text, value_and_terms, terms);
  FigureRecord& choice = book_->figures.back();
  choice.kind = FigureKind::kChoice;
  choice.among = std::move(among);
  choice.compared = compared;
}

}  // namespace slipstick
