#include "core/serving/session_cache.h"

#include <cmath>

#include "core/base/figure.h"

namespace slipstick {
namespace {

// Mean time for which a context is idle in the cache: the wait plus an exponential gap, cut at `stay`.
Seconds MeanIdle(Seconds stay, const IdleContexts& contexts) {
  if (stay <= contexts.wait || !(contexts.gap > Seconds())) return min(stay, contexts.wait);
  return contexts.wait + contexts.gap * (1 - exp((contexts.wait - stay) / contexts.gap));
}

IdleContexts Plain(const IdleContexts& contexts) {
  return {PlainOf(contexts.turns), PlainOf(contexts.gap), PlainOf(contexts.wait), PlainOf(contexts.returning),
          PlainOf(contexts.last)};
}

Bytes HeldWithin(Seconds stay, const IdleContexts& contexts) {
  return contexts.turns * (contexts.returning * MeanIdle(stay, contexts) + contexts.last * stay);
}

}  // namespace

Seconds StayIn(Bytes capacity, const IdleContexts& contexts) {
  const IdleContexts plain = Plain(contexts);
  double low = 0, high = kForever.base();
  for (int i = 0; i < 100 && HeldWithin(kForever, plain) > capacity; ++i) {
    const double middle = (low + high) / 2;
    (HeldWithin(Seconds::FromBase(middle), plain) > capacity ? high : low) = middle;
  }
  const Seconds found = Seconds::FromBase(high);
  // Numerical derivative with a step of 0.1 %: elasticity of the held bytes with respect to the time.
  const double step = 1.0 / 1000, grown = HeldWithin(found * (1 + step), plain) / HeldWithin(found, plain) - 1;
  const double share = grown > 0 ? step / grown : 0;
  return Procedure("How long an idle context stays", found,
                   {Ground(capacity, share), Ground(contexts.turns, -share), contexts.gap, contexts.wait,
                    contexts.returning, contexts.last},
                   "least recently used: the time in which the mean bytes of idle contexts fill the memory",
                   "Che, Tung and Wang, IEEE JSAC 2002");
}

Ratio ReturningWithin(Seconds stay, const IdleContexts& contexts) {
  const std::string_view title = "Turns that find their session's context";
  if (stay <= contexts.wait) return Figure(title, 0 * (stay / kForever), "they wait for longer than it stays");
  if (!(contexts.gap > Seconds())) return Figure(title, min(1.0, stay / contexts.wait), "they wait less than it stays");
  return Figure(title, 1 - exp((contexts.wait - stay) / contexts.gap),
                "gap and wait are shorter than it stays; the gap is exponential");
}

Bytes UsefulWithin(Seconds stay, const IdleContexts& contexts) {
  return Figure("Contexts of waiting sessions", contexts.turns * contexts.returning * MeanIdle(stay, contexts),
                "per device, Little's law");
}

SessionTokens TokensOfTurns(const Sessions& sessions, Ratio output) {
  const Ratio turns(sessions.turns), system(sessions.system_prompt), opening(sessions.opening), added(sessions.added);
  return {Figure("Mean prompt", system + opening + added * (turns + 1) / 2 + output * (turns - 1) / 2,
                 "turn k has the system prompt, the opening, k additions and the k − 1 answers before it"),
          system,
          Figure("Tokens of earlier turns in a mean prompt",
                 opening * (turns - 1) / turns + (added + output) * (turns - 1) / 2)};
}

Ratio HitRate(const SessionTokens& tokens, Ratio returning) {
  return Figure("Prefix-cache hit rate", (tokens.system + returning * tokens.earlier) / tokens.prompt,
                "share of the prompt tokens; the system prompt is always there");
}

}  // namespace slipstick
