// Time of one pass of a model over its devices: layers, head, and what the engine adds; with the operators it is made of.
#pragma once

#include <array>
#include <cassert>
#include <string_view>

#include "core/base/trace.h"
#include "core/operators/kernel.h"
#include "core/serving/deployment.h"

namespace slipstick {

// An operator of a step: its time once, and how often the step runs it (in how many layers).
struct StepPart {
  std::string_view name;
  KernelTime kernel;
  double count = 1;
};

class Parts {
 public:
  void Add(std::string_view name, const KernelTime& kernel, double count) {
    if (count <= 0 || !(kernel.time > Seconds{})) return;
    assert(size_ < static_cast<int>(parts_.size()));
    parts_[size_++] = {name, kernel, count};
  }
  [[nodiscard]] const StepPart* begin() const { return parts_.data(); }
  [[nodiscard]] const StepPart* end() const { return parts_.data() + size_; }
  [[nodiscard]] Bound BoundOf() const;  // what most of the time is bound by
  [[nodiscard]] Flops FlopsOf() const;  // of all occurrences, one device
  [[nodiscard]] Bytes BytesOf() const;

 private:
  std::array<StepPart, 32> parts_{};
  int size_ = 0;
};

struct PassCost {
  Seconds time;       // as long as one pass takes, pipeline stages in turn
  Seconds occupancy;  // of it, how long the slowest stage is busy: what the next pass has to wait
  Parts parts;
};

// A prefill of `sequences` prompts of which `cached` tokens each are found in the cache, in one pass.
struct PrefillPass {
  double sequences = 1, tokens = 1, cached = 0;
};
PassCost TimeOf(const PrefillPass& pass, const Deployment& d, Trace& trace);

// A decode step of the sequences of one attention group, whose contexts hold on average `context` tokens; `checked` tokens a
// sequence (more than one where drafts are checked).
struct DecodePass {
  double sequences = 1, context = 1, checked = 1;
};
PassCost TimeOf(const DecodePass& pass, const Deployment& d, Trace& trace);

// Mean over an output's decode steps, contexts from prompt to prompt + output: by Simpson's rule, exact for what is linear
// in the context.
PassCost MeanDecode(const Deployment& d, double sequences, double prompt, double output, double checked, Trace& trace);

}  // namespace slipstick
