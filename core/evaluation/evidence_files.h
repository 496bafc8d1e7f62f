// Published measurements as files (core/presets/evidence/<source>.json) and what this core predicts of them.
//
//   {"publisher": "…", "campaign": "…", "source": "…", "tuning": "tuned", "models": {"NAME": {…}},
//    "rows": [{"id": "…", "figure": "training.step_time_s", "value": 1.42, "model": "NAME",
//              "cluster": {…}, "training": {…}}]}
//
// Publisher, campaign and source are required. A row is a request with the figure that was measured, in base units. The
// rate of one stream or of a batch is stored as a time. `model` names a model of the file or of the catalogue.
// "whole_runs": true marks production runs, for any training figure. "tuning" says how the file's engines were run,
// tuned or stock; a row may override it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/evidence/neighbors.h"
#include "core/serving/serving.h"
#include "core/training/training_report.h"

namespace slipstick {

struct EvidenceFile {
  std::string id, text;
};

// Holds the texts that its runs refer to.
struct EvidenceFiles {
  std::set<std::string> texts;
  std::vector<MeasuredSource> sources;
  std::vector<MeasuredRun> runs;  // ordered (OrderRuns)
  RunDistance distance;
  Issues issues;  // rows that this core cannot answer, and faults of the files
};
EvidenceFiles ReadEvidence(const std::vector<EvidenceFile>& files, const RunDistance& distance);
// The distance of the catalogue (core/presets/distances/measured-runs.json).
RunDistance CatalogueDistance();

inline constexpr std::string_view kImageOrClipFigure = "diffusion.latency_s";

// A figure that people measure, with its path in a report; nothing for other figures.
struct EvidenceFigure {
  MeasuredKind kind = MeasuredKind::kStepTime;
  double value = 0;
};
std::optional<EvidenceFigure> FigureOf(const TrainingReport& report, std::string_view path);
std::optional<EvidenceFigure> FigureOf(const ServingReport& report, std::string_view path);

// {"id", "source", "kind", "measured", "computed", "error"}; for a training step both values are in seconds.
Json WrittenRun(const MeasuredRun& run, std::string_view source);

// C++ source of MeasuredRuns, MeasuredSources and MeasuredDistance.
std::string EvidenceSource(const EvidenceFiles& evidence);

}  // namespace slipstick
