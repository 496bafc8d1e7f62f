#include "core/replay/trace_summary.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/simulation/lengths.h"
#include "core/simulation/prefix_blocks.h"
#include "core/simulation/random.h"
#include "core/simulation/summary.h"

namespace slipstick {
namespace {

TraceLengths LengthsOf(const RequestTrace& trace, Count TracedRequest::* length) {
  std::vector<Count> lengths;
  TraceLengths of;
  for (const TracedRequest& one : trace.requests) {
    lengths.push_back(one.*length);
    of.mean += static_cast<double>(one.*length);
  }
  of.mean /= static_cast<double>(lengths.size());
  std::sort(lengths.begin(), lengths.end());
  const auto at = [&lengths](std::size_t percent) { return lengths[NearestRank(lengths.size(), percent) - 1]; };
  of.p50 = at(50);
  of.p90 = at(90);
  of.p99 = at(99);
  of.longest = lengths.back();
  return of;
}

// Counts whole blocks; at least one token of a prompt is computed.
double BestHitRate(const RequestTrace& trace) {
  std::unordered_set<std::uint32_t> seen;
  std::vector<const TracedRequest*> before(static_cast<std::size_t>(trace.sessions), nullptr);
  double prompts = 0, hits = 0;
  for (const TracedRequest& one : trace.requests) {
    Count found = 0;
    if (trace.block > 0) {
      for (const std::uint32_t block : one.blocks) {
        if (!seen.contains(block)) break;
        found += trace.block;
      }
      const auto whole = std::min(one.blocks.size(), static_cast<std::size_t>(one.prompt / trace.block));
      for (const std::uint32_t block : BlockNumbers(one.blocks).first(whole)) seen.insert(block);
    } else if (one.session >= 0) {
      const TracedRequest*& last = before[static_cast<std::size_t>(one.session)];
      if (last != nullptr) found = ReusableOf(*last, one);
      last = &one;
    }
    prompts += static_cast<double>(one.prompt);
    hits += static_cast<double>(std::min(found, one.prompt - 1));
  }
  return hits / prompts;
}

Seconds SpanOf(const RequestTrace& trace) {
  Seconds span;
  for (const TracedRequest& one : trace.requests) span = max(span, one.arrival.value_or(Seconds{}));
  return span;
}

// Number of requests after the first, over the span.
double RateOf(const RequestTrace& trace, Seconds span) {
  return span > Seconds{} ? double{static_cast<double>(trace.requests.size() - 1) * (1 * kS) / span} : 0;
}

void Scale(RequestTrace& trace, double speed) {
  for (TracedRequest& one : trace.requests) {
    if (one.arrival) one.arrival = *one.arrival / speed;
  }
}

}  // namespace

TraceSummary SummaryOf(const RequestTrace& trace) {
  TraceSummary summary;
  summary.requests = static_cast<Count>(trace.requests.size());
  summary.sessions = trace.sessions;
  summary.span = SpanOf(trace);
  summary.requests_per_s = RateOf(trace, summary.span);
  summary.prompt = LengthsOf(trace, &TracedRequest::prompt);
  summary.output = LengthsOf(trace, &TracedRequest::output);
  summary.prompt_tokens_per_s = summary.requests_per_s * summary.prompt.mean;
  summary.output_tokens_per_s = summary.requests_per_s * summary.output.mean;
  summary.block = trace.block;
  summary.best_hit_rate = BestHitRate(trace);
  return summary;
}

void SetArrivals(RequestTrace& trace, const ReplayQuestion& question) {
  const double recorded = RateOf(trace, SpanOf(trace));
  if (trace.has_times && (recorded > 0 || !question.requests_per_s)) {
    return Scale(trace, question.requests_per_s ? *question.requests_per_s / recorded : question.speed);
  }
  const std::optional<double> rate = question.requests_per_s ? question.requests_per_s : trace.requests_per_s;
  if (question.requests_per_s) trace.most_at_once.reset();
  if (trace.most_at_once) {
    trace.notes.push_back("The file has no times: at most " + std::to_string(*trace.most_at_once) +
                          " requests run or wait at once, as in its benchmark");
  } else if (!rate) {
    trace.notes.emplace_back("The file has no times: all requests come at once. Give a rate to spread them");
  } else {
    trace.notes.emplace_back(
        std::string(trace.has_times ? "All times of the file are equal" : "The file has no times") +
        ": requests come at random, at the rate in question");
  }
  Random random(1);
  Seconds at;
  std::vector<bool> has_begun(static_cast<std::size_t>(trace.sessions), false);
  std::vector<TracedRequest*> sent;  // not a turn that follows another after a delay
  for (TracedRequest& one : trace.requests) {
    const bool follows = one.session >= 0 && has_begun[static_cast<std::size_t>(one.session)];
    if (one.session >= 0) has_begun[static_cast<std::size_t>(one.session)] = true;
    if (!follows || !one.delay) sent.push_back(&one);
  }
  const double of_all = static_cast<double>(sent.size()) / static_cast<double>(trace.requests.size());
  for (TracedRequest* one : sent) {
    one->arrival = at;
    if (rate) at += DrawGap(Arrivals{}, random) / (*rate * of_all * question.speed) * (1 * kS);
  }
}

}  // namespace slipstick
