#include "core/training/schedule.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

#include "core/training/pass_order.h"

namespace slipstick {
namespace {

constexpr std::array<std::string_view, 3> kKindNames{"forward", "backward", "weight"};

// FIFO of the end times of activations (or gradients) sent and not yet consumed; both ends follow the same order.
class Queue {
 public:
  [[nodiscard]] bool empty() const { return taken_ == ends_.size(); }
  [[nodiscard]] double front() const { return ends_[taken_]; }
  void Push(double end) {
    if (taken_ > kKept && 2 * taken_ > ends_.size()) {
      ends_.erase(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(taken_));
      taken_ = 0;
    }
    ends_.push_back(end);
  }
  void Pop() { ++taken_; }

 private:
  static constexpr std::size_t kKept = 64;
  std::size_t taken_ = 0;
  std::vector<double> ends_;
};

// Simulates any schedule, pass by pass. A device runs its passes in order and waits only for messages from its
// neighbors; only messages in flight are stored.
class Simulation {
 public:
  Simulation(const PipelineShape& shape, const std::vector<StagePass>& passes, Seconds transfer)
      : shape_(shape),
        passes_(passes),
        transfer_(transfer.base()),
        visits_(static_cast<int>(passes.size())),
        sent_(4 * passes.size()) {}

  // Calls `emit(device, pass, start, end)` for the first `most` passes of each device; returns the end of the last
  // pass.
  template <class Emit>
  double Run(const Emit& emit, Count most = std::numeric_limits<Count>::max()) {
    struct Device {
      PassOrder order;
      PassGroup group;  // next to run
      bool more;
      double free = 0;
      Count done = 0;
    };
    std::vector<Device> devices;
    for (Count i = 0; i < shape_.stages; ++i) {
      Device& device = devices.emplace_back(Device{PassOrder(shape_, i), {}, true});
      device.more = device.order.Next(device.group);
    }
    for (bool moved = true; moved;) {
      moved = false;
      for (Count i = 0; i < shape_.stages; ++i) {
        Device& device = devices[static_cast<std::size_t>(i)];
        for (; device.more && device.done < most && IsReady(device.group);
             device.more = device.order.Next(device.group)) {
          double end = Start(device.group, device.free);
          for (std::size_t k = 0; k < device.group.size; ++k) {
            const double began = end;
            end += Duration(device.group.passes[k]);
            emit(i, device.group.passes[k], began, end);
          }
          for (std::size_t k = 0; k < device.group.size; ++k) Send(device.group.passes[k], end);
          device.free = end;
          device.done += static_cast<Count>(device.group.size);
          moved = true;
        }
      }
    }
    double end = 0;
    for (const Device& device : devices) {
      assert(!device.more || device.done >= most);
      end = std::max(end, device.free);
    }
    return end;
  }

 private:
  [[nodiscard]] double Duration(const Pass& pass) const {
    const StagePass& times = passes_[static_cast<std::size_t>(pass.visit)];
    return (pass.kind == PassKind::kForward    ? times.forward
            : pass.kind == PassKind::kBackward ? times.backward
                                               : times.weight_gradient)
        .base();
  }
  // Messages of the virtual stage `visit`, in the direction of the pass.
  Queue& Sent(int visit, const Pass& pass) {
    const Count row = 2 * pass.direction + (pass.kind == PassKind::kForward ? 0 : 1);
    return sent_[static_cast<std::size_t>(row * visits_ + visit)];
  }
  // Neighboring virtual stages that feed and are fed by a pass; -1: none. Weight gradients, and the turn from forward
  // to backward on the last virtual stage, need no message: the device's own order ensures them.
  [[nodiscard]] int From(const Pass& pass) const {
    if (pass.kind == PassKind::kForward) return pass.visit - 1;
    return pass.kind == PassKind::kBackward && pass.visit + 1 < visits_ ? pass.visit + 1 : -1;
  }
  [[nodiscard]] int To(const Pass& pass) const {
    if (pass.kind == PassKind::kForward) return pass.visit + 1 < visits_ ? pass.visit + 1 : -1;
    return pass.kind == PassKind::kBackward ? pass.visit - 1 : -1;
  }
  bool IsReady(const PassGroup& group) {
    for (std::size_t k = 0; k < group.size; ++k) {
      const int from = From(group.passes[k]);
      if (from >= 0 && Sent(from, group.passes[k]).empty()) return false;
    }
    return true;
  }
  double Start(const PassGroup& group, double free) {
    double start = free;
    for (std::size_t k = 0; k < group.size; ++k) {
      const int from = From(group.passes[k]);
      if (from < 0) continue;
      Queue& sent = Sent(from, group.passes[k]);
      start = std::max(start, sent.front());
      sent.Pop();
    }
    return start;
  }
  void Send(const Pass& pass, double end) {
    const int to = To(pass);
    if (to < 0) return;
    const bool stays =
        StageOf(pass.visit, shape_.stages, shape_.schedule) == StageOf(to, shape_.stages, shape_.schedule);
    Sent(pass.visit, pass).Push(stays ? end : end + transfer_);
  }

  const PipelineShape& shape_;
  const std::vector<StagePass>& passes_;
  double transfer_;
  int visits_;
  std::vector<Queue> sent_;
};

// 1F1B, plain or interleaved, without pass orders or a timeline: pass q of a direction needs pass q of the neighbor.
// Only the most recent end times are stored.
class Interleaving {
 public:
  Interleaving(const PipelineShape& shape, const std::vector<StagePass>& passes, Seconds transfer)
      : p_(static_cast<int>(shape.stages)),
        v_(static_cast<int>(shape.chunks)),
        passes_(passes),
        transfer_(transfer.base()) {
    // A device leads another by at most a warm-up, 2(p - 1) + (v - 1)p passes, plus p that the last group may lack.
    for (kept_ = 1; kept_ < (v_ + 3) * p_;) kept_ *= 2;
    forward_.resize(At(p_ * kept_));
    backward_.resize(At(p_ * kept_));
  }

  double Length(Count micro_batches) {
    m_ = static_cast<int>(micro_batches);
    total_ = v_ == 1 ? m_ : (m_ + p_ - 1) / p_ * p_ * v_;
    devices_.assign(At(p_), {});
    for (bool moved = true; moved;) {
      moved = false;
      for (int i = 0; i < p_; ++i) moved |= Advance(i);
      for (int i = p_ - 1; i-- > 0;) moved |= Advance(i);
    }
    double end = 0;
    for (const Device& device : devices_) {
      assert(device.backward.done == total_);
      end = std::max(end, device.free);
    }
    return end;
  }

 private:
  struct Passes {  // of one direction
    int done = 0;
    // The next pass: its chunk, and its index in the group of p micro-batches that begins at micro-batch `first`.
    int chunk = 0, index = 0, first = 0;
  };
  struct Device {
    Passes forward, backward;
    double free = 0;
  };
  static std::size_t At(int index) { return static_cast<std::size_t>(index); }
  [[nodiscard]] double& ForwardEnd(int device, int q) { return forward_[At(device * kept_ + (q & (kept_ - 1)))]; }
  [[nodiscard]] double& BackwardEnd(int device, int q) { return backward_[At(device * kept_ + (q & (kept_ - 1)))]; }
  // Whether the next pass's micro-batch is missing from an incomplete last group.
  [[nodiscard]] bool IsMissing(const Passes& passes) const { return v_ > 1 && passes.first + passes.index >= m_; }
  void Done(Passes& passes) const {
    ++passes.done;
    if (v_ == 1 || ++passes.index < p_) return;
    passes.index = 0;
    if (++passes.chunk == v_) passes.chunk = 0, passes.first += p_;
  }

  // Runs passes of a device until one must wait; false if none could run.
  bool Advance(int i) {
    Device& device = devices_[At(i)];
    const int warm_up = v_ == 1 ? p_ - 1 - i : 2 * (p_ - 1 - i) + (v_ - 1) * p_;
    bool moved = false;
    for (; device.backward.done < total_; moved = true) {
      if (device.forward.done < total_ && device.forward.done - device.backward.done <= warm_up) {
        if (!Forward(i, device)) return moved;
        Done(device.forward);
      } else {
        if (!Backward(i, device)) return moved;
        Done(device.backward);
      }
    }
    return moved;
  }
  bool Forward(int i, Device& device) {
    const int q = device.forward.done, chunk = device.forward.chunk;
    if (IsMissing(device.forward)) return true;
    double ready = 0;
    if (i > 0) {
      if (devices_[At(i - 1)].forward.done <= q) return false;
      ready = ForwardEnd(i - 1, q) + transfer_;
    } else if (chunk > 0) {
      const int before = q - p_;
      if (devices_.back().forward.done <= before) return false;
      ready = ForwardEnd(p_ - 1, before) + (p_ > 1 ? transfer_ : 0);
    }
    device.free = std::max(device.free, ready) + passes_[At(chunk * p_ + i)].forward.base();
    ForwardEnd(i, q) = device.free;
    return true;
  }
  bool Backward(int i, Device& device) {
    const int r = device.backward.done, chunk = v_ - 1 - device.backward.chunk;
    if (IsMissing(device.backward)) return true;
    double ready = 0;
    if (i < p_ - 1) {
      if (devices_[At(i + 1)].backward.done <= r) return false;
      ready = BackwardEnd(i + 1, r) + transfer_;
    } else if (chunk < v_ - 1) {
      const int before = r - p_;
      if (devices_.front().backward.done <= before) return false;
      ready = BackwardEnd(0, before) + (p_ > 1 ? transfer_ : 0);
    } else {
      const int last = r + (v_ - 1) * p_;  // forward pass of the same micro-batch on the last chunk
      if (device.forward.done <= last) return false;
      ready = ForwardEnd(i, last);
    }
    device.free = std::max(device.free, ready) + passes_[At(chunk * p_ + i)].backward.base();
    BackwardEnd(i, r) = device.free;
    return true;
  }

  int p_, v_, m_ = 0, total_ = 0, kept_ = 1;
  const std::vector<StagePass>& passes_;
  double transfer_;
  std::vector<double> forward_, backward_;  // end times by device and pass, the last `kept_` of each
  std::vector<Device> devices_;
};

// End of the last pass, and the busiest device's total pass time.
struct Run {
  double length = 0, work = 0;
};

// Length of a schedule from `run(micro_batches)`. In steady state, p further micro-batches always add the same time:
// the busiest device's time for them, or more if devices wait for each other in turn, but never less. Once p further
// micro-batches add that minimum, or the same as before, the length is extrapolated; at the latest after `kMostPasses`
// passes.
template <class RunOf>
double Settled(const PipelineShape& shape, const RunOf& run) {
  constexpr Count kFilled = 5, kMostPasses = 1 << 20;
  const Count p = shape.stages, m = shape.micro_batches, groups = m / p;
  double added_before = 0;
  for (Count filled = kFilled; groups > 4 * filled; filled *= 2) {
    const Count few = filled * p + m % p;
    const Run shorter = run(few), longer = run(few + p);
    const double growth = longer.work - shorter.work, added = longer.length - shorter.length;
    const auto is_equal = [&](double other) { return std::abs(added - other) <= 1e-12 * longer.length; };
    const bool is_settled = is_equal(growth) || (added > growth && is_equal(added_before));
    if (is_settled || few * p * shape.chunks > kMostPasses)
      return longer.length + static_cast<double>(groups - filled - 1) * (is_equal(growth) ? growth : added);
    added_before = added;
  }
  return run(m).length;
}

double InterleavedLength(const PipelineShape& shape, const std::vector<StagePass>& passes, Seconds transfer) {
  Interleaving interleaving(shape, passes, transfer);
  double slowest = 0;
  for (Count device = 0; device < shape.stages; ++device) {
    double work = 0;
    for (Count visit = device; visit < shape.stages * shape.chunks; visit += shape.stages) {
      const StagePass& pass = passes[static_cast<std::size_t>(visit)];
      work += (pass.forward + pass.backward).base();
    }
    slowest = std::max(slowest, work);
  }
  return Settled(shape, [&](Count micro_batches) {
    return Run{interleaving.Length(micro_batches), static_cast<double>(micro_batches) * slowest};
  });
}

double SimulatedLength(const PipelineShape& shape, const std::vector<StagePass>& passes, Seconds transfer) {
  return Settled(shape, [&](Count micro_batches) {
    PipelineShape part = shape;
    part.micro_batches = micro_batches;
    std::vector<double> work(static_cast<std::size_t>(shape.stages), 0);
    const double length =
        Simulation(part, passes, transfer).Run([&](Count device, const Pass&, double start, double end) {
          work[static_cast<std::size_t>(device)] += end - start;
        });
    return Run{length, *std::max_element(work.begin(), work.end())};
  });
}

// All forward passes, then all backward passes: in each direction the first micro-batch passes every stage, and the
// others follow at the pace of the slowest stage.
double GpipeLength(const PipelineShape& shape, const std::vector<StagePass>& passes, Seconds transfer) {
  Seconds once, forward, backward;
  for (const StagePass& pass : passes) {
    once += pass.forward + pass.backward;
    forward = max(forward, pass.forward);
    backward = max(backward, pass.backward);
  }
  const auto hops = static_cast<double>(2 * (shape.stages - 1)), others = static_cast<double>(shape.micro_batches - 1);
  return (once + hops * transfer + others * (forward + backward)).base();
}

}  // namespace

std::vector<ScheduledPass> Timeline(const PipelineShape& shape, const std::vector<StagePass>& passes, Seconds transfer,
                                    Count most) {
  std::vector<ScheduledPass> boxes;
  const auto add = [&](Count device, const Pass& pass, double start, double end) {
    boxes.push_back({device, pass.visit / shape.stages, pass.micro_batch,
                     kKindNames[static_cast<std::size_t>(pass.kind)], Seconds::FromBase(start),
                     Seconds::FromBase(end)});
  };
  const bool is_whole = PassesOf(shape, passes) <= most;
  Simulation(shape, passes, transfer)
      .Run(add, is_whole ? std::numeric_limits<Count>::max() : std::max<Count>(1, most / shape.stages));
  return boxes;
}

Count PassesOf(const PipelineShape& shape, const std::vector<StagePass>& passes) {
  const Count kinds = shape.stages > 1 && SplitsBackward(shape.schedule) ? 3 : 2;
  return static_cast<Count>(passes.size()) * kinds * shape.micro_batches;
}

Seconds ScheduleLength(const PipelineShape& shape, const std::vector<StagePass>& passes, Seconds transfer) {
  if (shape.schedule == PipelineSchedule::kGpipe && shape.chunks == 1)
    return Seconds::FromBase(GpipeLength(shape, passes, transfer));
  const bool interleaves = shape.schedule == PipelineSchedule::kOneFOneB || shape.stages == 1;
  return Seconds::FromBase(interleaves ? InterleavedLength(shape, passes, transfer)
                                       : SimulatedLength(shape, passes, transfer));
}

}  // namespace slipstick
