#include "core/base/trace.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <functional>
#include <utility>

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

// Outermost scopes that two have in common.
std::size_t SharedScopes(std::string_view a, std::string_view b) {
  std::size_t scopes = 0;
  for (std::size_t at = 0;; ++at) {
    const bool a_ends = at == a.size() || a[at] == '.', b_ends = at == b.size() || b[at] == '.';
    if (a_ends && b_ends && at > 0) ++scopes;
    if (at == a.size() || at == b.size() || a[at] != b[at]) return scopes;
  }
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
  for (const std::string_view unit : {" * kFlop", " * kToken", " * kS", " * kB"}) EraseEach(text, unit);
  if (text.size() == formula.size()) return text;
  for (const std::string_view one : {" * (1)", " / (1)"}) EraseEach(text, one);
  return text;
}

std::size_t HashOf(std::string_view symbol, double value) {
  return std::hash<std::string_view>()(symbol) * 31 + std::hash<double>()(value);
}

}  // namespace

std::size_t Trace::Enter(std::string_view scope) {
  const std::size_t length = scope_.size();
  if (length > 0) scope_ += '.';
  scope_ += scope;
  return length;
}

void Trace::Bind(std::string symbol, std::string origin, internal::Value value) {
  std::size_t& latest = latest_[HashOf(symbol, value.base)];
  bindings_.push_back({scope_, std::move(symbol), std::move(origin), value.base, latest});
  latest = bindings_.size();
}

// Operators name the members of the device that they run on "cluster.device. ...". A scope with another device binds the symbol
// "cluster.device", of value 0, to the path of that one.
void Trace::BindInput(std::string_view symbol, internal::Value value, std::string_view path) {
  constexpr std::string_view kDevice = "cluster.device";
  const bool is_of_device = path.size() > kDevice.size() && path.starts_with(kDevice) && path[kDevice.size()] == '.';
  const std::string own = is_of_device ? OriginOf(kDevice, internal::ValueOf(0)) : "";
  Bind(std::string(symbol), own.empty() ? std::string(path) : own + std::string(path.substr(kDevice.size())), value);
}

void Trace::BindAlias(std::string_view symbol, internal::Value value, std::string_view of) {
  std::string origin = OriginOf(of, value);
  if (!origin.empty()) Bind(std::string(symbol), std::move(origin), value);
}

void Trace::BindConstants(std::string_view table, std::string_view source, std::string_view names,
                          std::span<const internal::Value> values) {
  for (const internal::Value& value : values) {
    const std::string_view name = NextName(names);
    const std::string path = std::string(table) + "." + std::string(name);
    const std::size_t known = values_[path].size();
    Figure constant;
    constant.kind = FigureKind::kConstant;
    constant.path = OwnPath(path, value.base);
    constant.symbol = name;
    constant.title = name;
    std::replace(constant.title.begin(), constant.title.end(), '_', ' ');
    constant.source = source;
    constant.value = value.base;
    constant.dimension = *value.dimension;
    Bind(std::string(name), constant.path, value);
    if (values_[path].size() > known) figures_.push_back(std::move(constant));
  }
  assert(names.empty());
}

// The nearest scope: the most scopes in common, then an enclosing one before a sibling's, then the latest. The value only tells apart
// bindings of the same name.
std::string Trace::OriginOf(std::string_view symbol, internal::Value value) const {
  const auto found = latest_.find(HashOf(symbol, value.base));
  const Binding* nearest = nullptr;
  std::pair<std::size_t, bool> nearness;  // 1 + scopes in common, whether it encloses
  for (std::size_t place = found == latest_.end() ? 0 : found->second; place > 0; place = bindings_[place - 1].before) {
    const Binding& binding = bindings_[place - 1];
    if (binding.symbol != symbol || binding.value != value.base) continue;
    const std::size_t scopes = 1 + SharedScopes(binding.scope, scope_);
    if (scopes == 1 && !binding.scope.empty() && !scope_.empty()) continue;  // another question's
    const std::pair<std::size_t, bool> near{scopes, std::string_view(scope_).starts_with(binding.scope)};
    if (near > nearness) nearest = &binding, nearness = near;
  }
  return nearest == nullptr ? "" : nearest->origin;
}

// A part computed more than once, with other values, has a path for each.
std::string Trace::OwnPath(const std::string& path, double value) {
  std::vector<double>& values = values_[path];
  const auto place = std::find(values.begin(), values.end(), value) - values.begin();
  if (place == static_cast<std::ptrdiff_t>(values.size())) values.push_back(value);
  return place == 0 ? path : path + " (" + std::to_string(place + 1) + ")";
}

// Of a figure whose terms are there.
std::string Trace::SourceOf(const Figure& figure, std::string_view stated) const {
  std::string rules;
  for (const Term& term : figure.terms) {
    const auto rule = assumed_.find(term.origin);
    if (rule != assumed_.end() && rules.find(rule->second) == std::string::npos) {
      rules += (rules.empty() ? "assumed from the data sheet: " : "; ") + std::string(rule->second);
    }
  }
  if (!rules.empty()) return rules;
  return std::string(stated.empty() || cited_.empty() ? stated : cited_);
}

void Trace::RecordValues(const internal::FigureText& text, const internal::Value* value_and_terms, std::size_t terms) {
  const Note& note = text.note;
  Figure figure;
  figure.symbol = text.symbol;
  // A figure recorded inside another report ("time_s" of a kernel, in "serving.decode") is not that report's own figure.
  const std::string root = scope_.substr(0, scope_.find('.')) + ".";
  const bool is_reported = !note.report.empty() && (scope_.empty() || note.report.substr(0, note.report.find('.') + 1) == root);
  figure.title = note.title;
  figure.note = note.note;
  figure.formula = WithoutBaseUnits(text.formula);
  figure.value = value_and_terms->base;
  figure.path =
      is_reported ? std::string(note.report) : OwnPath(scope_.empty() ? figure.symbol : scope_ + "." + figure.symbol, figure.value);
  figure.dimension = *value_and_terms->dimension;
  std::string_view names = text.terms;
  for (std::size_t i = 1; i <= terms; ++i) {
    const std::string_view name = NextName(names);
    const internal::Value& term = value_and_terms[i];
    figure.terms.push_back({std::string(name), term.base, *term.dimension, OriginOf(name, term)});
  }
  assert(names.empty());
  figure.source = SourceOf(figure, note.source);
  Bind(figure.symbol, figure.path, *value_and_terms);
  figures_.push_back(std::move(figure));
}

void Trace::RecordChoice(const internal::FigureText& text, const internal::Value* value_and_terms, std::size_t terms,
                         std::vector<Option> among, const Dimension& compared) {
  RecordValues(text, value_and_terms, terms);
  Figure& choice = figures_.back();
  choice.kind = FigureKind::kChoice;
  choice.among = std::move(among);
  choice.compared = compared;
}

}  // namespace slipstick
