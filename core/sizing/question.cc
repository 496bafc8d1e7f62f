#include "core/sizing/question.h"

#include <algorithm>
#include <numeric>

#include "core/base/fix.h"
#include "core/base/schema.h"
#include "core/exploration/search_criteria.h"

namespace slipstick {

Seconds At(Percentile percentile, const Percentiles& of, Seconds mean) {
  switch (percentile) {
    case Percentile::kMean:
      return mean;
    case Percentile::k50:
      return of.p50;
    case Percentile::k90:
      return of.p90;
    case Percentile::k99:
      return of.p99;
  }
  return mean;
}

namespace {

double MeanOf(const std::vector<double>& rates) {
  return std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
}

void CheckDay(const SizeQuestion& question, Issues& issues) {
  constexpr std::size_t kMostParts = 288;  // of five minutes each
  const std::vector<double>& day = question.day;
  if (day.empty()) return;
  if (day.size() > kMostParts) issues.push_back({"day", "At most " + std::to_string(kMostParts) + " parts of a day"});
  if (std::any_of(day.begin(), day.end(), [](double rate) { return rate < 0; }) ||
      !std::any_of(day.begin(), day.end(), [](double rate) { return rate > 0; }))
    issues.push_back({"day", "Enter rates of at least 0, one of them above 0"});
  if (question.peak_over_mean > 1)
    issues.push_back(
        {"peak_over_mean", "Leave out: the day has its own peak", {LeaveOut("peak_over_mean"), LeaveOut("day")}});
}

void CheckMixture(const Json& json, const SizeQuestion& question, Issues& issues) {
  constexpr std::size_t kMostClasses = 16;
  if (question.mixture.size() > kMostClasses)
    issues.push_back({"mixture", "At most " + std::to_string(kMostClasses) + " classes of requests"});
  const Json* written = FindMember(json, "mixture");
  if (written != nullptr && written->is_array() && written->empty())
    issues.push_back({"mixture", "Enter a class of requests, or leave it out", {LeaveOut("mixture")}});
}

}  // namespace

Result<SizeQuestion> ReadSizeQuestion(Json json) {
  if (!json.is_object()) return Issues{{"", "Must be an object, not " + internal::Shown(json)}};
  json.erase("request");
  SizeQuestion question;
  Issues issues;
  Read(json, "", issues, question);
  for (std::size_t i = 0; i < question.clusters.size(); ++i) {
    const std::string& id = question.clusters[i];
    if (FindPreset("cluster", id) != nullptr) continue;
    const std::string path = "clusters." + std::to_string(i);
    issues.push_back({path, "Unknown cluster " + id, SetToEach(path, NearestPresets("cluster", id))});
  }
  CheckDay(question, issues);
  CheckMixture(json, question, issues);
  if (!issues.empty()) return issues;
  return question;
}

double PeakOverMean(const SizeQuestion& question) {
  if (question.day.empty()) return question.peak_over_mean;
  return *std::max_element(question.day.begin(), question.day.end()) / MeanOf(question.day);
}

std::vector<double> RatesOf(const SizeQuestion& question, double mean_requests_per_s) {
  std::vector<double> rates;
  for (const double relative : question.day) rates.push_back(mean_requests_per_s * relative / MeanOf(question.day));
  return rates;
}

Result<SpaceLimits> ReadMappingLimits(const SizeQuestion& question) {
  SpaceLimits limits;
  std::vector<FigureLimit> figures;
  Issues issues;
  for (const std::string& text : question.limits) ReadLimit(text, "serving", limits, figures, issues);
  for (const FigureLimit& figure : figures)
    issues.push_back({"limits", "Enter a member of the mapping, not the figure " + figure.figure->name});
  for (const char* member : {"replicas", "batch", "prefill_devices"}) {
    if (limits.contains(member))
      issues.push_back({"limits", "Leave out " + std::string(member) + ": sizing chooses it"});
  }
  if (!issues.empty()) return issues;
  return limits;
}

}  // namespace slipstick
