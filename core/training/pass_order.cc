// The orders of pipeline schedules.
#include <algorithm>

#include "core/training/schedule.h"
#include "core/training/stage.h"

namespace slipstick {
namespace {

class Order {
 public:
  explicit Order(Count micro_batches) : micro_batches_(static_cast<int>(micro_batches)) {}
  void Forward(int visit, int micro_batch, bool joined = false) { Add(visit, micro_batch, PassKind::kForward, joined); }
  void Backward(int visit, int micro_batch, bool joined = false) { Add(visit, micro_batch, PassKind::kBackward, joined); }
  void Weight(int visit, int micro_batch, bool joined = false) { Add(visit, micro_batch, PassKind::kWeight, joined); }
  std::vector<Pass> Take() { return std::move(passes_); }

 private:
  void Add(int visit, int micro_batch, PassKind kind, bool joined) {
    // The companion of a pass that is left out stands alone.
    const bool leader_missing = joined && leader_left_out_;
    if (!joined) leader_left_out_ = micro_batch >= micro_batches_;
    if (micro_batch >= micro_batches_) return;
    passes_.push_back({visit, micro_batch, kind, joined && !leader_missing});
    if (leader_missing) leader_left_out_ = false;
  }
  int micro_batches_;
  bool leader_left_out_ = false;
  std::vector<Pass> passes_;
};

std::vector<Pass> Gpipe(const PipelineShape& shape, int device) {
  Order order(shape.micro_batches);
  const auto m = static_cast<int>(shape.micro_batches);
  for (int i = 0; i < m; ++i) order.Forward(device, i);
  for (int i = 0; i < m; ++i) order.Backward(device, i);
  return order.Take();
}

// Interleaved 1F1B; plain where there is one chunk. Chunk passes go in groups of p micro-batches a chunk; what a last group
// lacks is left out of it.
std::vector<Pass> Interleaved(const PipelineShape& shape, int device) {
  const auto p = static_cast<int>(shape.stages), v = static_cast<int>(shape.chunks), m = static_cast<int>(shape.micro_batches);
  Order order(m);
  const int total = v == 1 ? m : (m + p - 1) / p * p * v;
  const int warm_up = v == 1 ? std::min(m, p - 1 - device) : std::min(total, 2 * (p - 1 - device) + (v - 1) * p);
  const auto at = [&](int q, bool forward) {
    const int group = q / (p * v), inside = q - group * p * v;
    const int chunk = v == 1 ? 0 : inside / p, micro_batch = v == 1 ? q : group * p + inside % p;
    forward ? order.Forward(chunk * p + device, micro_batch) : order.Backward((v - 1 - chunk) * p + device, micro_batch);
  };
  for (int q = 0; q < warm_up; ++q) at(q, true);
  for (int q = warm_up; q < total; ++q) {
    at(q, true);
    at(q - warm_up, false);
  }
  for (int q = total - warm_up; q < total; ++q) at(q, false);
  return order.Take();
}

std::vector<Pass> ZbH1(const PipelineShape& shape, int device) {
  const auto p = static_cast<int>(shape.stages), m = static_cast<int>(shape.micro_batches);
  Order order(m);
  int forward = 0, weight = 0;
  for (const int warm_up = std::min(m, p - device); forward < warm_up; ++forward) order.Forward(device, forward);
  for (int backward = 0; backward < m; ++backward) {
    order.Backward(device, backward);
    if (backward >= device) order.Weight(device, weight++);
    if (forward < m) order.Forward(device, forward++);
  }
  while (weight < m) order.Weight(device, weight++);
  return order.Take();
}

std::vector<Pass> ZbV(const PipelineShape& shape, int device) {
  const auto p = static_cast<int>(shape.stages);
  const int m = std::max(2 * p - 1, static_cast<int>(shape.micro_batches)), down = device, up = 2 * p - 1 - device;
  Order order(shape.micro_batches);
  int forward_down = 0, forward_up = 0, backward_down = 0, backward_up = 0;
  const auto whole_backward_up = [&] {
    order.Backward(up, backward_up);
    order.Weight(up, backward_up++);
  };
  for (int i = 0; i < 2 * (p - device) - 1; ++i) order.Forward(down, forward_down++);
  for (int i = 0; i < device; ++i) {
    order.Forward(up, forward_up++);
    order.Forward(down, forward_down++);
  }
  for (int i = 0; i < p - device; ++i) {
    order.Forward(up, forward_up++);
    whole_backward_up();
  }
  while (forward_up < forward_down || forward_down < m) {
    if (forward_down < m) order.Forward(down, forward_down++);
    order.Backward(down, backward_down);
    order.Weight(down, backward_down++);
    order.Forward(up, forward_up++);
    whole_backward_up();
  }
  int weight_down = backward_down, weight_up = backward_up;
  for (int i = 0; i < device; ++i) {
    order.Backward(down, backward_down++);
    order.Backward(up, backward_up++);
  }
  for (int i = 0; i < p - device; ++i) {
    order.Backward(down, backward_down++);
    order.Weight(down, weight_down++);
  }
  while (weight_up < m) order.Weight(up, weight_up++);
  while (weight_down < m) order.Weight(down, weight_down++);
  return order.Take();
}

// One direction of the two that a device of dualpipe sees: "near" micro-batches entered at the end it is nearer to.
class DualPipeOrder {
 public:
  DualPipeOrder(const PipelineShape& shape, int device) : order_(shape.micro_batches), device_(device) {
    p_ = static_cast<int>(shape.stages);
    first_half_ = static_cast<int>((shape.micro_batches + 1) / 2);
    all_ = static_cast<int>(shape.micro_batches);
    far_side_ = 2 * device >= p_;
  }
  std::vector<Pass> Take() { return order_.Take(); }

  void Forward(bool far, bool joined = false) {
    const int direction = Direction(far), i = forward_[direction]++;
    order_.Forward(Visit(direction), MicroBatch(direction, i), joined);
  }
  // The whole backward pass, or its first part alone.
  void Backward(bool far, bool postpone = false, bool joined = false) {
    const int direction = Direction(far), i = backward_[direction]++;
    const int visit = Visit(direction), micro_batch = MicroBatch(direction, i);
    order_.Backward(visit, micro_batch, joined);
    if (postpone) {
      waiting_.push_back({visit, micro_batch});
    } else {
      order_.Weight(visit, micro_batch, true);
    }
  }
  void Weight() {
    const auto [visit, micro_batch] = waiting_[next_waiting_++];
    order_.Weight(visit, micro_batch);
  }
  void Together(bool forward_far, bool backward_far) {
    Forward(forward_far);
    Backward(backward_far, false, true);
  }

 private:
  [[nodiscard]] int Direction(bool far) const { return far != far_side_ ? 1 : 0; }
  [[nodiscard]] int Visit(int direction) const { return direction == 0 ? device_ : p_ - 1 - device_; }
  // Those that the run does not have are numbered past its end.
  [[nodiscard]] int MicroBatch(int direction, int i) const {
    if (direction == 0) return i < first_half_ ? i : all_ + i;
    return first_half_ + i < all_ ? first_half_ + i : all_ + i;
  }
  struct Waiting {
    int visit, micro_batch;
  };
  Order order_;
  int device_, p_ = 2, first_half_ = 1, all_ = 1;
  bool far_side_ = false;
  std::array<int, 2> forward_{}, backward_{};
  std::vector<Waiting> waiting_;
  std::size_t next_waiting_ = 0;
};

std::vector<Pass> DualPipe(const PipelineShape& shape, int device) {
  const auto p = static_cast<int>(shape.stages), m = static_cast<int>(shape.micro_batches);
  const int half = p / 2, depth = std::min(device, p - 1 - device), to_middle = half - depth - 1;
  const int in_half = std::max(2 * p, m + m % 2) / 2;
  DualPipeOrder order(shape, device);
  for (int i = 0; i < 2 * to_middle; ++i) order.Forward(false);
  for (int i = 0; i < depth + 1; ++i) {
    order.Forward(false);
    order.Forward(true);
  }
  for (int i = 0; i < to_middle; ++i) {
    order.Backward(true, true);
    order.Weight();
    order.Forward(true);
  }
  for (int i = 0; i < in_half - p + depth + 1; ++i) {
    if (i == 0 && to_middle == 0) {
      order.Forward(false);
      order.Backward(true);
    } else {
      order.Together(false, true);
    }
    order.Together(true, false);
  }
  for (int i = 0; i < to_middle; ++i) {
    order.Backward(true);
    order.Together(true, false);
  }
  // The second half of these leave their weight gradients for later.
  const int turn = (depth + 1) / 2;
  for (int i = 0; i < depth + 1; ++i) {
    order.Backward(true, i > turn || (i == turn && depth % 2 == 1));
    order.Backward(false, i >= turn);
  }
  for (int i = 0; i < to_middle; ++i) {
    order.Weight();
    order.Backward(false, true);
  }
  for (int i = 0; i < depth + 1; ++i) order.Weight();
  return order.Take();
}

}  // namespace

bool SplitsBackward(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::kZbH1 || schedule == PipelineSchedule::kZbV || schedule == PipelineSchedule::kDualPipe;
}

std::vector<Pass> OrderOf(const PipelineShape& shape, Count device) {
  const auto i = static_cast<int>(device);
  // One device has nobody to wait for.
  if (shape.stages == 1) return Interleaved({PipelineSchedule::kOneFOneB, 1, shape.chunks, shape.micro_batches}, 0);
  switch (shape.schedule) {
    case PipelineSchedule::kGpipe:
      return Gpipe(shape, i);
    case PipelineSchedule::kZbH1:
      return ZbH1(shape, i);
    case PipelineSchedule::kZbV:
      return ZbV(shape, i);
    case PipelineSchedule::kDualPipe:
      return DualPipe(shape, i);
    case PipelineSchedule::kOneFOneB:
      break;
  }
  return Interleaved(shape, i);
}

}  // namespace slipstick
