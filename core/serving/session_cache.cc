#include "core/serving/session_cache.h"

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
  if (capacity.node() == nullptr && contexts.turns.node() == nullptr) return found;
  // The held bytes equal the capacity, so the time makes up for what an operand adds to them.
  const double held_by_time = MeasuredShare([&](double by) { return HeldWithin(found * by, plain).base(); });
  const auto share_of = [&](auto IdleContexts::* member) {
    const double held = MeasuredShare([&](double by) {
      IdleContexts changed = plain;
      changed.*member *= by;
      return HeldWithin(found, changed).base();
    });
    return held_by_time > 0 ? -held / held_by_time : 0;
  };
  return Procedure("How long an idle context stays", found,
                   {{capacity, held_by_time > 0 ? 1 / held_by_time : 0},
                    {contexts.turns, share_of(&IdleContexts::turns)},
                    {contexts.gap, share_of(&IdleContexts::gap)},
                    {contexts.wait, share_of(&IdleContexts::wait)},
                    {contexts.returning, share_of(&IdleContexts::returning)},
                    {contexts.last, share_of(&IdleContexts::last)}},
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
