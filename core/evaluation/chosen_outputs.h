// What a tuner chose, in training and serving.
#pragma once

#include "core/base/output.h"
#include "core/search/chosen.h"

namespace slipstick {

template <>
struct Outputs<Chosen> {
  // A word that is JSON of its own, such as true, is written as it stands.
  static Json ValueOf(const Chosen& one) {
    if (one.word.empty()) return one.number;
    if (one.word == "true" || one.word == "false") return one.word == "true";
    return one.word;
  }
  static constexpr auto rows = std::tuple{
      Output("path", &Chosen::path, "Input"),
      Output("value", &ValueOf, "Chosen value"),
      Output("why", &Chosen::why, "Reason"),
  };
};

}  // namespace slipstick
