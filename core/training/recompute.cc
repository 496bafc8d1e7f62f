#include "core/training/recompute.h"

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/figure.h"

namespace slipstick {
namespace {

RecomputeChoice FullChoice(const TrainingRun& run, const std::vector<Stage>& stages) {
  RecomputeChoice choice;
  double layers = 0, leading = 0, checkpoints = 0;
  for (const Stage& stage : stages) {
    leading += stage.Leading();
    layers += stage.layers.Total();
    checkpoints += stage.checkpoints;
  }
  choice.is_leading = run.recompute_method == RecomputeMethod::kBlock;
  choice.full_share = choice.is_leading ? leading / layers : 1;
  if (!choice.is_leading) choice.per_checkpoint = layers / checkpoints;
  return choice;
}

}  // namespace

RecomputeChoice ChoiceFor(const Model& model, const TrainingRun& run, const std::vector<Stage>& stages) {
  if (run.recompute == Recompute::kFull) return FullChoice(run, stages);
  RecomputeChoice choice;
  if (run.recompute == Recompute::kSelective) {
    choice.selective.share = run.framework.compute.selective_share;
    choice.selective.framework_selection = run.framework.memory.selective_kept < 1;
    choice.selective.core = !choice.selective.framework_selection;
    choice.selective.norms = choice.selective.latents = choice.selective.core > 0 && model.mla;
  }
  return choice;
}

namespace {

double DeepestStage(const std::vector<Stage>& stages) {
  double deepest = 1;
  for (const Stage& stage : stages) deepest = max(deepest, stage.layers.Total());
  return deepest;
}

// The light choices: recompute nothing; norms and activation functions; also the up-projections from latents; also the
// attention core. Full recomputation of some layers is added to the last choice.
std::vector<RecomputeChoice> LightChoices(const MemoryTerms& terms) {
  std::vector<RecomputeChoice> choices(2);
  choices[1].selective.norms = true;
  if (terms.context.model.mla) choices.emplace_back(choices.back()).selective.latents = true;
  if (!terms.context.run.flash_attention) choices.emplace_back(choices.back()).selective.core = true;
  return choices;
}

// The name of a light choice, by the last part that it adds.
const char* NameOf(const RecomputePlan& plan) {
  if (plan.core > 0) return "these and the attention core";
  if (plan.latents > 0) return "these and the projections up from the latents";
  return plan.norms > 0 ? "norms and activation functions" : "nothing";
}

RecomputeChoice WithFullLayers(RecomputeChoice choice, double layers, double deepest) {
  choice.full_share = layers / deepest;
  return choice;
}

// The least number of layers per stage to recompute in full. Memory falls with that number, so bisection finds it.
double LeastLayers(const MemoryTerms& terms, const std::vector<Stage>& stages, Bytes budget,
                   const RecomputeChoice& light) {
  const double deepest = DeepestStage(stages);
  double low = 0, high = deepest;
  if (Fits(terms, stages, light, budget)) return low;
  if (!Fits(terms, stages, WithFullLayers(light, deepest, deepest), budget)) return high;
  while (high - low > 1) {
    const double middle = floor((low + high) / 2);
    (Fits(terms, stages, WithFullLayers(light, middle, deepest), budget) ? high : low) = middle;
  }
  return high;
}

}  // namespace

RecomputeChoice LeastRecompute(const MemoryTerms& terms, const std::vector<Stage>& stages, Bytes budget) {
  const std::vector<RecomputeChoice> light = LightChoices(terms);
  for (const RecomputeChoice& choice : light) {
    if (Fits(terms, stages, choice, budget)) return choice;
  }
  return WithFullLayers(light.back(), LeastLayers(terms, stages, budget, light.back()), DeepestStage(stages));
}

RecomputeChoice FastestRecompute(const MemoryTerms& terms, const std::vector<Stage>& stages, Bytes budget,
                                 const std::function<Seconds(const RecomputeChoice&)>& step_time) {
  const std::vector<RecomputeChoice> light = LightChoices(terms);
  const double deepest = DeepestStage(stages), least = LeastLayers(terms, stages, budget, light.back());
  RecomputeChoice fastest = WithFullLayers(light.back(), deepest, deepest);
  Seconds best = step_time(fastest);
  const auto consider = [&](const RecomputeChoice& choice) {
    const Seconds time = step_time(choice);
    if (time < best) fastest = choice, best = time;
    return time;
  };
  for (const RecomputeChoice& choice : light) {
    if (Fits(terms, stages, choice, budget)) consider(choice);
  }
  // Minimum of a convex sequence, found by bisection on its slope.
  double low = max(1.0, least), high = deepest - 1;
  while (low < high) {
    const double middle = floor((low + high) / 2);
    const bool falls = consider(WithFullLayers(light.back(), middle + 1, deepest)) <
                       consider(WithFullLayers(light.back(), middle, deepest));
    (falls ? low : high) = middle + (falls ? 1 : 0);
  }
  if (low == high) consider(WithFullLayers(light.back(), low, deepest));
  return fastest;
}

namespace {

// Alternatives by increasing recomputation: all light choices; one layer fewer and one more per stage; all layers.
struct Alternative {
  std::string name;
  RecomputeChoice choice;
};
std::vector<Alternative> AlternativesTo(const RecomputeChoice& decided, const MemoryTerms& terms,
                                        const std::vector<Stage>& stages) {
  const std::vector<RecomputeChoice> light = LightChoices(terms);
  std::vector<Alternative> alternatives;
  for (const RecomputeChoice& choice : light) alternatives.push_back({NameOf(choice.selective), choice});
  const double deepest = DeepestStage(stages), layers = std::round(decided.full_share * deepest);
  const auto number = [](double value) { return std::to_string(static_cast<int>(value)); };
  double named = 0;
  for (const double tried : {layers - 1, layers, layers + 1, deepest}) {
    if (tried <= named || tried > deepest) continue;
    alternatives.push_back(
        {number(tried) + " of " + number(deepest) + " layers", WithFullLayers(light.back(), tried, deepest)});
    named = tried;
  }
  return alternatives;
}

// Memory of the most loaded stage.
Bytes MemoryUnder(const RecomputeChoice& decided, const MemoryTerms& terms, const std::vector<Stage>& stages) {
  std::size_t fullest = 0;
  Bytes most;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Bytes total = StageMemory(terms, stages, i, decided).Total();
    if (total > most) most = total, fullest = i;
  }
  return Figure("Memory of the most loaded stage", MemoryOfMostLoaded(terms, stages, fullest, decided).Total());
}

// `compare`: the value by which an alternative was compared, if it was considered.
template <class Q>
RecomputeChoice Explain(const RecomputeChoice& decided, const MemoryTerms& terms, const std::vector<Stage>& stages,
                        Bytes budget, const std::string& compared,
                        const std::function<std::optional<Q>(const RecomputeChoice&)>& compare) {
  Alternatives<Q> among;
  std::size_t place = 0;
  for (const Alternative& one : AlternativesTo(decided, terms, stages)) {
    const std::optional<Q> value = compare(one.choice);
    if (!value) continue;
    if (one.choice == decided) place = among.size();
    among.emplace_back(one.name + ": " + compared, *value);
  }
  const auto choose = [&](std::string_view title, Ratio value, std::initializer_list<Ground> grounds) {
    return Procedure<Ratio, Q>(title, value, grounds,
                               "the least recomputation under which every stage fits; with offload the fastest", "",
                               among, place);
  };
  constexpr std::string_view kShare = "Share of the layers recomputed as a whole";
  RecomputeChoice explained = decided;
  explained.full_share = choose(kShare, decided.full_share, {InSteps(budget)});
  const Bytes total = MemoryUnder(explained, terms, stages);
  const auto by_memory = [&](std::string_view title, Ratio value) {
    return choose(title, value, {InSteps(total), InSteps(budget)});
  };
  explained.full_share = by_memory(kShare, decided.full_share);
  RecomputePlan& light = explained.selective;
  light.norms = by_memory("Whether norms and activation functions are recomputed", light.norms);
  light.latents = by_memory("Whether queries, keys and values are projected up from the latents again", light.latents);
  light.core = by_memory("Whether the attention core is recomputed", light.core);
  return explained;
}

}  // namespace

RecomputeChoice ExplainLeast(const RecomputeChoice& decided, const MemoryTerms& terms, const std::vector<Stage>& stages,
                             Bytes budget) {
  if (terms.context.tape == nullptr) return decided;
  const auto beyond = [&](const RecomputeChoice& choice) { return BeyondMemory(terms, stages, choice, budget); };
  return Explain<Bytes>(decided, terms, stages, budget, "memory missing", beyond);
}

RecomputeChoice ExplainFastest(const RecomputeChoice& decided, const MemoryTerms& terms,
                               const std::vector<Stage>& stages, Bytes budget,
                               const std::function<Seconds(const RecomputeChoice&)>& step_time) {
  if (terms.context.tape == nullptr) return decided;
  const auto time_of = [&](const RecomputeChoice& choice) {
    const bool is_considered = choice == decided || Fits(terms, stages, choice, budget);
    return is_considered ? std::optional<Seconds>(step_time(choice)) : std::nullopt;
  };
  return Explain<Seconds>(decided, terms, stages, budget, "step time", time_of);
}

}  // namespace slipstick
