// Published measurements, each with the error of this model: the basis of the intervals around answers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/field.h"
#include "core/software/tuning.h"

namespace slipstick {

// What was measured. Errors of kinds in one group are evidence for each other, at a distance (neighbors.h).
enum class MeasuredKind {
  kStepTime,
  kTrainingMemory,
  kTokenTime,
  kThroughput,
  kStaticLatency,
  kFirstToken,
  kServingMemory,
  kWholeRun,
  kImageOrClip
};
ENUM_NAMES(MeasuredKind, {kStepTime, "training_step"}, {kTrainingMemory, "training_memory"},
           {kTokenTime, "output_token"}, {kThroughput, "throughput"}, {kStaticLatency, "static_batch"},
           {kFirstToken, "first_token"}, {kServingMemory, "serving_memory"}, {kWholeRun, "whole_run"},
           {kImageOrClip, "image_or_clip"});

// The features by which two runs are compared, to estimate how wrong a prediction may be. Sizes are base-2 logarithms.
struct RunSetting {
  std::string_view device, architecture, software;  // ids; software: framework, engine, or how diffusion runs
  bool has_experts = false;
  double bits = 0;        // log2 of the bits of an operand of the matrix products
  double devices = 0;     // of the run; of a replica when serving
  double load = 0;        // tokens per device and step in training; concurrent requests when serving; images
  double parameters = 0;  // active per token
  double length = 0;      // of a sequence or prompt; latent tokens of an image or clip
  // Shares of the predicted time: on links; in launches and messages; waiting for other requests; and, as a part of the
  // last, waiting in a queue for memory.
  double network = 0, latency = 0, waiting = 0, queued = 0;
  LogSpread tuning{};  // uncertainty from how the engine is run
};

inline constexpr double kTableSteps = 1e4;  // per unit: resolution of settings and errors in the lines below

struct MeasuredRun {
  std::string_view id;
  int source = 0;  // index in MeasuredSources()
  MeasuredKind kind = MeasuredKind::kStepTime;
  RunSetting setting;
  double predicted = 0;  // by this core, in base units: seconds per step for steps, otherwise the figure
  double log_error = 0;  // ln(measured / predicted); for a rate, of the corresponding time; orders a group
};

// Publisher and campaign: measurements from one source, whose errors are correlated.
struct MeasuredSource {
  std::string_view id, name;
};

std::span<const MeasuredRun> MeasuredRuns();

// Runs as lines of text, which take a third of the compressed size of a table of numbers. The runs refer to the lines.
std::string LineOf(const MeasuredRun& run);
std::vector<MeasuredRun> RunsOf(std::string_view lines);

// Generated at build time (core/command_line/evidence_main.cc) from core/presets/evidence, with the errors of this same
// core.
std::string_view MeasuredLines();
std::span<const MeasuredSource> MeasuredSources();

}  // namespace slipstick
