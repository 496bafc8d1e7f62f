#include "core/training/recompute.h"

#include <vector>

namespace slipstick {
namespace {

double DeepestStage(const std::vector<Stage>& stages) {
  double deepest = 1;
  for (const Stage& stage : stages) deepest = max(deepest, stage.layers.Total());
  return deepest;
}

// Nothing; norms and activation functions; the attention core too. Full recomputation of some layers is added to the last one.
std::vector<RecomputeChoice> LightChoices(const MemoryTerms& terms) {
  std::vector<RecomputeChoice> choices(2);
  choices[1].selective.norms = true;
  if (!terms.context.run.flash_attention) {
    choices.push_back(choices[1]);
    choices[2].selective.core = true;
  }
  return choices;
}

RecomputeChoice WithFullLayers(RecomputeChoice choice, double layers, double deepest) {
  choice.full_share = layers / deepest;
  return choice;
}

// The least number of layers per stage to recompute in full. Memory falls with it, so bisection finds it.
double LeastLayers(const MemoryTerms& terms, const std::vector<Stage>& stages, Bytes capacity, const RecomputeChoice& light) {
  const double deepest = DeepestStage(stages);
  double low = 0, high = deepest;
  if (Fits(terms, stages, light, capacity)) return low;
  if (!Fits(terms, stages, WithFullLayers(light, deepest, deepest), capacity)) return high;
  while (high - low > 1) {
    const double middle = floor((low + high) / 2);
    (Fits(terms, stages, WithFullLayers(light, middle, deepest), capacity) ? high : low) = middle;
  }
  return high;
}

}  // namespace

RecomputeChoice LeastRecompute(const MemoryTerms& terms, const std::vector<Stage>& stages, Bytes capacity) {
  const std::vector<RecomputeChoice> light = LightChoices(terms);
  for (const RecomputeChoice& choice : light) {
    if (Fits(terms, stages, choice, capacity)) return choice;
  }
  return WithFullLayers(light.back(), LeastLayers(terms, stages, capacity, light.back()), DeepestStage(stages));
}

RecomputeChoice FastestRecompute(const MemoryTerms& terms, const std::vector<Stage>& stages, Bytes capacity,
                                 const std::function<Seconds(const RecomputeChoice&)>& step_time) {
  const std::vector<RecomputeChoice> light = LightChoices(terms);
  const double deepest = DeepestStage(stages), least = LeastLayers(terms, stages, capacity, light.back());
  RecomputeChoice fastest = WithFullLayers(light.back(), deepest, deepest);
  Seconds best = step_time(fastest);
  const auto consider = [&](const RecomputeChoice& choice) {
    const Seconds time = step_time(choice);
    if (time < best) fastest = choice, best = time;
    return time;
  };
  for (const RecomputeChoice& choice : light) {
    if (Fits(terms, stages, choice, capacity)) consider(choice);
  }
  // Minimum of a convex sequence, by bisection on its slope.
  double low = max(1.0, least), high = deepest - 1;
  while (low < high) {
    const double middle = floor((low + high) / 2);
    const bool falls =
        consider(WithFullLayers(light.back(), middle + 1, deepest)) < consider(WithFullLayers(light.back(), middle, deepest));
    (falls ? low : high) = middle + (falls ? 1 : 0);
  }
  if (low == high) consider(WithFullLayers(light.back(), low, deepest));
  return fastest;
}

}  // namespace slipstick
