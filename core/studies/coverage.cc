#include "core/studies/coverage.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace slipstick {
namespace {

int PlaceOf(std::string_view id, const std::vector<MeasuredSource>& sources) {
  const auto found =
      std::find_if(sources.begin(), sources.end(), [&](const MeasuredSource& source) { return source.id == id; });
  return found == sources.end() ? kNoSource : static_cast<int>(found - sources.begin());
}

void Score(const Likely& likely, double measured, Coverage& coverage) {
  ++coverage.runs;
  if (likely.low <= measured && measured <= likely.high) ++coverage.held;
  coverage.half_widths.push_back((likely.high - likely.low) / 2);
}

std::string_view PublisherOf(const MeasuredSource& source) { return source.name.substr(0, source.name.find(", ")); }

// The distance without the publishers' spread, so that only the neighbors' errors count.
RunDistance WithoutSpread(const RunDistance& distance) {
  RunDistance plain = distance;
  plain.spread = {};
  return plain;
}

// The ends of a range as logarithms relative to the answer; for a rate, of the corresponding time.
std::pair<double, double> LogEnds(const Likely& likely, MeasuredKind kind) {
  const double low = std::log(likely.low), high = std::log(likely.high);
  return kind == MeasuredKind::kThroughput ? std::pair(-high, -low) : std::pair(low, high);
}

std::string RowText(std::string_view title, const Coverage& coverage) {
  char text[160];
  std::snprintf(text, sizeof text, "%-50.*s %6d %8.1f %8.1f\n", static_cast<int>(title.size()), title.data(),
                coverage.runs, 100 * coverage.Held(), 100 * coverage.MedianHalfWidth());
  return text;
}

}  // namespace

std::string_view TitleOf(MeasuredKind kind) {
  switch (kind) {
    case MeasuredKind::kStepTime:
      return "training step";
    case MeasuredKind::kTrainingMemory:
      return "training memory";
    case MeasuredKind::kTokenTime:
      return "time per output token";
    case MeasuredKind::kThroughput:
      return "serving throughput";
    case MeasuredKind::kStaticLatency:
      return "latency of a static batch";
    case MeasuredKind::kFirstToken:
      return "time to first token";
    case MeasuredKind::kServingMemory:
      return "serving memory";
    case MeasuredKind::kWholeRun:
      return "whole run";
    case MeasuredKind::kImageOrClip:
      return "time of an image or clip";
  }
  return "";
}

CoverageReport CoverageOf(const EvidenceFiles& evidence, const EvidenceFiles& tested) {
  CoverageReport report;
  for (const MeasuredRun& run : tested.runs) {
    if (run.kind == MeasuredKind::kWholeRun) continue;
    const std::string_view source = tested.sources[static_cast<std::size_t>(run.source)].id;
    const Likely likely =
        LikelyRange(run.kind, run.setting, {evidence.runs, evidence.distance}, PlaceOf(source, evidence.sources));
    const double measured = std::exp(run.kind == MeasuredKind::kThroughput ? -run.log_error : run.log_error);
    Score(likely, measured, report.kinds[run.kind]);
    Score(likely, measured, report.sources[{run.kind, std::string(source)}]);
  }
  for (auto& [_, coverage] : report.kinds) std::sort(coverage.half_widths.begin(), coverage.half_widths.end());
  for (auto& [_, coverage] : report.sources) std::sort(coverage.half_widths.begin(), coverage.half_widths.end());
  return report;
}

std::string CoverageText(const EvidenceFiles& evidence, const std::vector<EvidenceFile>& tested) {
  const EvidenceFiles read = ReadEvidence(tested, evidence.distance);
  const CoverageReport report = CoverageOf(evidence, read);
  std::string text = "kind, and its sources                                runs   held %   half-width %\n";
  for (const auto& [kind, coverage] : report.kinds) {
    text += RowText(TitleOf(kind), coverage);
    for (const auto& [key, of_source] : report.sources) {
      if (key.first == kind) text += RowText("  " + key.second, of_source);
    }
  }
  if (!read.issues.empty())
    text += std::to_string(read.issues.size()) + " not answered, the first: " + read.issues.front().path + ": " +
            read.issues.front().message + "\n";
  return text;
}

std::string LinesOfLeftOut(const EvidenceFiles& evidence, const std::vector<EvidenceFile>& tested, LeftOut by) {
  const EvidenceFiles read = ReadEvidence(tested, evidence.distance);
  const RunDistance plain = WithoutSpread(evidence.distance);
  const auto key_of = [by](const MeasuredRun& run, const std::vector<MeasuredSource>& sources) {
    return by == LeftOut::kDevice ? run.setting.device : PublisherOf(sources[static_cast<std::size_t>(run.source)]);
  };
  std::map<std::string_view, std::vector<MeasuredRun>> others;
  std::string text;
  for (const MeasuredRun& run : read.runs) {
    if (run.kind == MeasuredKind::kWholeRun) continue;
    const std::string_view key = key_of(run, read.sources);
    const auto [found, is_new] = others.try_emplace(key);
    if (is_new) {
      for (const MeasuredRun& one : evidence.runs) {
        if (key_of(one, evidence.sources) != key) found->second.push_back(one);
      }
    }
    const Likely likely = LikelyRange(run.kind, run.setting, {found->second, evidence.distance}),
                 neighbors = LikelyRange(run.kind, run.setting, {found->second, plain});
    const auto [low, high] = LogEnds(likely, run.kind);
    const auto [least, most] = LogEnds(neighbors, run.kind);
    const MeasuredSource& source = read.sources[static_cast<std::size_t>(run.source)];
    text += JsonText(Json{{"kind", NameOf(run.kind)},
                          {"publisher", PublisherOf(source)},
                          {"source", source.id},
                          {"id", run.id},
                          {"device", run.setting.device},
                          {"error", run.log_error},
                          {"low", low},
                          {"high", high},
                          {"least", least},
                          {"most", most},
                          {"measured", likely.is_measured},
                          {"stock", likely.is_as_run}}) +
            "\n";
  }
  for (const Issue& issue : read.issues) text += JsonText(Json{{"issue", issue.path + ": " + issue.message}}) + "\n";
  return text;
}

Answer CoverageAnswer() {
  EvidenceFiles published;
  published.runs.assign(MeasuredRuns().begin(), MeasuredRuns().end());
  published.sources.assign(MeasuredSources().begin(), MeasuredSources().end());
  published.distance = MeasuredDistance();
  Json kinds = Json::array();
  for (const auto& [kind, coverage] : CoverageOf(published, published).kinds) {
    kinds.push_back(Json{{"kind", NameOf(kind)},
                         {"runs", coverage.runs},
                         {"held", coverage.Held()},
                         {"half_width", coverage.MedianHalfWidth()}});
  }
  return {JsonText(Json{{"kinds", std::move(kinds)}}), {}};
}

}  // namespace slipstick
