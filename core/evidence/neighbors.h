// The interval around an answer, from the errors of the measured runs most like it.
//
// Every run of the kind's group counts by how near it is; a source's runs share one say, that of its nearest, so that a
// campaign of thousands does not drown one of ten. The interval is the middle half of the weighted errors and, at each
// end, what the next publisher may differ by: more towards slower, more where this software was not measured with this
// kind of model on this architecture, more where efficiencies are assumed or a plain command runs it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/evidence/run_distance.h"

namespace slipstick {

struct Likely {
  double low = 1, high = 1;                 // measured over predicted: of ten measurements nine lie between
  std::vector<const MeasuredRun*> nearest;  // the nearest first
  double distance = 0;                      // to the first of them
  bool is_measured = false;                 // this software with this kind of model on this architecture
  bool is_as_run = false;                   // how the engine is run widens it
  bool is_by_data_sheet = false;            // the device is known by its data sheet only: no efficiencies, no run near
  [[nodiscard]] bool IsFar() const { return distance > 1; }  // nothing very like it has been measured
};

// A table in which errors are looked up.
struct Evidence {
  std::span<const MeasuredRun> runs;  // each group in one piece, ordered by their errors
  const RunDistance& distance;
};
Evidence PublishedEvidence();

inline constexpr int kNoSource = -1;
// `left_out`: a source that does not count, to test what the others say of it.
Likely LikelyRange(MeasuredKind kind, const RunSetting& setting, bool is_assumed, const Evidence& evidence,
                   int left_out = kNoSource);

// A run as evidence for a setting: how unlike it is, and its share of the say.
struct Neighbor {
  const MeasuredRun* run = nullptr;
  double distance = 0, share = 0;
};
// All runs of the kind's group, the nearest first.
std::vector<Neighbor> NeighborsOf(MeasuredKind kind, const RunSetting& setting, const Evidence& evidence);

// The runs of a kind's group.
std::span<const MeasuredRun> RunsOfKind(MeasuredKind kind, const Evidence& evidence);
// Orders runs as Evidence wants them.
void OrderRuns(std::vector<MeasuredRun>& runs);

// How much longer whole production runs took per step than the model says of a tuned one: the median, each source with
// one say.
struct WholeRuns {
  double gap = 1;
  std::span<const MeasuredRun> runs;
};
WholeRuns WholeRunGap(const Evidence& evidence);

}  // namespace slipstick
