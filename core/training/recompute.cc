#include "core/training/recompute.h"

#include <vector>

namespace slipstick {
namespace {

double DeepestStage(const std::vector<Stage>& stages) {
  double deepest = 1;
  for (const Stage& stage : stages) deepest = max(deepest, stage.layers.Total());
  return deepest;
}

// None, norms and activation functions, and the attention core with them; blocks of layers go with the last.
std::vector<RecomputeChoice> LightChoices(const MemoryTerms& terms) {
  std::vector<RecomputeChoice> choices(2);
  choices[1].rest.norms = true;
  if (!terms.context.run.flash_attention) {
    choices.push_back(choices[1]);
    choices[2].rest.core = true;
  }
  return choices;
}

RecomputeChoice Repeating(RecomputeChoice choice, double layers, double deepest) {
  choice.full_share = layers / deepest;
  return choice;
}

// The least number of layers that a stage has to repeat whole, which memory falls with: by bisection.
double LeastLayers(const MemoryTerms& terms, const std::vector<Stage>& stages, Bytes capacity, const RecomputeChoice& light) {
  const double deepest = DeepestStage(stages);
  double low = 0, high = deepest;
  if (Fits(terms, stages, light, capacity)) return low;
  if (!Fits(terms, stages, Repeating(light, deepest, deepest), capacity)) return high;
  while (high - low > 1) {
    const double middle = floor((low + high) / 2);
    (Fits(terms, stages, Repeating(light, middle, deepest), capacity) ? high : low) = middle;
  }
  return high;
}

}  // namespace

RecomputeChoice LeastRecompute(const MemoryTerms& terms, const std::vector<Stage>& stages, Bytes capacity) {
  const std::vector<RecomputeChoice> light = LightChoices(terms);
  for (const RecomputeChoice& choice : light) {
    if (Fits(terms, stages, choice, capacity)) return choice;
  }
  return Repeating(light.back(), LeastLayers(terms, stages, capacity, light.back()), DeepestStage(stages));
}

RecomputeChoice FastestRecompute(const MemoryTerms& terms, const std::vector<Stage>& stages, Bytes capacity,
                                 const std::function<Seconds(const RecomputeChoice&)>& step_time) {
  const std::vector<RecomputeChoice> light = LightChoices(terms);
  const double deepest = DeepestStage(stages), least = LeastLayers(terms, stages, capacity, light.back());
  RecomputeChoice fastest = Repeating(light.back(), deepest, deepest);
  Seconds best = step_time(fastest);
  const auto consider = [&](const RecomputeChoice& choice) {
    const Seconds time = step_time(choice);
    if (time < best) fastest = choice, best = time;
    return time;
  };
  for (const RecomputeChoice& choice : light) {
    if (Fits(terms, stages, choice, capacity)) consider(choice);
  }
  // The lowest of a convex row of numbers: where it stops falling.
  double low = max(1.0, least), high = deepest - 1;
  while (low < high) {
    const double middle = floor((low + high) / 2);
    const bool falls = consider(Repeating(light.back(), middle + 1, deepest)) < consider(Repeating(light.back(), middle, deepest));
    (falls ? low : high) = middle + (falls ? 1 : 0);
  }
  if (low == high) consider(Repeating(light.back(), low, deepest));
  return fastest;
}

}  // namespace slipstick
