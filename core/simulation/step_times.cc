#include "core/simulation/step_times.h"

#include <cmath>

#include "core/engine_step/step_time.h"
#include "core/serving/phase_time.h"

namespace slipstick {
namespace {

// A decode step depends only on the context of the load.
ServingLoad AtContext(const ServingLoad& load, Count context) {
  ServingLoad at = load;
  at.prompt = context;
  at.output = 1;
  return at;
}

// The largest power of two that is at most x >= 1.
int PowerBelow(double x) { return std::ilogb(max(1.0, x)); }

double PowerOfTwo(int power) { return std::ldexp(1.0, power); }

}  // namespace

StepTimes::Decodes::Decodes(const Model& model, const Cluster& cluster, const ServingLoad& at, Bytes kv_cache_budget)
    : load(at), deployment(Deploy(model, cluster, load)) {
  deployment.kv_cache_budget = kv_cache_budget;
}

StepTimes::StepTimes(const Model& model, const Cluster& cluster, const ServingLoad& load, Bytes kv_cache_budget)
    : model_(model),
      cluster_(cluster),
      load_(load),
      kv_cache_budget_(kv_cache_budget),
      deployment_(Deploy(model, cluster, load)),
      paced_(Deploy(model, cluster, load)) {
  paced_.launch.per_operation = Seconds{};
}

StepTimes::Decodes& StepTimes::DecodesAt(int power) {
  const auto place = static_cast<std::size_t>(power);
  if (decodes_.size() <= place) decodes_.resize(place + 1);
  if (decodes_[place] == nullptr) {
    const ServingLoad at = AtContext(load_, Count{1} << power);
    decodes_[place] = std::make_unique<Decodes>(model_, cluster_, at, kv_cache_budget_);
  }
  return *decodes_[place];
}

const DecodeTimes& StepTimes::DecodeAt(int power, double sequences) {
  Decodes& decodes = DecodesAt(power);
  const auto place = static_cast<std::size_t>(sequences);
  if (decodes.by_sequences.size() <= place) decodes.by_sequences.resize(place + 1);
  DecodeTimes& times = decodes.by_sequences[place];
  if (!(times.token > Seconds{})) {
    times = TimeDecode(decodes.deployment, sequences);
  }
  return times;
}

StepTimes::Prefill StepTimes::ComputePrefill(int power, const StepWork& work) {
  const Seconds prefill_step = load_.engine.overhead.prefill_step;
  const PrefillPass pass{work.prompts, work.tokens, work.cached};
  deployment_.mapping.prefilling_groups = paced_.mapping.prefilling_groups = work.prefilling_groups;
  const PassCost alone = TimeOf(pass, deployment_);
  Prefill prefill{alone.occupancy + prefill_step, alone.time + prefill_step};
  // While others decode, the host launches a prefill ahead: its launches delay only its own first token, unless the
  // engine takes turns.
  if (work.running > 0 && !TakesTurns(deployment_)) prefill.added = TimeOf(pass, paced_).occupancy + prefill_step;
  if (work.decoded <= 0 || PrefillsApart(deployment_)) return prefill;
  Decodes& decodes = DecodesAt(power);
  decodes.deployment.mapping.prefilling_groups = work.prefilling_groups;
  const MixedPass mixed{{work.decoded, PowerOfTwo(power), CheckedTokens(decodes.deployment)}, pass};
  prefill.added = max(Seconds{}, TimeOf(mixed, decodes.deployment) - DecodeAt(power, work.decoded).step.time);
  return prefill;
}

const StepTimes::Prefill& StepTimes::PrefillAt(int power, const StepWork& work) {
  const double running = min(1.0, work.running);
  const auto [entry, is_new] = prefills_.try_emplace(
      {power, work.decoded, work.prompts, work.tokens, work.cached, work.prefilling_groups, running});
  if (is_new) entry->second = ComputePrefill(power, work);
  return entry->second;
}

// Attention is linear in the tokens before a part.
StepTimes::Prefill StepTimes::PrefillOf(int power, const StepWork& work) {
  if (work.cached < 1) {
    StepWork from_start = work;
    from_start.cached = 0;
    return PrefillAt(power, from_start);
  }
  const double unit = PowerOfTwo(PowerBelow(work.cached)), part = work.cached / unit - 1;
  StepWork low = work, high = work;
  low.cached = unit;
  high.cached = 2 * unit;
  const Prefill below = PrefillAt(power, low);
  if (part <= 0) return below;
  const Prefill above = PrefillAt(power, high);
  return {below.added + part * (above.added - below.added), below.first + part * (above.first - below.first)};
}

SimulatedStep StepTimes::StepAt(int power, const StepWork& work) {
  const Seconds decode = work.decoded > 0 ? DecodeAt(power, work.decoded).token : Seconds{};
  if (work.prompts <= 0) return {decode, Seconds{}};
  const Prefill prefill = PrefillOf(power, work);
  const Seconds time = decode + prefill.added;
  return {time, max(time, prefill.first)};
}

SimulatedStep StepTimes::Of(const StepWork& work) {
  StepWork whole = work;
  whole.decoded = std::ceil(work.decoded);  // mean over attention groups, rounded up: larger groups set the time
  if (whole.decoded <= 0) return StepAt(0, whole);
  const int power = PowerBelow(whole.context);
  const double part = whole.context / PowerOfTwo(power) - 1;
  const SimulatedStep below = StepAt(power, whole);
  if (part <= 0) return below;
  const SimulatedStep above = StepAt(power + 1, whole);
  return {below.time + part * (above.time - below.time), below.first + part * (above.first - below.first)};
}

}  // namespace slipstick
