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
  // The same operators, run `times` as often.
  void Repeat(double times) {
    for (int i = 0; i < size_; ++i) parts_[i].count *= times;
  }
  [[nodiscard]] Bound BoundOf() const;   // what most of the time is bound by
  [[nodiscard]] Seconds TimeOf() const;  // of all occurrences: the time of the step they make up
  [[nodiscard]] Flops FlopsOf() const;   // of all occurrences, one device
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
// sequence (more than one where drafts are checked). With `grown` tokens the step is the mean of those whose contexts go from
// context - grown/2 to context + grown/2: by Simpson's rule in attention, exact for what is linear in the context.
struct DecodePass {
  double sequences = 1, context = 1, checked = 1, grown = 0;
};
PassCost TimeOf(const DecodePass& pass, const Deployment& d, Trace& trace);

// A step that decodes and prefills at once: `prompts` chunks of `tokens` behind `cached` share the products with the tokens
// of `decode`. Of an engine that runs kernel by kernel, on one pipeline stage. No graph holds it.
struct MixedPass {
  DecodePass decode;
  double prompts = 1, tokens = 1, cached = 0;
};
Seconds TimeOf(const MixedPass& pass, const Deployment& d, Trace& trace);

// Mean over an output's decode steps, contexts from prompt to prompt + output.
inline PassCost MeanDecode(const Deployment& d, double sequences, double prompt, double output, double checked, Trace& trace) {
  return TimeOf(DecodePass{sequences, prompt + output / 2, checked, output}, d, trace);
}

}  // namespace slipstick
