#include "core/simulation/trace_queue.h"

#include <algorithm>
#include <limits>

namespace slipstick {
namespace {

constexpr std::size_t kMoments = 120;

// Time at which the request reached the scheduler.
Seconds CameOf(const SimulatedRequest& request, const SimulatedSystem& system) {
  return request.sent + system.handling + static_cast<double>(request.prompt) * system.token_handling;
}

// Adds to each moment the part of the interval [from, to] within it.
void Spread(Seconds from, Seconds to, Seconds length, std::vector<TraceMoment>& moments, double TraceMoment::* member) {
  if (!(to > from)) return;
  const auto last = moments.size() - 1;
  for (auto i = std::min(last, static_cast<std::size_t>(from / length)); i <= last && moments[i].from < to; ++i) {
    const Seconds part = min(to, moments[i].from + length) - max(from, moments[i].from);
    moments[i].*member += max(0.0, double{part / length});
  }
}

std::optional<Seconds> GrowsFrom(std::vector<const SimulatedRequest*> arrived, const SimulatedSystem& system) {
  std::stable_sort(arrived.begin(), arrived.end(),
                   [](const SimulatedRequest* a, const SimulatedRequest* b) { return a->sent < b->sent; });
  Seconds running, end, fastest = Seconds::FromBase(std::numeric_limits<double>::infinity());
  double tokens = 0;
  for (const SimulatedRequest* one : arrived) {
    const Seconds ran = one->last - one->admitted;
    const auto output = static_cast<double>(one->output);
    running += ran;
    tokens += output;
    fastest = min(fastest, ran / output);
    end = max(end, one->last);
  }
  // Requests run longer where many run at once: those that meet few others show how long one takes.
  const Seconds typical = fastest * (tokens / static_cast<double>(arrived.size()));
  const double at_once = running / end;
  std::size_t first = arrived.size();
  while (first > 0 && arrived[first - 1]->admitted - CameOf(*arrived[first - 1], system) > typical) --first;
  if (static_cast<double>(arrived.size() - first) <= at_once) return std::nullopt;
  return arrived[first]->sent;
}

}  // namespace

TraceQueue QueueOf(const std::vector<SimulatedRequest>& requests, const SimulatedSystem& system) {
  TraceQueue queue;
  std::vector<const SimulatedRequest*> arrived;
  Seconds end;
  for (const SimulatedRequest& one : requests) {
    arrived.push_back(&one);
    end = max(end, one.last);
  }
  if (arrived.empty()) return queue;
  queue.grows_from = GrowsFrom(std::move(arrived), system);
  const Seconds length = end / static_cast<double>(kMoments);
  queue.moments.resize(kMoments);
  for (std::size_t i = 0; i < kMoments; ++i) queue.moments[i].from = static_cast<double>(i) * length;
  for (const SimulatedRequest& one : requests) {
    const auto place = std::min(kMoments - 1, static_cast<std::size_t>(one.sent / length));
    queue.moments[place].arrivals_per_s += 1 * kS / length;
    Spread(CameOf(one, system), one.admitted, length, queue.moments, &TraceMoment::waiting);
    Spread(one.admitted, one.last, length, queue.moments, &TraceMoment::running);
  }
  return queue;
}

}  // namespace slipstick
