// A queue with gated service (Takagi, Queueing Analysis 1, 1991), whose server takes all waiting requests at once
// (Inoue, Performance Evaluation 147, 2021). A step decodes for d and prefills what arrived in an earlier step: with
// prefills S at a rate L, r = L E[S],
//
//   E[T] = d + r E[T] = d / (1 - r)                        a mean step
//   E[T^2] / E[T] = E[T] + L E[S^2] / (1 - r^2)            the step that an arrival finds: long ones more often
//
// The arrival waits for half of that step, and for the steps launched ahead. Its own step also holds the other arrivals
// of the same step. Arrivals during its own step lengthen the following steps: by r of it, r^2, and so on. An engine
// that prefills before it decodes decodes only in steps without prompts (first_passes.h); other steps then do not
// include d.
//
// While a prompt is prefilled, others arrive, and while these are prefilled, others again. Counted in decode steps,
// requests therefore begin in bunches, whose size K follows Borel's distribution if prefills are alike. A request that
// begins finds the mean number of running requests, and is part of a bunch of
//
//   E[K^2] / E[K] = 1 / (1 - r)^2
//
// including itself. As all outputs have the same length, the whole bunch decodes beside it to the end: its own steps
// hold that many more sequences, and their prompts.
#include "core/serving/random_arrivals.h"

#include <vector>

#include "core/base/figure.h"
#include "core/engine_step/step_time.h"
#include "core/serving/first_passes.h"
#include "core/serving/phase_time.h"
#include "core/serving/prefix_cache.h"

namespace slipstick {
namespace {

constexpr std::string_view kGatedSource =
    "gated service: Takagi, Queueing Analysis 1, 1991; all that wait at once: Inoue, Performance Evaluation 147, 2021";

bool PrefillsFirst(const Deployment& deployment) { return deployment.engine.scheduler.prefills_first; }

struct PromptClass {
  Ratio share = 1;
  PromptTokens prompt;
};

// Classes: first turns; later turns that find their context, of mean length; later turns that do not, half of them one
// standard deviation above the mean length, half below: mean and variance of the prefilled tokens are exact.
std::vector<PromptClass> TurnsOf(const ServingLoad& load) {
  const Sessions& sessions = *load.sessions;
  const Ratio turns(sessions.turns), opening(sessions.opening), added(sessions.added), system(sessions.system_prompt);
  const PromptClass first{1 / turns, {opening + added, system}};
  if (sessions.turns == 1) return {first};
  const Ratio later = 1 - first.share, each = added + Ratio(load.output);
  const Ratio earlier =
      Figure("Mean context of a later turn", opening + each * turns / 2, "what was said in the session before");
  const Ratio apart = sessions.turns == 2
                          ? Ratio(0)
                          : Figure("Standard deviation of a context", each * sqrt(turns * (turns - 2) / 12),
                                   "each later turn as often as any other");
  const Ratio prefilled = (1 - load.prefix_hit) * Ratio(load.prompt) - added - first.share * opening;
  const Ratio lost = Figure("Turns that do not find their session's context", min(later, max(0.0, prefilled) / earlier),
                            "tokens prefilled beside openings and additions, over all that was said before");
  return {first,
          {later - lost, {added, system + earlier}},
          {lost / 2, {added + earlier - apart, system}},
          {lost / 2, {added + earlier + apart, system}}};
}

// Prompts of a step: the most that it takes, and the mean over steps with prompts.
struct PromptsOfStep {
  Ratio most, mean;
};

// Time that a prompt adds to its steps.
Seconds AddedBy(const Deployment& deployment, Ratio running, const DecodeTimes& decode, const PromptsOfStep& together,
                const PromptTokens& prompt) {
  const Ratio chunks = ChunksOf(deployment, prompt.tokens), prompts = chunks > 1 ? Ratio(1) : together.mean,
              most = chunks > 1 ? Ratio(1) : together.most;
  if (PrefillsFirst(deployment)) {
    const Seconds pass = MeanPass(deployment, prompts, most, prompt);
    return Figure("Prefill of a prompt", pass / prompts, "in a mean pass");
  }
  if (PrefillsApart(deployment)) return PrefillApart(deployment, prompts, prompt);
  const PromptTokens chunk = MeanChunk(prompt, chunks);
  MixedPass pass{DecodePassOf(deployment, running), {prompts, chunk.tokens, chunk.cached}};
  const auto step_of = [&](double whole) {
    pass.prompts.sequences = whole;
    return TimeOf(pass, deployment);
  };
  const Seconds step = MeanOver(step_of, prompts, most);
  const Seconds load = LoadPrefixes(deployment, prompts, prompt.cached, step).stalls;
  return Figure("Prefill of a prompt in steps that decode too",
                (chunks * max(step - decode.step.time, Seconds{}) + load) / prompts,
                "what these take longer than a decode step");
}

struct StepLengths {
  Ratio occupied = 0;  // share of the time spent in steps that prefill
  Seconds mean, seen;  // seen: mean over the arrivals
};
StepLengths StepsOf(const Deployment& deployment, Hertz arrivals, Seconds decode, const ArrivingPrompts& prompts) {
  StepLengths steps;
  const Ratio occupied = steps.occupied =
      Figure("Share of the time for prefills", min(kMostOccupied, arrivals * prompts.service),
             "with the decoding in between; below 1: the queue would never end");
  const Seconds uneven =
      Figure("What random prefills add to the step that an arrival falls into",
             arrivals * prompts.square_service / (1 - occupied * occupied), "the longer the likelier", kGatedSource);
  constexpr std::string_view kMean = "Mean step", kSeen = "Step that an arrival falls into";
  if (PrefillsFirst(deployment)) {
    const Ratio quiet = Figure("No arrival in a prefill", exp(-arrivals * prompts.pass), "Poisson");
    const Ratio decoding = Figure("Steps that decode", quiet / (1 - exp(-arrivals * decode) + quiet),
                                  "no request arrived during an earlier step");
    steps.mean = Figure(kMean, decoding * decode / (1 - occupied), "", kGatedSource);
    steps.seen = Figure(kSeen, decode / (1 + occupied) + uneven, "mean square over mean", kGatedSource);
  } else {
    steps.mean = Figure(kMean, decode / (1 - occupied), "decoding, and the prefills that arrived in an earlier one");
    steps.seen = Figure(kSeen, steps.mean + uneven, "mean square over mean", kGatedSource);
  }
  return steps;
}

// Prefixes are loaded one after another, and each load takes the same time.
Seconds WaitForLink(const RandomArrivals& arrivals, const ArrivingPrompts& prompts) {
  if (!(prompts.load > Seconds{})) return {};
  const Ratio occupied = Figure("Share of the time for loads of prefixes",
                                min(kMostOccupied, arrivals.rate * prompts.load), "over the host link");
  return Figure("Waiting for others' loads of a prefix", prompts.load * occupied / (2 * (1 - occupied)),
                "a queue of equal services: Pollaczek and Khinchine");
}

// In steady state, as many requests arrive between two decode steps as end there.
PromptsOfStep TogetherIn(const Deployment& deployment, Ratio running, const DecodeTimes& decode, Ratio filling,
                         const PromptTokens& prompt) {
  const Ratio most = max(1.0, filling), ending = running / DecodeSteps(deployment);
  if (PrefillsFirst(deployment)) {
    const Ratio whole = floor(most);  // the rest of a prompt needs another pass
    return {whole, PromptsOfPass(deployment, WholeStep(deployment, decode), ending, whole, prompt)};
  }
  return {most, Figure("Prompts of a step that holds any", min(most, ending / (1 - exp(-ending))),
                       "as many arrive as end, Poisson; no more than a step takes")};
}

}  // namespace

ArrivingPrompts ArrivingAt(const Deployment& deployment, Ratio running, const DecodeTimes& decode) {
  const ServingLoad& load = deployment.load;
  const PromptTokens mean = ComputedTokens(load);
  const std::vector<PromptClass> classes = load.sessions ? TurnsOf(load) : std::vector<PromptClass>{{1, mean}};
  const Ratio filling = FillStep(deployment, mean.tokens);
  const PromptsOfStep together = TogetherIn(deployment, running, decode, filling, mean);
  ArrivingPrompts prompts;
  for (const auto& [share, prompt] : classes) {
    if (!(share > 0)) continue;
    const Seconds added = AddedBy(deployment, running, decode, together, prompt);
    const Seconds between =
        PrefillsFirst(deployment) ? Seconds{} : (ChunksOf(deployment, prompt.tokens) - 1) * decode.token;
    prompts.added += share * added;
    prompts.single += share * AddedBy(deployment, running, decode, {1, 1}, prompt);
    prompts.service += share * (added + between);
    prompts.square_service += share * (added + between) * (added + between);
  }
  prompts.added = Figure("Mean prefill", prompts.added, "of all prompts, what it adds to the steps that hold it");
  prompts.single =
      Figure("Mean prefill by itself", prompts.single, "of all prompts, what it adds to a step of its own");
  prompts.service = Figure("Mean prefill with the decoding in between", prompts.service);
  prompts.square_service = Figure("Mean square of a prefill", prompts.square_service, "with the decoding in between");
  prompts.pass = Figure("Prefills of a step that holds any", together.mean * prompts.added);
  prompts.beside = Figure("Other prefills of a full step", max(0, filling - 1) * prompts.added);
  if (deployment.engine.scheduler.loads_apart) prompts.load = LoadPrefixes(deployment, 1, mean.cached, Seconds{}).time;
  return prompts;
}

Ratio OwnSequences(const Deployment& deployment, const RandomArrivals& all, Ratio slots, const DecodeTimes& decode,
                   const ArrivingPrompts& prompts) {
  const Ratio ending = Figure("Requests that end with a token", all.found / Ratio(deployment.load.output));
  const Hertz rate = Figure("Arrivals while so many run",
                            min(all.rate, ending / (decode.token + ending * prompts.added)), "no more than end");
  const Ratio occupied = Figure("Share of the time in which prompts are prefilled",
                                min(kMostOccupied, rate * prompts.added), "others come in it");
  const Ratio bunch = Figure("Requests that begin to decode together", 1 / ((1 - occupied) * (1 - occupied)),
                             "mean square over mean of Borel's distribution: those that come during a prefill, and "
                             "during theirs");
  return Figure("Sequences of a request's own steps", min(slots, all.found + bunch),
                "those that it finds, and those that begin with it");
}

RequestCycle RandomCycle(const Deployment& deployment, const RandomArrivals& arrivals, const DecodeTimes& decode,
                         Seconds prefill, const ArrivingPrompts& prompts, std::optional<Seconds> service) {
  const Ratio output(deployment.load.output), random = 1 - arrivals.waiting;
  const StepLengths steps = StepsOf(deployment, arrivals.rate, decode.token, prompts);
  const Ratio ahead = ResidualSteps(deployment, 1).wait - 0.5;
  const Ratio busy = Figure("Requests that find others", 1 - exp(-arrivals.found), "their number is Poisson");
  const Seconds computed = prompts.load > Seconds{} ? prefill - prompts.load : prefill;
  RequestCycle cycle;
  cycle.handling = Figure("Request handling and the steps in progress",
                          TimeRequest(deployment) + random * busy * (steps.seen / 2 + ahead * steps.mean),
                          "half of the one in progress, and those launched ahead; none after waiting for a slot");
  cycle.alone = Figure("Time to first token without other prefills",
                       cycle.handling + WaitForLink(arrivals, prompts) + prefill, "with this prefill by itself");
  const Seconds came = steps.occupied * steps.seen;
  const Seconds gathered = Figure("Prefills that came with its own", came / 2 + min(came, prompts.beside) / 2,
                                  "before it in the step in progress, and after it, as far as its own step takes them");
  const Seconds admitted =
      Figure("Prefills admitted with its own", arrivals.found / DecodeSteps(deployment) * prompts.service,
             "after waiting for a slot: as many as requests end in a step");
  const Seconds own = Figure(
      "Step with its own prefill",
      max(computed,
          (PrefillsFirst(deployment) ? Seconds{} : decode.token) +
              max(prompts.single, service.value_or(prompts.service) + random * gathered + arrivals.waiting * admitted)),
      "decoding and all prefills in it, which take no less than its own by itself");
  cycle.prefill_wait =
      Figure("Waiting for others' prefills", busy * (own - computed), "and for decoding, in its own step");
  const Seconds excess = max(Seconds{}, computed + cycle.prefill_wait - steps.mean);
  const Seconds after =
      Figure("Prefills that came in its own step",
             random * excess * steps.occupied * (1 - pow(steps.occupied, output - 1)) / (1 - steps.occupied),
             "beyond a mean step: they lengthen the steps after it", kGatedSource);
  const Seconds at_random = decode.token / (1 - min(kMostOccupied, arrivals.rate * prompts.added)),
                in_turn = decode.token + arrivals.found * prompts.added / output;
  cycle.tpot = Figure("Decode step with the prefills in between",
                      random * at_random + arrivals.waiting * in_turn + after / max(1.0, output - 1),
                      "at the rate of arrivals; for requests that waited, one as each other request ends");
  cycle.time = Figure("From its slot to the last token", cycle.alone + cycle.prefill_wait + (output - 1) * cycle.tpot);
  return cycle;
}

}  // namespace slipstick
