#include "core/simulation/summary.h"

#include <algorithm>
#include <utility>

namespace slipstick {

Seconds MeanOf(const std::vector<Seconds>& times) {
  Seconds sum;
  for (const Seconds time : times) sum += time;
  return times.empty() ? sum : sum / static_cast<double>(times.size());
}

Percentiles PercentilesOf(std::vector<Seconds> times) {
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const auto at = [&](std::size_t percent) { return times[NearestRank(times.size(), percent) - 1]; };
  return {at(50), at(90), at(99)};
}

namespace {

struct Latencies {
  std::vector<Seconds> ttft, tpot, whole;
  void Add(const SimulatedRequest& request) {
    ttft.push_back(request.first - request.sent);
    whole.push_back(request.last - request.sent);
    if (request.output > 1) tpot.push_back((request.last - request.first) / static_cast<double>(request.output - 1));
  }
};

}  // namespace

SimulatedServing SummaryOf(const EventLoop& loop, const std::vector<std::size_t>& of) {
  const SimulatedSystem& system = loop.system();
  SimulatedServing served;
  Latencies latencies;
  for (const std::size_t i : of) {
    const SimulatedRequest& request = loop.requests()[i];
    latencies.Add(request);
    const Seconds handled = system.handling + static_cast<double>(request.prompt) * system.token_handling;
    served.waited += max(Seconds{}, request.admitted - request.sent - handled);
    served.prompt += static_cast<double>(request.prompt);
    served.output += static_cast<double>(request.output);
  }
  auto& [ttft, tpot, latency] = latencies;
  const auto requests = static_cast<double>(ttft.size());
  served.prompt /= requests;
  served.output /= requests;
  served.ttft = MeanOf(ttft);
  served.tpot = MeanOf(tpot);
  served.request_latency = MeanOf(latency);
  served.ttft_percentiles = PercentilesOf(std::move(ttft));
  served.tpot_percentiles = PercentilesOf(std::move(tpot));
  served.latency_percentiles = PercentilesOf(std::move(latency));
  served.requests = static_cast<Count>(requests);
  const SimulationCounts counts = loop.counts();
  served.preemptions = counts.groups.preemptions;
  served.steps = counts.steps;
  return served;
}

void SetRate(SimulatedServing& served, Hertz rate) {
  served.requests_per_s = rate * (1 * kS);
  served.tokens_per_s = rate * served.output * (1 * kToken);
  served.requests_waiting = rate * served.waited / static_cast<double>(served.requests);
  served.requests_in_flight = rate * served.request_latency - served.requests_waiting;
}

std::vector<SimulatedClass> ClassesOf(const EventLoop& loop, const std::vector<std::size_t>& of, std::size_t classes) {
  std::vector<Latencies> latencies(classes);
  for (const std::size_t i : of) latencies[static_cast<std::size_t>(loop.requests()[i].kind)].Add(loop.requests()[i]);
  std::vector<SimulatedClass> made;
  for (Latencies& one : latencies) {
    SimulatedClass of_class{
        MeanOf(one.ttft), MeanOf(one.tpot), MeanOf(one.whole), {}, {}, static_cast<Count>(one.ttft.size())};
    of_class.ttft_percentiles = PercentilesOf(std::move(one.ttft));
    of_class.tpot_percentiles = PercentilesOf(std::move(one.tpot));
    made.push_back(of_class);
  }
  return made;
}

SimulatedSessions SessionsOf(const EventLoop& loop, const std::vector<std::size_t>& turns) {
  SimulatedSessions sessions;
  std::vector<Seconds> reentry_ttft;
  double prompts = 0;
  for (const std::size_t i : turns) {
    const SimulatedRequest& one = loop.requests()[i];
    prompts += static_cast<double>(one.prompt);
    sessions.hit_rate += static_cast<double>(one.cached);
    sessions.host_hit_rate += one.found.host;
    sessions.ssd_hit_rate += one.found.ssd;
    if (one.turn > 1) reentry_ttft.push_back(one.first - one.sent);
  }
  for (double* tokens : {&sessions.hit_rate, &sessions.host_hit_rate, &sessions.ssd_hit_rate}) *tokens /= prompts;
  sessions.device_hit_rate = sessions.hit_rate - sessions.host_hit_rate - sessions.ssd_hit_rate;
  sessions.reentry_ttft = MeanOf(reentry_ttft);
  return sessions;
}

}  // namespace slipstick
