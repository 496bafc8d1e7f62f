#include "core/training/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace slipstick {
namespace {

struct Length {
  double end = 0;
  double busy = 0;   // of the busiest device
  double inner = 0;  // longest idle time of a device between its first and its last pass
};
Length LengthOf(const PipelineShape& shape, const StagePass& pass, Seconds transfer = {}) {
  const Count visits = shape.schedule == PipelineSchedule::kDualPipe ? shape.stages : shape.stages * shape.chunks;
  const std::vector<StagePass> passes(static_cast<std::size_t>(visits), pass);
  const auto devices = static_cast<std::size_t>(shape.stages);
  std::vector<double> busy(devices), first(devices, 1e300), last(devices);
  for (const ScheduledPass& box : Timeline(shape, passes, transfer)) {
    const auto device = static_cast<std::size_t>(box.stage);
    busy[device] += (box.end - box.start).base();
    first[device] = std::min(first[device], box.start.base());
    last[device] = std::max(last[device], box.end.base());
  }
  Length length;
  for (std::size_t i = 0; i < devices; ++i) {
    length.end = std::max(length.end, last[i]);
    length.busy = std::max(length.busy, busy[i]);
    length.inner = std::max(length.inner, last[i] - first[i] - busy[i]);
  }
  EXPECT_NEAR(ScheduleLength(shape, passes, transfer).base(), length.end, 1e-12 * length.end);
  return length;
}

StagePass Of(double forward, double backward, double weight = 0) { return {forward * kS, backward * kS, weight * kS}; }

TEST(Timeline, OfGpipeAnd1f1bHasTheBubbleOfPMinusOnePasses) {
  for (const Count p : {1, 2, 4, 8}) {
    for (const Count m : {8, 12, 32, 200}) {
      for (const PipelineSchedule schedule : {PipelineSchedule::kGpipe, PipelineSchedule::kOneFOneB}) {
        EXPECT_DOUBLE_EQ(LengthOf({schedule, p, 1, m}, Of(1, 2.25)).end, static_cast<double>(m + p - 1) * 3.25)
            << p << " " << m;
      }
    }
  }
}

TEST(Timeline, OfInterleavingDividesTheBubbleByTheChunks) {
  for (const Count p : {2, 4, 8}) {
    for (const Count v : {2, 3, 5}) {
      for (const Count rounds : {1, 2, 4, 20}) {
        const double work = static_cast<double>(p * rounds * v) * 1.75, bubble = static_cast<double>(p - 1) * 1.75;
        EXPECT_DOUBLE_EQ(LengthOf({PipelineSchedule::kOneFOneB, p, v, p * rounds}, Of(0.5, 1.25)).end, work + bubble);
      }
    }
  }
}

// Qi et al. 2023: (p - 1)·max(F, B, F + B - W).
TEST(Timeline, OfZbH1HasItsClosedBubble) {
  for (const Count p : {2, 4, 8}) {
    for (const StagePass& pass : {Of(1, 1, 1), Of(1, 1.5, 1), Of(2, 1.5, 1), Of(1, 1, 0.5)}) {
      const double f = pass.forward.base(), b = pass.backward.base(), w = pass.weight_gradient.base();
      const double bubble = static_cast<double>(p - 1) * std::max({f, b, f + b - w});
      EXPECT_NEAR(LengthOf({PipelineSchedule::kZbH1, p, 1, 4 * p}, pass).end,
                  static_cast<double>(4 * p) * (f + b + w) + bubble, 1e-9);
    }
  }
}

// Qi et al. 2023: with equal passes no device of ZB-V waits once it has begun; the last device begins p - 1 passes
// after the first.
TEST(Timeline, OfZbVHasNoBubbleWithEqualPasses) {
  for (const Count p : {2, 4, 8, 16}) {
    for (const Count m : {2 * p - 1, 2 * p, 5 * p + 1}) {
      const Length length = LengthOf({PipelineSchedule::kZbV, p, 2, m}, Of(1, 1, 1));
      EXPECT_EQ(length.inner, 0) << p << " " << m;
      EXPECT_EQ(length.end, static_cast<double>(6 * m + p - 1));
    }
  }
}

// DeepSeek-V3 technical report, table 2: (p/2 - 1)·(F&B + B - 3W), where B is the whole backward pass and F&B an
// overlapped forward and backward pass.
TEST(Timeline, OfDualPipeHasThePublishedBubble) {
  for (const Count p : {2, 4, 8, 16}) {
    for (const Count m : {2 * p, 2 * p + 4, 8 * p}) {
      const Length length = LengthOf({PipelineSchedule::kDualPipe, p, 1, m}, Of(1, 1, 1));
      EXPECT_EQ(length.end - length.busy, (static_cast<double>(p) / 2 - 1) * ((1 + 2) + 2 - 3)) << p << " " << m;
    }
  }
}

// With the pass times of a transformer, each newer schedule has a smaller bubble.
TEST(Timeline, OfZeroBubbleSchedulesIsShorterThan1f1b) {
  const Count p = 8, m = 32;
  const StagePass split = Of(1, 1.2, 0.8);
  const auto waste = [](const Length& length) { return length.end / length.busy; };
  const double plain = waste(LengthOf({PipelineSchedule::kOneFOneB, p, 1, m}, Of(1, 2)));
  const double h1 = waste(LengthOf({PipelineSchedule::kZbH1, p, 1, m}, split));
  const double v = waste(LengthOf({PipelineSchedule::kZbV, p, 2, m}, split));
  EXPECT_LT(h1, plain);
  EXPECT_LT(v, h1);
  EXPECT_LT(waste(LengthOf({PipelineSchedule::kDualPipe, p, 1, m}, split)), plain);
}

class Draw {
 public:
  explicit Draw(unsigned seed) : state_(seed) {}
  double Real() { return static_cast<double>((state_ = state_ * 1664525u + 1013904223u) >> 8) / (1 << 24); }
  Count Below(Count n) { return static_cast<Count>(Real() * static_cast<double>(n)); }

 private:
  unsigned state_;
};

struct Drawn {
  PipelineShape shape;
  std::vector<StagePass> passes;
  Seconds transfer;
};
Drawn DrawShape(Draw& draw, PipelineSchedule schedule) {
  Drawn drawn;
  PipelineShape& shape = drawn.shape;
  shape.schedule = schedule;
  shape.stages = 2 + 2 * draw.Below(4);
  shape.chunks = schedule == PipelineSchedule::kZbV        ? 2
                 : schedule == PipelineSchedule::kOneFOneB ? 1 + draw.Below(4)
                                                           : 1;
  shape.micro_batches = 1 + draw.Below(draw.Below(2) == 0 ? 12 : 640);
  drawn.transfer = draw.Below(2) == 0 ? Seconds{} : 0.2 * draw.Real() * kS;
  const bool even = draw.Below(3) == 0, ends = draw.Below(2) == 0;
  const double f = 0.5 + draw.Real(), b = 2 * f, w = SplitsBackward(schedule) ? 0.8 * f : 0;
  for (Count i = 0; i < shape.stages * shape.chunks; ++i) {
    const double scale = even ? 1 : 0.6 + draw.Real();
    drawn.passes.push_back(Of(f * scale, b * scale, w * scale));
  }
  if (ends) drawn.passes.front().forward += 0.1 * kS, drawn.passes.back().backward += 0.7 * kS;
  return drawn;
}
constexpr PipelineSchedule kAll[] = {PipelineSchedule::kOneFOneB, PipelineSchedule::kGpipe, PipelineSchedule::kZbH1,
                                     PipelineSchedule::kZbV, PipelineSchedule::kDualPipe};

TEST(ScheduleLength, IsTheEndOfTheTimeline) {
  Draw draw(11);
  for (int trial = 0; trial < 1500; ++trial) {
    const Drawn drawn = DrawShape(draw, trial % 2 == 0 ? PipelineSchedule::kOneFOneB : kAll[trial / 2 % 5]);
    double end = 0;
    for (const ScheduledPass& box : Timeline(drawn.shape, drawn.passes, drawn.transfer))
      end = std::max(end, box.end.base());
    EXPECT_NEAR(ScheduleLength(drawn.shape, drawn.passes, drawn.transfer).base(), end, 1e-11 * end)
        << NameOf(drawn.shape.schedule) << " p " << drawn.shape.stages << " v " << drawn.shape.chunks << " m "
        << drawn.shape.micro_batches;
  }
}

// The order of passes does not depend on times, so a shorter pass never lengthens the schedule.
TEST(ScheduleLength, NeverGrowsWhereAPassShrinks) {
  Draw draw(5);
  for (int trial = 0; trial < 500; ++trial) {
    Drawn drawn = DrawShape(draw, kAll[trial % 5]);
    const double before = ScheduleLength(drawn.shape, drawn.passes, drawn.transfer).base();
    for (StagePass& pass : drawn.passes) {
      if (draw.Below(2) == 0) pass.forward *= draw.Real();
      if (draw.Below(2) == 0) pass.backward *= draw.Real();
      if (draw.Below(2) == 0) pass.weight_gradient *= draw.Real();
    }
    EXPECT_LE(ScheduleLength(drawn.shape, drawn.passes, drawn.transfer * draw.Real()).base(), before * (1 + 1e-11));
  }
}

// Every pass runs once, after its inputs, and a device runs one at a time.
TEST(Timeline, HoldsEveryPassOnceAfterItsInputs) {
  Draw draw(3);
  for (int trial = 0; trial < 300; ++trial) {
    const Drawn drawn = DrawShape(draw, kAll[trial % 5]);
    const PipelineShape& shape = drawn.shape;
    const bool splits = SplitsBackward(shape.schedule);
    const auto visits = static_cast<Count>(drawn.passes.size());
    const std::vector<ScheduledPass> boxes = Timeline(shape, drawn.passes, drawn.transfer);
    EXPECT_EQ(static_cast<Count>(boxes.size()), visits * shape.micro_batches * (splits ? 3 : 2))
        << NameOf(shape.schedule);
    EXPECT_EQ(PassesOf(shape, drawn.passes), static_cast<Count>(boxes.size())) << NameOf(shape.schedule);
    std::vector<double> free(static_cast<std::size_t>(shape.stages), 0);
    std::set<std::tuple<std::string_view, Count, Count, Count>> seen;
    for (const ScheduledPass& box : boxes) {
      double& end = free[static_cast<std::size_t>(box.stage)];
      EXPECT_GE(box.start.base(), end - 1e-9) << NameOf(shape.schedule);
      end = box.end.base();
      EXPECT_TRUE(seen.insert({box.kind, box.stage, box.chunk, box.micro_batch}).second) << NameOf(shape.schedule);
    }
    // The first micro-batch passes all virtual stages forward and back, with transfers between them.
    double sum = 0;
    for (const StagePass& pass : drawn.passes) sum += (pass.forward + pass.backward).base();
    EXPECT_GE(*std::max_element(free.begin(), free.end()), sum - 1e-9);
  }
}

// A stage's row in a cut timeline is the beginning of its row in the whole one.
TEST(Timeline, IsCutToTheFirstPassesOfEachStage) {
  Draw draw(9);
  for (int trial = 0; trial < 200; ++trial) {
    const Drawn drawn = DrawShape(draw, kAll[trial % 5]);
    const Count stages = drawn.shape.stages, each = 12, most = stages * each;
    const auto rows = [&](const std::vector<ScheduledPass>& boxes) {
      std::vector<std::vector<std::tuple<std::string_view, Count, Count, double, double>>> of(
          static_cast<std::size_t>(stages));
      for (const ScheduledPass& box : boxes) {
        of[static_cast<std::size_t>(box.stage)].push_back(
            {box.kind, box.chunk, box.micro_batch, box.start.base(), box.end.base()});
      }
      return of;
    };
    const auto whole = rows(Timeline(drawn.shape, drawn.passes, drawn.transfer));
    const auto cut = rows(Timeline(drawn.shape, drawn.passes, drawn.transfer, most));
    const bool is_cut = PassesOf(drawn.shape, drawn.passes) > most;
    for (std::size_t stage = 0; stage < whole.size(); ++stage) {
      const std::size_t shown = cut[stage].size();
      // DualPipe's passes come in groups of up to three.
      EXPECT_LE(shown, is_cut ? static_cast<std::size_t>(each) + 2 : whole[stage].size());
      EXPECT_GE(shown, std::min<std::size_t>(is_cut ? each : shown, whole[stage].size()))
          << NameOf(drawn.shape.schedule) << " " << stage;
      for (std::size_t i = 0; i < shown && i < whole[stage].size(); ++i) EXPECT_EQ(cut[stage][i], whole[stage][i]);
    }
  }
}

// A billion micro-batches take the slowest stage's passes a billion times under any schedule; the simulation stays
// short.
TEST(ScheduleLength, OfABillionMicroBatchesTakesNoLongSimulation) {
  Draw draw(11);
  for (int trial = 0; trial < 40; ++trial) {
    Drawn drawn = DrawShape(draw, kAll[trial % 5]);
    drawn.shape.micro_batches = (Count{1} << 30) - draw.Below(20);
    std::vector<double> work(static_cast<std::size_t>(drawn.shape.stages), 0);
    const bool both_ways = drawn.shape.schedule == PipelineSchedule::kDualPipe;
    for (std::size_t visit = 0; visit < drawn.passes.size(); ++visit) {
      const StagePass& pass = drawn.passes[visit];
      const double all = (pass.forward + pass.backward + pass.weight_gradient).base() / (both_ways ? 2 : 1);
      const Count stage = StageOf(static_cast<int>(visit), drawn.shape.stages, drawn.shape.schedule);
      work[static_cast<std::size_t>(stage)] += all;
      if (both_ways) work[work.size() - 1 - static_cast<std::size_t>(stage)] += all;
    }
    const double slowest = *std::max_element(work.begin(), work.end()) * static_cast<double>(drawn.shape.micro_batches);
    const double length = ScheduleLength(drawn.shape, drawn.passes, drawn.transfer).base();
    // GPipe waits for the slowest pass of each direction; other schedules may also wait for each other's sends.
    EXPECT_GE(length, slowest * (1 - 1e-9)) << NameOf(drawn.shape.schedule);
    EXPECT_LE(length, 1.6 * slowest) << NameOf(drawn.shape.schedule);
  }
}

// Uneven stages under 1F1B, m >= p: at most the sum + (m - 1)·slowest, at least the slowest stage's own bound.
TEST(Timeline, OfUnevenStagesLiesBetweenItsBounds) {
  Draw draw(7);
  for (int trial = 0; trial < 100; ++trial) {
    const Count p = 2 + trial % 6, m = p + trial % 11;
    std::vector<StagePass> passes;
    double sum = 0, slowest = 0, lower = 0;
    for (Count i = 0; i < p; ++i) {
      const double forward = 0.5 + draw.Real(), backward = 1 + 2 * draw.Real();
      passes.push_back(Of(forward, backward));
      lower = std::max(lower, sum + static_cast<double>(m) * (forward + backward));
      sum += forward + backward;
      slowest = std::max(slowest, forward + backward);
    }
    const double end = ScheduleLength({PipelineSchedule::kOneFOneB, p, 1, m}, passes).base();
    EXPECT_LE(end, sum + static_cast<double>(m - 1) * slowest + 1e-9);
    EXPECT_GE(end, lower - 1e-9);
  }
}

}  // namespace
}  // namespace slipstick
