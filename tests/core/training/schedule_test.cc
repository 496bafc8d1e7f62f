#include "core/training/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipstick {
namespace {

struct Length {
  double end = 0;
  double busy = 0;  // of stage 0
};
Length LengthOf(const PipelineShape& shape, const StagePass& pass) {
  const std::vector<StagePass> passes(static_cast<std::size_t>(shape.stages * shape.chunks), pass);
  Length length;
  for (const ScheduledPass& box : Timeline(shape, passes)) {
    length.end = std::max(length.end, box.end.base());
    if (box.stage == 0) length.busy += (box.end - box.start).base();
  }
  return length;
}

StagePass Of(double forward, double backward, double weight = 0) { return {forward * kS, backward * kS, weight * kS}; }

StagePass Others(const PipelineShape& shape, const StagePass& pass) {
  const double n = static_cast<double>((shape.stages - 1) * shape.chunks);
  return {n * pass.forward, n * pass.backward, n * pass.weight};
}

StagePass Own(const PipelineShape& shape, const StagePass& pass) {
  const double v = static_cast<double>(shape.chunks);
  return {v * pass.forward, v * pass.backward, v * pass.weight};
}

TEST(Timeline, OfGpipeAnd1f1bHasTheBubbleOfPMinusOnePasses) {
  for (const Count p : {1, 2, 4, 8}) {
    for (const Count m : {8, 12, 32}) {
      for (const PipelineSchedule schedule : {PipelineSchedule::kGpipe, PipelineSchedule::kOneFOneB}) {
        const PipelineShape shape{schedule, p, 1, m};
        const StagePass pass = Of(1, 2.25);
        EXPECT_DOUBLE_EQ(LengthOf(shape, pass).end, static_cast<double>(m + p - 1) * 3.25) << p << " " << m;
        EXPECT_DOUBLE_EQ(BubbleTime(shape, Others(shape, pass), Own(shape, pass)).base(), static_cast<double>(p - 1) * 3.25);
      }
    }
  }
}

TEST(Timeline, OfInterleavingDividesTheBubbleByTheChunks) {
  for (const Count p : {2, 4, 8}) {
    for (const Count v : {2, 3, 5}) {
      for (const Count rounds : {1, 2, 4}) {
        const PipelineShape shape{PipelineSchedule::kOneFOneB, p, v, p * rounds};
        const StagePass pass = Of(0.5, 1.25);
        const double work = static_cast<double>(p * rounds * v) * 1.75, bubble = static_cast<double>(p - 1) * 1.75;
        EXPECT_DOUBLE_EQ(LengthOf(shape, pass).end, work + bubble) << p << " " << v << " " << rounds;
        EXPECT_DOUBLE_EQ(BubbleTime(shape, Others(shape, pass), Own(shape, pass)).base(), bubble);
      }
    }
  }
}

// Qi et al. 2023: (p - 1)·max(F, B, F + B - W).
TEST(Timeline, OfZbH1HasItsClosedBubble) {
  for (const Count p : {2, 4, 8}) {
    for (const StagePass& pass : {Of(1, 1, 1), Of(1, 1.5, 1), Of(2, 1.5, 1), Of(1, 1, 0.5)}) {
      const PipelineShape shape{PipelineSchedule::kZbH1, p, 1, 4 * p};
      const double f = pass.forward.base(), b = pass.backward.base(), w = pass.weight.base();
      const double bubble = static_cast<double>(p - 1) * std::max({f, b, f + b - w});
      EXPECT_NEAR(LengthOf(shape, pass).end, static_cast<double>(4 * p) * (f + b + w) + bubble, 1e-9) << p << " " << f << b << w;
      EXPECT_NEAR(BubbleTime(shape, Others(shape, pass), Own(shape, pass)).base(), bubble, 1e-9);
    }
  }
}

// DeepSeek-V3 technical report, table 2: DualPipe (p/2 - 1)(F&B + B - 3W), B the whole backward pass.
TEST(Bubble, OfDualPipeIsThePublishedForm) {
  const PipelineShape shape{PipelineSchedule::kDualPipe, 8, 1, 32};
  const StagePass pass = Of(1, 1, 1);
  EXPECT_DOUBLE_EQ(BubbleTime(shape, Others(shape, pass), Own(shape, pass)).base(), 3 * ((1 + 2) + 2 - 3 * 1));
  const PipelineShape folded{PipelineSchedule::kZbV, 8, 2, 32};
  EXPECT_DOUBLE_EQ(BubbleTime(folded, Others(folded, pass), Own(folded, pass)).base(), 0);  // equal passes fill the V
}

TEST(Timeline, HoldsEveryPassOnceInOrder) {
  for (const PipelineSchedule schedule : {PipelineSchedule::kOneFOneB, PipelineSchedule::kGpipe, PipelineSchedule::kZbH1,
                                          PipelineSchedule::kZbV, PipelineSchedule::kDualPipe}) {
    const Count v = schedule == PipelineSchedule::kZbV || schedule == PipelineSchedule::kOneFOneB ? 2 : 1, p = 4, m = 12;
    const bool waits = schedule == PipelineSchedule::kZbH1 || schedule == PipelineSchedule::kZbV || schedule == PipelineSchedule::kDualPipe;
    const PipelineShape shape{schedule, p, v, m};
    std::vector<StagePass> passes(static_cast<std::size_t>(p * v), Of(1, 1.5, waits ? 0.5 : 0));
    const std::vector<ScheduledPass> boxes = Timeline(shape, passes);
    EXPECT_EQ(boxes.size(), static_cast<std::size_t>(p * v * m * (waits ? 3 : 2))) << NameOf(schedule);
    std::vector<double> free(static_cast<std::size_t>(p), 0);
    for (const ScheduledPass& box : boxes) {
      double& end = free[static_cast<std::size_t>(box.stage)];
      EXPECT_GE(box.start.base(), end - 1e-9) << NameOf(schedule);
      EXPECT_GT(box.end, box.start);
      end = box.end.base();
    }
  }
}

// Uneven stages under 1F1B, m >= p: never longer than sum + (m - 1)·slowest, never shorter than the slowest stage's own bound.
TEST(Timeline, OfUnevenStagesLiesBetweenItsBounds) {
  unsigned seed = 7;
  const auto next = [&seed] { return 0.5 + static_cast<double>((seed = seed * 1664525u + 1013904223u) >> 8) / (1 << 24); };
  for (int trial = 0; trial < 100; ++trial) {
    const Count p = 2 + trial % 6, m = p + trial % 11;
    std::vector<StagePass> passes;
    double sum = 0, slowest = 0, lower = 0;
    for (Count i = 0; i < p; ++i) {
      const double forward = next(), backward = 2 * next();
      passes.push_back(Of(forward, backward));
      lower = std::max(lower, sum + static_cast<double>(m) * (forward + backward));
      sum += forward + backward;
      slowest = std::max(slowest, forward + backward);
    }
    double end = 0;
    for (const ScheduledPass& box : Timeline({PipelineSchedule::kOneFOneB, p, 1, m}, passes)) end = std::max(end, box.end.base());
    EXPECT_LE(end, sum + static_cast<double>(m - 1) * slowest + 1e-9);
    EXPECT_GE(end, lower - 1e-9);
  }
}

}  // namespace
}  // namespace slipstick
