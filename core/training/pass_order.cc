#include "core/training/pass_order.h"

#include <algorithm>

namespace slipstick {
namespace {

constexpr PassKind kForward = PassKind::kForward, kBackward = PassKind::kBackward, kWeight = PassKind::kWeight;

}  // namespace

PassOrder::PassOrder(const PipelineShape& shape, Count device) {
  const auto i = static_cast<int>(device), p = static_cast<int>(shape.stages),
             m = static_cast<int>(shape.micro_batches);
  // On one device all schedules are the same.
  switch (p == 1 ? PipelineSchedule::kOneFOneB : shape.schedule) {
    case PipelineSchedule::kOneFOneB:
      for (int chunk = 0; chunk < static_cast<int>(shape.chunks); ++chunk) lanes_.push_back({chunk * p + i, 0, m});
      Interleaved(shape, i);
      break;
    case PipelineSchedule::kGpipe:
      lanes_ = {{i, 0, m}};
      Gpipe(shape);
      break;
    case PipelineSchedule::kZbH1:
      lanes_ = {{i, 0, m}};
      ZbH1(shape, i);
      break;
    case PipelineSchedule::kZbV:
      lanes_ = {{i, 0, m}, {2 * p - 1 - i, 0, m}};
      ZbV(shape, i);
      break;
    case PipelineSchedule::kDualPipe:
      both_ways_ = true;
      lanes_ = {{i, 0, (m + 1) / 2}, {p - 1 - i, (m + 1) / 2, m}};
      DualPipe(shape, i);
      break;
  }
}

bool PassOrder::Next(PassGroup& group) {
  group.size = 0;
  while (group.size == 0 && loop_ < loops_.size()) {
    const Loop& loop = loops_[loop_];
    do {
      const Step& step = steps_[step_++];
      Lane& lane = lanes_[static_cast<std::size_t>(step.lane)];
      const int micro_batch = lane.from + lane.done[static_cast<std::size_t>(step.kind)]++;
      if (micro_batch < lane.to)
        group.passes[group.size++] = {lane.visit, micro_batch, both_ways_ ? step.lane : 0, step.kind};
    } while (step_ < loop.last && steps_[step_].joined);
    if (step_ < loop.last) continue;
    if (++round_ == loop.times) ++loop_, round_ = 0;
    if (loop_ < loops_.size()) step_ = loops_[loop_].first;
  }
  return group.size > 0;
}

void PassOrder::Repeat(Count times, const std::vector<Step>& steps) {
  if (times <= 0) return;
  const std::size_t first = steps_.size();
  steps_.insert(steps_.end(), steps.begin(), steps.end());
  loops_.push_back({times, first, steps_.size()});
}

void PassOrder::Gpipe(const PipelineShape& shape) {
  const auto m = static_cast<int>(shape.micro_batches);
  Repeat(m, {{kForward, 0}});
  Repeat(m, {{kBackward, 0}});
}

// Interleaved 1F1B; plain 1F1B if there is one chunk. Each chunk runs p micro-batches before the next chunk does;
// micro-batches missing from the last group are skipped.
void PassOrder::Interleaved(const PipelineShape& shape, int device) {
  const auto p = static_cast<int>(shape.stages), v = static_cast<int>(shape.chunks),
             m = static_cast<int>(shape.micro_batches);
  if (v == 1) {
    const int warm_up = std::min(m, p - 1 - device);
    Repeat(warm_up, {{kForward, 0}});
    Repeat(m - warm_up, {{kForward, 0}, {kBackward, 0}});
    Repeat(warm_up, {{kBackward, 0}});
    return;
  }
  const Count round = Count{p} * v, total = (m + p - 1) / p * round,
              warm_up = std::min<Count>(total, 2 * (p - 1 - device) + (v - 1) * p);
  const auto forward = [&](Count q) { return Step{kForward, static_cast<int>(q % round / p)}; };
  const auto backward = [&](Count q) { return Step{kBackward, v - 1 - static_cast<int>(q % round / p)}; };
  std::vector<Step> both;
  for (Count q = 0; q < warm_up; ++q) Repeat(1, {forward(q)});
  for (Count q = 0; q < round; ++q) both.insert(both.end(), {forward(warm_up + q), backward(q)});
  const Count steady = total - warm_up, rounds = steady / round;
  Repeat(rounds, both);
  for (Count q = rounds * round; q < steady; ++q) Repeat(1, {forward(warm_up + q), backward(q)});
  for (Count q = steady; q < total; ++q) Repeat(1, {backward(q)});
}

void PassOrder::ZbH1(const PipelineShape& shape, int device) {
  const auto p = static_cast<int>(shape.stages), m = static_cast<int>(shape.micro_batches), late = std::min(m, device);
  Repeat(std::min(m, p - device), {{kForward, 0}});
  Repeat(late, {{kBackward, 0}, {kForward, 0}});
  Repeat(m - late, {{kBackward, 0}, {kWeight, 0}, {kForward, 0}});
  Repeat(late, {{kWeight, 0}});
}

void PassOrder::ZbV(const PipelineShape& shape, int device) {
  const auto p = static_cast<int>(shape.stages), m = std::max(2 * p - 1, static_cast<int>(shape.micro_batches));
  constexpr int kDown = 0, kUp = 1;
  Repeat(2 * (p - device) - 1, {{kForward, kDown}});
  Repeat(device, {{kForward, kUp}, {kForward, kDown}});
  Repeat(p - device, {{kForward, kUp}, {kBackward, kUp}, {kWeight, kUp}});
  Repeat(m - p,
         {{kForward, kDown}, {kBackward, kDown}, {kWeight, kDown}, {kForward, kUp}, {kBackward, kUp}, {kWeight, kUp}});
  Repeat(device, {{kBackward, kDown}, {kBackward, kUp}});
  Repeat(p - device, {{kBackward, kDown}, {kWeight, kDown}});
  Repeat(device, {{kWeight, kUp}});
  Repeat(device, {{kWeight, kDown}});
}

// "Near" micro-batches entered the pipeline at the end nearer to the device.
void PassOrder::DualPipe(const PipelineShape& shape, int device) {
  const auto p = static_cast<int>(shape.stages), m = static_cast<int>(shape.micro_batches);
  const int near = 2 * device < p ? 0 : 1, far = 1 - near;
  const int depth = std::min(device, p - 1 - device), to_middle = p / 2 - depth - 1,
            in_half = std::max(2 * p, m + m % 2) / 2;
  Repeat(Count{2} * to_middle, {{kForward, near}});
  Repeat(depth + 1, {{kForward, near}, {kForward, far}});
  Repeat(to_middle, {{kBackward, far}, {kWeight, far}, {kForward, far}});
  const int both = in_half - p + depth + 1;
  const int apart = to_middle == 0 ? 1 : 0;
  Repeat(apart, {{kForward, near},
                 {kBackward, far},
                 {kWeight, far, true},
                 {kForward, far},
                 {kBackward, near, true},
                 {kWeight, near, true}});
  Repeat(both - apart, {{kForward, near},
                        {kBackward, far, true},
                        {kWeight, far, true},
                        {kForward, far},
                        {kBackward, near, true},
                        {kWeight, near, true}});
  Repeat(to_middle,
         {{kBackward, far}, {kWeight, far, true}, {kForward, far}, {kBackward, near, true}, {kWeight, near, true}});
  // The second half of these passes postpones its weight gradients, which then run in the order of postponement.
  const int turn = (depth + 1) / 2;
  std::vector<int> postponed;
  const auto backward = [&](int lane, bool postpone) {
    if (!postpone) return Repeat(1, {{kBackward, lane}, {kWeight, lane, true}});
    Repeat(1, {{kBackward, lane}});
    postponed.push_back(lane);
  };
  for (int i = 0; i < depth + 1; ++i) {
    backward(far, i > turn || (i == turn && depth % 2 == 1));
    backward(near, i >= turn);
  }
  for (int i = 0; i < to_middle; ++i) postponed.push_back(near);
  for (int i = 0; i < to_middle; ++i) Repeat(1, {{kWeight, postponed[static_cast<std::size_t>(i)]}, {kBackward, near}});
  for (std::size_t i = static_cast<std::size_t>(to_middle); i < postponed.size(); ++i)
    Repeat(1, {{kWeight, postponed[i]}});
}

}  // namespace slipstick
