// Names for computed numbers: a figure has its own line in an explanation.
//
//   const Seconds wait = Figure("Wait for launches", norm(device_time, launch_time, 4) - device_time,
//                               "kernels and their launches overlap; the fourth norm says how far");
//
// The formula's text, its terms, their origins and their shares follow from the recorded operations (provenance.h).
// Numbers without nodes pass through unchanged. Texts are copied.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/quantity.h"

namespace slipstick {

template <int... E>
[[gnu::always_inline]] inline Quantity<E...> Figure(std::string_view title, Quantity<E...> result,
                                                    std::string_view note = "", std::string_view source = "") {
  if (result.node() == nullptr) [[likely]]
    return result;
  const Node* named = internal::Named(result.node(), title.data(), title.size(), note.data(), note.size(),
                                      source.data(), source.size(), result.kDimension);
  return Quantity<E...>::FromBase(result.base(), named);
}

// The number without its node, for the inside of a search or a simulation.
template <int... E>
Quantity<E...> PlainOf(Quantity<E...> number) {
  return Quantity<E...>::FromBase(number.base());
}

// Shows `formula` in explanations, with a value that was computed in a way that rounds less.
template <int... E>
Quantity<E...> Exactly(double value, Quantity<E...> formula) {
  if (formula.node() == nullptr) [[likely]]
    return Quantity<E...>::FromBase(value);
  Node exact = *formula.node();
  exact.value = value;
  return Quantity<E...>::FromBase(value, formula.node()->tape->Add(std::move(exact)));
}

// Records the option at index `chosen` as the result of comparing all options.
template <class Q>
Q Choose(std::string_view title, const std::vector<std::pair<std::string, Q>>& options, std::size_t chosen,
         std::string_view note = "") {
  if (std::none_of(options.begin(), options.end(), [](const auto& one) { return one.second.node() != nullptr; }))
    return options[chosen].second;
  const double value = options[chosen].second.base();
  Label label;
  label.title = title;
  label.note = note;
  label.dimension = label.compared_in = Q::kDimension;
  label.chosen = chosen;
  std::vector<Operand> operands;
  for (const auto& [name, option] : options) {
    label.options.push_back(name);
    label.compared.push_back(option.base());
    operands.push_back(option.operand());
  }
  return Q::FromBase(value, internal::Found(Op::kChoice, value, std::move(operands), std::move(label)));
}

// An operand of a procedure. `share`: change of the procedure's result in per cent when the operand changes by 1 %.
struct Ground {
  constexpr Ground(Operand on, double moves_by = kUnknownShare) : operand(on), share(moves_by) {}  // NOLINT
  template <int... E>
  constexpr Ground(Quantity<E...> on, double moves_by = kUnknownShare) : Ground(on.operand(), moves_by) {}  // NOLINT
  Operand operand;
  double share;
};

// An operand that moves the result in steps only: a count or a choice is the same after a small change.
template <class Q>
constexpr Ground InSteps(Q on) {
  return Ground(on, 0);
}

// The share of an operand, measured: `at` gives the result for the operand times a factor. Where the result moves in
// steps, `nudge` must span several of them.
template <class At>
double MeasuredShare(const At& at, double nudge = 1.0 / 1000) {
  const double below = at(1 - nudge), above = at(1 + nudge);
  return below > 0 && above > 0 ? std::log(above / below) / std::log((1 + nudge) / (1 - nudge)) : kUnknownShare;
}

// Alternatives, each with the number by which it was compared.
template <class Q>
using Alternatives = std::vector<std::pair<std::string, Q>>;

// The result of a simulation or a search, and the numbers that it rests on; inside the procedure numbers have no nodes.
// `among`: the alternatives, if the procedure chose between some.
template <class Q, class Compared = Q>
Q Procedure(std::string_view title, Q found, std::span<const Ground> rests_on, std::string_view note = "",
            std::string_view source = "", const Alternatives<Compared>& among = {}, std::size_t chosen = 0) {
  if (std::none_of(rests_on.begin(), rests_on.end(), [](const Ground& one) { return one.operand.node != nullptr; }))
    return found;
  Label label;
  std::vector<Operand> operands;
  for (const Ground& ground : rests_on) {
    operands.push_back(ground.operand);
    label.shares.push_back(ground.share);
  }
  label.title = title;
  label.note = note;
  label.source = source;
  label.dimension = Q::kDimension;
  label.compared_in = Compared::kDimension;
  label.chosen = chosen;
  for (const auto& [name, option] : among) {
    label.options.push_back(name);
    label.compared.push_back(option.base());
  }
  return Q::FromBase(found.base(),
                     internal::Found(Op::kProcedure, found.base(), std::move(operands), std::move(label)));
}
template <class Q, class Compared = Q>
Q Procedure(std::string_view title, Q found, std::initializer_list<Ground> rests_on, std::string_view note = "",
            std::string_view source = "", const Alternatives<Compared>& among = {}, std::size_t chosen = 0) {
  return Procedure<Q, Compared>(title, found, std::span<const Ground>(rests_on), note, source, among, chosen);
}

}  // namespace slipstick
