// The commands of the command line and of the page: JSON text in, JSON text out. Nothing here throws or keeps state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/issue.h"
#include "core/scenario/answer.h"

namespace slipstick {

// A scenario's report. An empty request is the default scenario; each assignment is "PATH=VALUE". `explain` is the path
// of a figure of the report, "*" for all, "" for none; if set, the report has the explanations, and the sources of the
// inputs to which they lead. `timeline`: include every pass of the pipeline, which is most of a report's size.
Answer EvaluateAnswer(std::string_view request, const std::vector<std::string>& assignments = {},
                      std::string_view explain = "", bool timeline = true);

// How one figure of a scenario's report is computed, as a tree in Markdown.
Answer DerivationAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view path);

// The published runs behind the interval of a figure (core/evaluation/runs_like.h).
Answer EvidenceAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view figure);
// This core's results for a file of measurements (core/evaluation/evidence_files.h): {"name", "runs": [{"id", "kind",
// "measured", "computed", "error", "device", "architecture", "software", "experts"}], "issues"}. `id`: the id that the
// file's runs name as their source.
Answer MeasurementsAnswer(std::string_view id, std::string_view file);

// One operator, collective or expert exchange: {"time_s","bound","flops","bytes","algorithm"}.
Answer KernelAnswer(std::string_view request);

// Every input: path, kind, unit, range, default, choices, help; the default scenario, and which of its values adjust to
// written ones; every output: path, kind, title, short name, unit, whether larger or smaller is better. With words:
// only the inputs and outputs whose path or meaning has all of them.
Answer DescribeAnswer(const std::vector<std::string>& words = {});

// Only the pipeline passes of the training step: {"timeline": […], "timeline_cut": …}, or null for a scenario without
// training.
Answer TimelineAnswer(std::string_view request);

// The catalogue entries of a kind, or of every kind ("").
Answer PresetsAnswer(std::string_view kind);

}  // namespace slipstick
