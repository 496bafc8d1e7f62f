#include "core/base/trace.h"

#include <cassert>

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

}  // namespace

Trace::Scope::Scope(Trace& trace, std::string_view name) : trace_(trace) {
  if (!trace_.on_) return;
  length_ = trace_.scope_.size();
  if (!trace_.scope_.empty()) trace_.scope_ += '.';
  trace_.scope_ += name;
}

Trace::Scope::~Scope() {
  if (trace_.on_) trace_.scope_.resize(length_);
}

void Trace::BindInput(std::string_view symbol, internal::Value value, std::string_view path) {
  bindings_.push_back({std::string(symbol), std::string(path), value.base});
}

// The latest binding of that name that also has that value: a name reused in another scope with another value is not it.
std::string Trace::OriginOf(std::string_view symbol, double value) const {
  for (std::size_t i = bindings_.size(); i-- > 0;) {
    if (bindings_[i].symbol == symbol && bindings_[i].value == value) return bindings_[i].origin;
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
  bindings_.push_back({figure.symbol, figure.path, figure.value});
  figures_.push_back(std::move(figure));
}

}  // namespace slipstick
