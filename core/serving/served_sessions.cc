#include "core/serving/served_sessions.h"

#include <algorithm>
#include <cmath>

#include "core/base/figure.h"
#include "core/serving/phase_time.h"

namespace slipstick {
namespace {

// The sessions, and the memory for their idle contexts.
struct Setting {
  Sessions sessions;
  Ratio output{}, requests{};  // requests: sessions at once, or turns per second
  SessionTokens tokens;
  Bytes returning, last;    // mean context left per turn, without the system prompt; per device
  Bytes device, host, ssd;  // memory of an attention group for running requests and idle contexts
  Bytes own;                // memory of a running request
  Ratio groups = 1;
};

// Mean contexts per turn that a session leaves: after all turns but the last, and after the last.
struct Left {
  Bytes returning, last;
};
Left ContextsLeft(const Deployment& deployment, Bytes system) {
  const Sessions& sessions = *deployment.load.sessions;
  const auto output = static_cast<double>(deployment.load.output);
  const Count turns = sessions.turns;
  Left left;
  for (Count turn = 1; turn <= turns; ++turn) {
    const double context = ContextAfter<double>(sessions, output, static_cast<double>(turn));
    const Bytes own = max(Bytes(), BudgetOfSequence(deployment, context) - system);
    (turn < turns ? left.returning : left.last) += own / static_cast<double>(turns);
  }
  return left;
}

Setting SettingOf(const Deployment& deployment, const KvCacheBudget& budget) {
  const ServingLoad& load = deployment.load;
  Setting setting;
  setting.sessions = *load.sessions;
  setting.output = load.output;
  setting.requests = load.requests_per_s.value_or(deployment.sessions);
  setting.groups = AttentionGroups(deployment);
  setting.tokens = TokensOfTurns(setting.sessions, setting.output);
  const SessionMemory memory = SessionMemoryOf(deployment, budget);
  setting.device = memory.room;
  setting.own = memory.own;
  const Left left = ContextsLeft(PlainOf(deployment), PlainOf(memory.system));
  const auto mean = [&](std::string_view title, Bytes bytes) {
    return Procedure(title, bytes,
                     {setting.own, Ratio(setting.sessions.turns), Ratio(setting.sessions.system_prompt),
                      Ratio(setting.sessions.opening), Ratio(setting.sessions.added), setting.output},
                     "KV cache of each turn's context beside the system prompt, over the turns");
  };
  setting.returning = mean("Context that a mean turn leaves for the next one", left.returning);
  setting.last = mean("Context that a mean turn leaves for nobody", left.last);
  if (!load.prefix_cache) return setting;
  setting.host = Figure("Host memory for idle contexts",
                        min(load.prefix_cache->host_capacity, deployment.device.host.memory), "per device");
  setting.ssd = load.prefix_cache->ssd_capacity;
  return setting;
}

// Share of the turns after the first that find their context, by tier.
struct Returning {
  Seconds stay;  // on the device
  Ratio device, host, ssd;
  [[nodiscard]] Ratio All() const { return device + host + ssd; }
};
// `room`: device memory left beside the running requests.
Returning ReturningTo(const Setting& setting, const IdleContexts& contexts, Bytes room) {
  Returning found;
  found.stay = StayIn(room, contexts);
  found.device = ReturningWithin(found.stay, contexts);
  Ratio within = found.device;
  const auto beyond = [&](Bytes memory) {
    const Ratio all = ReturningWithin(StayIn(memory, contexts), contexts), more = all - within;
    within = all;
    return more;
  };
  if (setting.host > Bytes()) found.host = beyond(room + setting.host);
  if (setting.ssd > Bytes()) found.ssd = beyond(room + setting.host + setting.ssd);
  return found;
}

// A damped iteration: it halves its step when it overshoots.
struct Damped {
  double value = 0, step = 1, last = 0;
  double MoveTo(double wanted) {
    const double change = wanted - value;
    step = change * last < 0 ? step / 2 : std::min(1.0, 1.2 * step);
    last = change;
    value += step * change;
    return std::abs(change);
  }
};

void SetHits(const Setting& setting, Ratio device, Ratio host, Ratio ssd, ServingLoad& load) {
  const Ratio all = device + host + ssd;
  load.prefix_hit = min(1.0, HitRate(setting.tokens, all).base());
  if (!load.prefix_cache) return;
  const double cached = (setting.tokens.system + all * setting.tokens.earlier).base();
  const auto share = [&](Ratio of) { return cached > 0 ? (of * setting.tokens.earlier).base() / cached : 0; };
  load.prefix_cache->host_share = share(host);
  load.prefix_cache->ssd_share = share(ssd);
}

}  // namespace

SettledSessions SettleSessions(const Deployment& deployment, const KvCacheBudget& budget, const ServeTurns& serve,
                               ServingLoad& load) {
  constexpr int kMostRounds = 100;
  constexpr double kSettled = 1e-6;
  const Setting setting = SettingOf(deployment, budget);
  const bool is_open = load.requests_per_s.has_value();
  const auto output = static_cast<double>(load.output);
  const double per_group = deployment.sessions / setting.groups;
  Damped device{1}, host, ssd, found_by_one{1}, others;  // found_by_one: turns of a group, the finding one included
  SettledSessions settled;
  for (int round = 0; round < kMostRounds; ++round) {
    SetHits(setting, device.value, host.value, ssd.value, load);
    settled.found = found_by_one.value * setting.groups;
    settled.others = Hertz::FromBase(others.value);
    const ServingPerformance performance = serve({settled.found, settled.others});
    settled.running = performance.in_flight / setting.groups;
    const Seconds wait = max(Seconds(), performance.ttft - performance.prefill.first);
    settled.contexts = {performance.rate / (output * kToken) / setting.groups, setting.sessions.gap, wait,
                        setting.returning, setting.last};
    const Bytes room = max(Bytes(), setting.device - settled.running * setting.own);
    const Returning found = ReturningTo(setting, settled.contexts, room);
    double change =
        std::max({device.MoveTo(found.device.base()), host.MoveTo(found.host.base()), ssd.MoveTo(found.ssd.base())});
    if (!is_open) {
      // A turn finds the turns that the other sessions have in the system (arrival theorem).
      const double busy = performance.latency / (performance.latency + setting.sessions.gap),
                   wanted = 1 + max(0.0, per_group - 1) * busy;
      change = std::max(change, found_by_one.MoveTo(wanted) / wanted);
      const double sent = settled.contexts.turns.base() * max(0.0, per_group - 1) / per_group;
      if (sent > 0) change = std::max(change, others.MoveTo(sent) / sent);
    }
    if (change < kSettled) break;
  }
  return settled;
}

ExplainedSessions ExplainSessions(const Deployment& deployment, const KvCacheBudget& budget,
                                  const SettledSessions& settled) {
  const Setting setting = SettingOf(deployment, budget);
  const Sessions& asked = setting.sessions;
  const auto at_settled_load = [&](std::string_view title, auto found) {
    return Procedure(title, found,
                     {setting.requests, asked.gap, Ratio(asked.turns), Ratio(asked.system_prompt), Ratio(asked.opening),
                      Ratio(asked.added), setting.output, setting.device, setting.own},
                     "settled: the turns that run leave memory for idle contexts, which shorten their prefills");
  };
  const IdleContexts contexts{at_settled_load("Turns per second of an attention group", settled.contexts.turns),
                              asked.gap, at_settled_load("Wait of a turn until it is admitted", settled.contexts.wait),
                              setting.returning, setting.last};
  const Ratio running = at_settled_load("Running turns of an attention group", Ratio(settled.running));
  const Bytes room = Figure("Device memory for idle contexts", max(Bytes(), setting.device - running * setting.own),
                            "what running turns leave; per device");
  const Returning found = ReturningTo(setting, contexts, room);
  ExplainedSessions explained;
  explained.turns.found = at_settled_load("Turns in the system as one of them finds them", Ratio(settled.found));
  explained.turns.arrivals = at_settled_load("Turns of other sessions at an attention group", settled.others);
  ServedSessions& served = explained.served;
  const Hertz turns = contexts.turns * setting.groups;
  const Hertz ended = Figure("Sessions per second", turns / Ratio(asked.turns));
  served.per_s = ended;
  served.waiting = Figure("Sessions between two turns", (turns - ended) * asked.gap, "Little's law");
  served.hit_rate = HitRate(setting.tokens, found.All());
  served.device_hit_rate = HitRate(setting.tokens, found.device);
  const auto tier = [&](std::string_view title, Ratio share) {
    return Figure(title, share * setting.tokens.earlier / setting.tokens.prompt);
  };
  served.host_hit_rate = tier("Hit rate in host memory", found.host);
  served.ssd_hit_rate = tier("Hit rate on SSD", found.ssd);
  served.best_hit_rate = HitRate(setting.tokens, 1);
  served.stay = found.stay;
  served.room = room;
  served.needed = UsefulWithin(kForever, contexts);
  served.output = Figure("Output tokens of a session", Ratio(asked.turns) * setting.output * (1 * kToken));
  for (int doublings = -2; doublings <= 4; ++doublings) {
    const Bytes memory = Figure("Memory for idle contexts", std::ldexp(1.0, doublings) * room,
                                "of all tiers together, as multiples of that on the device");
    served.sizes.push_back({memory, HitRate(setting.tokens, ReturningWithin(StayIn(memory, contexts), contexts))});
  }
  // The load's own inputs follow from these.
  const Ratio cached = setting.tokens.system + found.All() * setting.tokens.earlier;
  explained.hits = {served.hit_rate,
                    Figure("Share of the hits in host memory", found.host * setting.tokens.earlier / cached),
                    Figure("Share of the hits on SSD", found.ssd * setting.tokens.earlier / cached)};
  return explained;
}

Seconds ReentryTime(const Deployment& deployment, const ServingPerformance& performance) {
  const ServingLoad& load = PlainOf(deployment).load;
  const Count turns = load.sessions->turns;
  if (turns < 2) return {};
  // Later turns have longer prompts than the first, and more of these is cached.
  const auto count = static_cast<double>(turns), prompt = static_cast<double>(load.prompt),
             system = static_cast<double>(load.sessions->system_prompt),
             first = PromptOfTurn<double>(*load.sessions, 0, 1);
  const double later = (prompt * count - first) / (count - 1),
               cached = min(later - 1, (load.prefix_hit * prompt * count - system) / (count - 1));
  const Seconds own = performance.prefill.first,
                again = TimePrompt(PlainOf(deployment), 1, {later - cached, cached}).time +
                        PlainOf(deployment).engine.overhead.prefill_step;
  const Seconds prefill =
      Procedure("Prefill of a turn after the first", again, {Ground(own, 1), Ground(deployment.load.prefix_hit)},
                "a pass over what a mean one of them does not find");
  const Seconds handled = deployment.engine.overhead.per_prompt_token * (later - prompt);
  return Figure("Time to first token of turns after the first", performance.ttft - own + prefill + handled,
                "with the queue of any turn, and the handling of a longer prompt");
}

}  // namespace slipstick
