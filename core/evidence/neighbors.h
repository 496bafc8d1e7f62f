// The interval around an answer, from the errors of the measured runs most like it.
//
// Every run of the kind's group is weighted by its distance; the runs of one source share the weight of its nearest
// run, so a campaign of thousands does not drown one of ten. The interval is the middle part of the weighted errors
// plus, at each end, the expected deviation of the next publisher: more toward slower, more if this software was not
// measured with this kind of model on this architecture, more if a plain command runs it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/evidence/run_distance.h"

namespace slipstick {

struct Likely {
  double low = 1, high = 1;                 // measured over predicted: nine of ten measurements are in between
  std::vector<const MeasuredRun*> nearest;  // the nearest first
  double distance = 0;                      // to the nearest run
  bool is_measured = false;  // others measured this software with this kind of model on this architecture
  bool is_as_run = false;    // widened because of how the engine is run
  [[nodiscard]] bool IsFar() const { return distance > 1; }  // no similar run was measured
};

// A set of runs in which errors are looked up.
struct Evidence {
  std::span<const MeasuredRun> runs;  // each group is contiguous and sorted by error
  const RunDistance& distance;
};
Evidence PublishedEvidence();

inline constexpr int kNoSource = -1;
// `left_out`: a source that is ignored, to test the prediction of the others for it.
Likely LikelyRange(MeasuredKind kind, const RunSetting& setting, const Evidence& evidence, int left_out = kNoSource);

// A run as evidence for a setting: its distance, and its share of the total weight.
struct Neighbor {
  const MeasuredRun* run = nullptr;
  double distance = 0, share = 0;
};
// All runs of the kind's group, sorted by distance.
std::vector<Neighbor> NeighborsOf(MeasuredKind kind, const RunSetting& setting, const Evidence& evidence);

// The runs of a kind's group.
std::span<const MeasuredRun> RunsOfKind(MeasuredKind kind, const Evidence& evidence);
// Sorts runs as Evidence requires.
void OrderRuns(std::vector<MeasuredRun>& runs);

// The step time of whole production runs relative to the model's time for a tuned run: the median, with equal weight
// for each source.
struct WholeRuns {
  double gap = 1;
  std::span<const MeasuredRun> runs;
};
WholeRuns WholeRunGap(const Evidence& evidence);

}  // namespace slipstick
