#include "core/base/trace.h"

#include <cassert>
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

void Trace::Bind(std::string symbol, std::string origin, double value) {
  std::size_t& latest = latest_[HashOf(symbol, value)];
  bindings_.push_back({std::move(symbol), std::move(origin), value, latest});
  latest = bindings_.size();
}

void Trace::BindInput(std::string_view symbol, internal::Value value, std::string_view path) {
  Bind(std::string(symbol), std::string(path), value.base);
}

// The latest binding of that name that also has that value: a name reused in another scope with another value is not it.
std::string Trace::OriginOf(std::string_view symbol, double value) const {
  const auto found = latest_.find(HashOf(symbol, value));
  for (std::size_t place = found == latest_.end() ? 0 : found->second; place > 0; place = bindings_[place - 1].before) {
    const Binding& binding = bindings_[place - 1];
    if (binding.symbol == symbol && binding.value == value) return binding.origin;
  }
  return "";
}

void Trace::RecordValues(const internal::FigureText& text, const internal::Value* value_and_terms, std::size_t terms) {
  const Note& note = text.note;
  Figure figure;
  figure.symbol = text.symbol;
  // A part that is used inside another report ("time_s" of a kernel, in "serving.decode") is not that report's own figure.
  const std::string root = scope_.substr(0, scope_.find('.')) + ".";
  const bool is_reported = !note.report.empty() && (scope_.empty() || note.report.substr(0, note.report.find('.') + 1) == root);
  figure.path = is_reported ? std::string(note.report) : scope_.empty() ? figure.symbol : scope_ + "." + figure.symbol;
  figure.title = note.title;
  figure.note = note.note;
  figure.source = note.source;
  figure.formula = text.formula;
  figure.value = value_and_terms->base;
  figure.dimension = *value_and_terms->dimension;
  std::string_view names = text.terms;
  for (std::size_t i = 1; i <= terms; ++i) {
    const std::string_view name = NextName(names);
    const internal::Value& term = value_and_terms[i];
    figure.terms.push_back({std::string(name), term.base, *term.dimension, OriginOf(name, term.base)});
  }
  assert(names.empty());
  Bind(figure.symbol, figure.path, figure.value);
  figures_.push_back(std::move(figure));
}

}  // namespace slipstick
