#include "core/replay/replay_job.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/output.h"
#include "core/base/units.h"
#include "core/evaluation/simulation_outputs.h"
#include "core/replay/read_trace.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "core/search/serving_space.h"
#include "core/sizing/fleet.h"
#include "core/sizing/sizing_json.h"

namespace slipstick {

template <>
struct Outputs<TraceLengths> {
  using L = TraceLengths;
  static constexpr auto rows = std::tuple{
      Output("mean", &L::mean, "Mean").In("count"),          Output("p50", &L::p50, "Median").In("count"),
      Output("p90", &L::p90, "90th percentile").In("count"), Output("p99", &L::p99, "99th percentile").In("count"),
      Output("longest", &L::longest, "Longest").In("count"),
  };
};

template <>
struct Outputs<TraceSummary> {
  using S = TraceSummary;
  static constexpr auto rows = std::tuple{
      Output("requests", &S::requests, "Requests").In("count"),
      Output("sessions", &S::sessions, "Sessions").In("count"),
      Output("span_s", &S::span, "From the first arrival to the last"),
      Output("requests_per_s", &S::requests_per_s, "Mean arrival rate").In("/s"),
      Output("prompt", &S::prompt, "Prompt tokens"),
      Output("output", &S::output, "Output tokens"),
      Output("prompt_tokens_per_s", &S::prompt_tokens_per_s, "Prompt tokens that arrive").In("/s"),
      Output("output_tokens_per_s", &S::output_tokens_per_s, "Output tokens wanted").In("/s"),
      Output("block", &S::block, "Tokens per block of hash_ids").In("count"),
      Output("best_hit_rate", &S::best_hit_rate, "Prefix-cache hit rate with unlimited memory").In("%"),
  };
};

template <>
struct Outputs<TraceMoment> {
  using M = TraceMoment;
  static constexpr auto rows = std::tuple{
      Output("from_s", &M::from, "From"),
      Output("arrivals_per_s", &M::arrivals_per_s, "Arrivals").In("/s"),
      Output("waiting", &M::waiting, "Requests waiting"),
      Output("running", &M::running, "Requests running"),
  };
};

template <>
struct Outputs<PlayedTrace> {
  using P = PlayedTrace;
  using S = SimulatedServing;
  static constexpr auto rows = std::tuple{
      Output("ttft_s", &P::served, &S::ttft, "Time to first token (TTFT), mean"),
      Output("tpot_s", &P::served, &S::tpot, "Time per output token (TPOT), mean"),
      Output("request_latency_s", &P::served, &S::request_latency, "End-to-end latency, mean"),
      Output("ttft_percentiles_s", &P::served, &S::ttft_percentiles, "Time to first token (TTFT)"),
      Output("tpot_percentiles_s", &P::served, &S::tpot_percentiles, "Time per output token (TPOT)"),
      Output("latency_percentiles_s", &P::served, &S::latency_percentiles, "End-to-end latency"),
      Output("requests_per_s", &P::served, &S::requests_per_s, "Request throughput").In("/s"),
      Output("tokens_per_s", &P::served, &S::tokens_per_s, "Throughput (tokens/s)"),
      Output("requests_in_flight", &P::served, &S::requests_in_flight, "Requests in flight, mean"),
      Output("requests_waiting", &P::served, &S::requests_waiting, "Requests waiting, mean"),
      Output("in_system", &P::in_system, "Requests in the system, mean over time"),
      Output("duration_s", &P::duration, "Until the last request is done"),
      Output("hit_rate", &P::hit_rate, "Prefix-cache hit rate").In("%"),
      Output("kv_cache_room_bytes", &P::kv_cache_room, "Room for the KV cache, per device"),
      Output("kv_cache_peak_bytes", &P::kv_cache_peak, "Peak KV cache of running requests, per device"),
      Output("requests", &P::served, &S::requests, "Requests played").In("count"),
      Output("too_long", &P::too_long, "Requests longer than the KV cache").In("count"),
      Output("preemptions", &P::served, &S::preemptions, "Preemptions").In("count"),
      Output("steps", &P::served, &S::steps, "Steps").In("count"),
      Output("moments", &P::queue, &TraceQueue::moments, "The queue over time"),
  };
};

namespace {

constexpr Count kMostReplicas = 1024;

// Replaces the scenario's lengths and load by the trace's.
Json RequestOf(const Json& request, const TraceSummary& summary, const std::optional<Count>& most_at_once) {
  Json overrides = ObjectOf({{"training", nullptr},
                             {"post_training", nullptr},
                             {"diffusion", nullptr},
                             {"serving.prompt", std::llround(summary.prompt.mean)},
                             {"serving.output", std::llround(summary.output.mean)},
                             {"serving.prefix_hit", 0},
                             {"serving.requests_per_s", nullptr},
                             {"serving.concurrency", nullptr}});
  for (const char* none : {"idle_sessions", "sessions", "waves", "simulate", "arrivals", "lengths"})
    overrides["serving." + std::string(none)] = nullptr;
  if (summary.requests_per_s > 0) {
    overrides["serving.requests_per_s"] = summary.requests_per_s;
  } else {
    overrides["serving.concurrency"] = std::min(summary.requests, most_at_once.value_or(summary.requests));
  }
  return WithOverrides(request, overrides);
}

// The number of requests that may miss a target.
Count MostMisses(Percentile percentile, Count requests) {
  const std::size_t of_100 = percentile == Percentile::k50 ? 50 : percentile == Percentile::k90 ? 90 : 99;
  return requests - static_cast<Count>(NearestRank(static_cast<std::size_t>(requests), of_100));
}

std::string_view WhyHeldBack(HeldBack bound) {
  switch (bound) {
    case HeldBack::kMemory:
      return "the KV cache is full";
    case HeldBack::kSequences:
      return "the engine runs no more requests at once";
    case HeldBack::kStepTokens:
      return "steps are full of prompts: prefill is the limit";
  }
  return "";
}

// As the warning about a scenario's request says (scenario/request_warnings.h).
void NoteContext(const Model& model, RequestTrace& trace) {
  const auto longer = std::count_if(trace.requests.begin(), trace.requests.end(),
                                    [&](const TracedRequest& one) { return one.prompt + one.output > model.context; });
  if (model.context <= 0 || longer == 0) return;
  trace.notes.push_back(std::to_string(longer) + " of " + std::to_string(trace.requests.size()) +
                        " requests are longer than the context of " + model.name + ", " +
                        GroupedText(static_cast<double>(model.context)) +
                        " tokens: memory and time are those of a model whose positions are extended");
}

Result<Scenario> ScenarioFor(const Json& request, const RequestTrace& trace) {
  if (!IsSet(request, "serving"))
    return Issues{{"serving", "Required: this part is switched off", {Fix{{"serving", "{}"}}}}};
  Result<Scenario> scenario = ParseScenario(RequestOf(request, SummaryOf(trace), trace.most_at_once));
  if (scenario && scenario->serving->disaggregated)
    return Issues{{"serving.disaggregated",
                   "Leave out: separate pools are not simulated",
                   {Fix{{"serving.disaggregated", "null"}}}}};
  return scenario;
}

}  // namespace

ReplayJob::ReplayJob(ReplayQuestion question, RequestTrace trace, Scenario scenario)
    : question_(question),
      trace_(std::move(trace)),
      summary_(SummaryOf(trace_)),
      scenario_(std::move(scenario)),
      devices_per_replica_(DevicesPerReplica(scenario_.serving->mapping)),
      own_(scenario_.serving->devices.value_or(scenario_.cluster.devices) / devices_per_replica_),
      most_(std::max(own_, std::min(kMostReplicas, summary_.requests))) {}

Result<std::shared_ptr<ReplayJob>> ReplayJob::Make(const Json& request, const Json& question_json,
                                                   std::string_view text) {
  Result<ReplayQuestion> question = ReadReplayQuestion(question_json);
  if (!question) return std::move(question.issues);
  Result<RequestTrace> trace = ReadTrace(text);
  if (!trace) return std::move(trace.issues);
  SetArrivals(*trace, *question);
  Result<Scenario> scenario = ScenarioFor(request, *trace);
  if (!scenario) return std::move(scenario.issues);
  NoteContext(scenario->model, *trace);
  std::shared_ptr<ReplayJob> job(new ReplayJob(*question, std::move(*trace), std::move(*scenario)));
  job->Play(job->own_, false);
  if (job->run_->playable() == 0)
    return Issues{{"serving", "No request of the trace fits in the KV cache of a replica"}};
  return job;
}

void ReplayJob::Play(Count replicas, bool may_end_early) {
  run_.reset();
  playing_ = replicas;
  load_ = *scenario_.serving;
  load_.mapping.replicas = replicas;
  load_.devices = replicas * devices_per_replica_;
  cluster_ = scenario_.cluster;
  cluster_.devices = std::max<Count>(cluster_.devices, replicas * devices_per_replica_);
  run_.emplace(scenario_.model, cluster_, load_, trace_);
  if (may_end_early && question_.percentile != Percentile::kMean && (question_.ttft || question_.tpot))
    run_->EndBeyond({question_.ttft, question_.tpot, MostMisses(question_.percentile, run_->playable())});
}

bool ReplayJob::Holds(const PlayedTrace& played) const {
  if (played.too_long > 0) return false;  // nobody answers these
  const auto meets = [&](const std::optional<Seconds>& target, const Percentiles& of, Seconds mean) {
    return !target || !(At(question_.percentile, of, mean) > *target);
  };
  const SimulatedServing& served = played.served;
  const bool grows = played.queue.grows_from && summary_.requests_per_s > 0;  // all at once, the queue only shrinks
  return !grows && meets(question_.ttft, served.ttft_percentiles, served.ttft) &&
         meets(question_.tpot, served.tpot_percentiles, served.tpot);
}

// Keeps the result of a run and begins the next one: twice as many replicas until some number holds, then bisection.
void ReplayJob::EndRun() {
  std::optional<PlayedTrace> played;
  if (!run_->has_failed()) played = run_->Result();
  if (!played_ && played) played_ = played;
  if (played && Holds(*played)) {
    holds_ = playing_;
    fewest_ = std::move(played);
  } else {
    fails_ = std::max(fails_, playing_);
  }
  run_.reset();
  if (!played_ || played_->too_long > 0 || !SeeksReplicas()) return;
  const Count next = holds_ ? (fails_ + *holds_) / 2 : std::min(most_, 2 * fails_);
  if (next > fails_) Play(next, true);
}

bool ReplayJob::Step(int count) {
  if (!run_) return false;
  if (!run_->Step(count)) EndRun();
  return run_.has_value();
}

Json ReplayJob::Breaks() const {
  const std::optional<Seconds> queue = summary_.requests_per_s > 0 ? played_->queue.grows_from : std::nullopt,
                               preemption = played_->first_preemption;
  if (!queue && !preemption) return nullptr;
  const bool is_queue = queue && !(preemption && *preemption < *queue);
  const HeldBack bound = is_queue ? played_->bound.value_or(HeldBack::kStepTokens) : HeldBack::kMemory;
  const std::string what = is_queue ? "From here on every request waits longer than it takes to serve one: "
                                    : "From here on running requests are preempted: ";
  return ObjectOf({{"at_s", (is_queue ? *queue : *preemption).base()},
                   {"by", is_queue ? "queue" : "preemption"},
                   {"bound", NameOf(bound)},
                   {"message", what + std::string(WhyHeldBack(bound))}});
}

Json ReplayJob::Needed() const {
  if (!holds_ || !SeeksReplicas()) return nullptr;
  const Count devices = *holds_ * devices_per_replica_;
  Json needed = ObjectOf({{"replicas", *holds_}, {"devices", devices}});
  if (scenario_.cost) {
    const Fleet fleet(scenario_);
    const Count bought = fleet.Bought({0, devices}).decode;
    needed["bought_devices"] = bought;
    needed["usd_per_hour"] = In(fleet.HourlyCostOf(bought), kUsdPerHour);
  }
  const SimulatedServing& served = fewest_->served;
  needed["ttft_s"] = At(question_.percentile, served.ttft_percentiles, served.ttft).base();
  needed["tpot_s"] = At(question_.percentile, served.tpot_percentiles, served.tpot).base();
  needed["hit_rate"] = fewest_->hit_rate;
  return needed;
}

Json ReplayJob::Report() const {
  if (run_) return ObjectOf({{"done", done()}, {"playing", playing_}});
  if (!played_) return ObjectOf({{"done", 1}, {"played", nullptr}, {"message", "The trace takes too many steps"}});
  const ServingMapping& mapping = scenario_.serving->mapping;
  Json targets = ObjectOf({{"percentile", NameOf(question_.percentile)}});
  if (question_.ttft) targets["ttft_s"] = question_.ttft->base();
  if (question_.tpot) targets["tpot_s"] = question_.tpot->base();
  std::string message;
  if (played_->too_long > 0) {
    message = std::to_string(played_->too_long) + " of " + std::to_string(summary_.requests) +
              " requests do not fit in the KV cache of a replica and are left out: no number of such replicas holds";
  } else if (!holds_ && fails_ >= most_) {
    message = "Even with " + std::to_string(most_) + " replicas the queue grows or a target is missed";
  }
  return ObjectOf({{"format", trace_.format},
                   {"notes", trace_.notes},
                   {"targets", std::move(targets)},
                   {"trace", WriteOutputs(summary_)},
                   {"deployment", ObjectOf({{"replicas", own_},
                                            {"devices", own_ * devices_per_replica_},
                                            {"devices_per_replica", devices_per_replica_},
                                            {"mapping", MappingOf(mapping)}})},
                   {"played", WriteOutputs(*played_)},
                   {"holds", Holds(*played_)},
                   {"breaks", Breaks()},
                   {"needed", Needed()},
                   {"message", std::move(message)},
                   {"done", 1}});
}

}  // namespace slipstick
