#include "core/training/schedule.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/training/stage.h"

namespace slipstick {
namespace {

constexpr std::array<std::string_view, 3> kKindNames{"forward", "backward", "weight"};

// Any schedule, pass by pass.
class Simulation {
 public:
  Simulation(const PipelineShape& shape, const std::vector<StagePass>& passes, Seconds transfer)
      : shape_(shape), passes_(passes), transfer_(transfer.base()), visits_(static_cast<int>(passes.size())) {
    ends_.assign(3 * passes.size() * static_cast<std::size_t>(shape.micro_batches), -1);
  }

  // Calls `emit(device, pass, start, end)` for every pass; returns the end of the last.
  template <class Emit>
  double Run(const Emit& emit) {
    const auto devices = static_cast<std::size_t>(shape_.stages);
    std::vector<std::vector<Pass>> orders;
    for (std::size_t device = 0; device < devices; ++device) orders.push_back(OrderOf(shape_, static_cast<Count>(device)));
    std::vector<std::size_t> next(devices, 0);
    std::vector<double> free(devices, 0);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t device = 0; device < devices; ++device) {
        const std::vector<Pass>& order = orders[device];
        while (next[device] < order.size()) {
          std::size_t last = next[device] + 1;
          while (last < order.size() && order[last].joined) ++last;
          const double start = StartOf(order, next[device], last, free[device]);
          if (start < 0) break;
          double end = start;
          for (std::size_t i = next[device]; i < last; ++i) {
            const double began = end;
            end += Duration(order[i]);
            emit(static_cast<Count>(device), order[i], began, end);
          }
          for (std::size_t i = next[device]; i < last; ++i) EndOf(order[i].visit, order[i].micro_batch, order[i].kind) = end;
          free[device] = end;
          next[device] = last;
          moved = true;
        }
      }
    }
    for (std::size_t device = 0; device < devices; ++device) assert(next[device] == orders[device].size());
    return *std::max_element(free.begin(), free.end());
  }

 private:
  double& EndOf(int visit, int micro_batch, PassKind kind) {
    const auto row = static_cast<std::size_t>(static_cast<int>(kind) * visits_ + visit);
    return ends_[row * static_cast<std::size_t>(shape_.micro_batches) + static_cast<std::size_t>(micro_batch)];
  }
  [[nodiscard]] double Duration(const Pass& pass) const {
    const StagePass& times = passes_[static_cast<std::size_t>(pass.visit)];
    return (pass.kind == PassKind::kForward ? times.forward : pass.kind == PassKind::kBackward ? times.backward : times.weight).base();
  }
  // When what `from` sends is at `to`; negative: not known yet.
  double Arrival(int from, int to, int micro_batch, PassKind kind) {
    const double end = EndOf(from, micro_batch, kind);
    if (end < 0) return end;
    return StageOf(from, shape_.stages, shape_.schedule) == StageOf(to, shape_.stages, shape_.schedule) ? end : end + transfer_;
  }
  double Ready(const Pass& pass) {
    switch (pass.kind) {
      case PassKind::kForward:
        return pass.visit == 0 ? 0 : Arrival(pass.visit - 1, pass.visit, pass.micro_batch, PassKind::kForward);
      case PassKind::kBackward:
        return pass.visit + 1 == visits_ ? EndOf(pass.visit, pass.micro_batch, PassKind::kForward)
                                         : Arrival(pass.visit + 1, pass.visit, pass.micro_batch, PassKind::kBackward);
      case PassKind::kWeight:
        return EndOf(pass.visit, pass.micro_batch, PassKind::kBackward);
    }
    return 0;
  }
  // Of the passes [first, last) that run together; negative: not yet.
  double StartOf(const std::vector<Pass>& order, std::size_t first, std::size_t last, double free) {
    double start = free;
    for (std::size_t i = first; i < last; ++i) {
      const bool own = i > first && order[i].kind == PassKind::kWeight;  // of the backward pass just before it
      const double ready = own ? 0 : Ready(order[i]);
      if (ready < 0) return -1;
      start = std::max(start, ready);
    }
    return start;
  }

  const PipelineShape& shape_;
  const std::vector<StagePass>& passes_;
  double transfer_;
  int visits_;
  std::vector<double> ends_;
};

// 1F1B and its interleaving without orders or boxes: pass q of a direction needs pass q of the neighbour, whose ends are kept.
class Interleaving {
 public:
  Interleaving(const PipelineShape& shape, const std::vector<StagePass>& passes, Seconds transfer)
      : p_(static_cast<int>(shape.stages)), v_(static_cast<int>(shape.chunks)), passes_(passes), transfer_(transfer.base()) {}

  double Length(Count micro_batches) {
    const int m = static_cast<int>(micro_batches), total = v_ == 1 ? m : (m + p_ - 1) / p_ * p_ * v_;
    total_ = total;
    chunk_.assign(At(total), 0);
    missing_.assign(At(total), false);
    for (int first = 0, q = 0; v_ > 1 && first < m; first += p_) {
      for (int chunk = 0; chunk < v_; ++chunk) {
        for (int i = 0; i < p_; ++i, ++q) chunk_[At(q)] = chunk, missing_[At(q)] = first + i >= m;
      }
    }
    forward_.resize(At(p_ * total));
    backward_.resize(At(p_ * total));
    devices_.assign(At(p_), {});
    for (bool moved = true; moved;) {
      moved = false;
      for (int i = 0; i < p_; ++i) moved |= Advance(i);
      for (int i = p_ - 1; i-- > 0;) moved |= Advance(i);
    }
    double end = 0;
    for (const Device& device : devices_) {
      assert(device.backward == total);
      end = std::max(end, device.free);
    }
    return end;
  }

 private:
  struct Device {
    int forward = 0, backward = 0;  // passes done
    double free = 0;
  };
  static std::size_t At(int place) { return static_cast<std::size_t>(place); }

  // Runs the passes of a device until one has to wait.
  bool Advance(int i) {
    Device& device = devices_[At(i)];
    const int warm_up = v_ == 1 ? p_ - 1 - i : 2 * (p_ - 1 - i) + (v_ - 1) * p_;
    bool moved = false;
    for (; device.backward < total_; moved = true) {
      if (device.forward < total_ && device.forward - device.backward <= warm_up) {
        if (!Forward(i, device)) return moved;
      } else if (!Backward(i, device)) {
        return moved;
      }
    }
    return moved;
  }
  bool Forward(int i, Device& device) {
    const int q = device.forward, chunk = chunk_[At(q)];
    if (missing_[At(q)]) return ++device.forward > 0;
    double ready = 0;
    if (i > 0) {
      if (devices_[At(i - 1)].forward <= q) return false;
      ready = forward_[At((i - 1) * total_ + q)] + transfer_;
    } else if (chunk > 0) {
      const int before = q - p_;
      if (devices_.back().forward <= before) return false;
      ready = forward_[At((p_ - 1) * total_ + before)] + (p_ > 1 ? transfer_ : 0);
    }
    device.free = std::max(device.free, ready) + passes_[At(chunk * p_ + i)].forward.base();
    forward_[At(i * total_ + q)] = device.free;
    ++device.forward;
    return true;
  }
  bool Backward(int i, Device& device) {
    const int r = device.backward, chunk = v_ - 1 - chunk_[At(r)];
    if (missing_[At(r)]) return ++device.backward > 0;
    double ready = 0;
    if (i < p_ - 1) {
      if (devices_[At(i + 1)].backward <= r) return false;
      ready = backward_[At((i + 1) * total_ + r)] + transfer_;
    } else if (chunk < v_ - 1) {
      const int before = r - p_;
      if (devices_.front().backward <= before) return false;
      ready = backward_[At(before)] + (p_ > 1 ? transfer_ : 0);
    } else {
      const int last = r + (v_ - 1) * p_;  // the same micro-batch's forward pass on the last chunk
      if (device.forward <= last) return false;
      ready = forward_[At(i * total_ + last)];
    }
    device.free = std::max(device.free, ready) + passes_[At(chunk * p_ + i)].backward.base();
    backward_[At(i * total_ + r)] = device.free;
    ++device.backward;
    return true;
  }

  int p_, v_, total_ = 0;
  const std::vector<StagePass>& passes_;
  double transfer_;
  std::vector<int> chunk_;                  // of pass q
  std::vector<char> missing_;               // whether the last group lacks its micro-batch
  std::vector<double> forward_, backward_;  // ends, by device and pass
  std::vector<Device> devices_;
};

// The end of the last pass, and the most that a device has to do.
struct Run {
  double length = 0, work = 0;
};

// The length of a schedule from `run(micro_batches)`. Once some groups of p micro-batches have filled the pipeline, p more take the
// busiest device's work for p: what two lengths show is so for all longer ones. Where they do not, every pass is run.
template <class RunOf>
double Settled(const PipelineShape& shape, const RunOf& run) {
  constexpr Count kFilled = 5;
  const Count p = shape.stages, m = shape.micro_batches, groups = m / p;
  if (groups > 2 * kFilled) {
    const Count few = kFilled * p + m % p;
    const Run shorter = run(few), longer = run(few + p);
    const double growth = longer.work - shorter.work;
    if (std::abs(longer.length - shorter.length - growth) <= 1e-12 * longer.length) {
      return longer.length + static_cast<double>(groups - kFilled - 1) * growth;
    }
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
    const double length = Simulation(part, passes, transfer).Run([&](Count device, const Pass&, double start, double end) {
      work[static_cast<std::size_t>(device)] += end - start;
    });
    return Run{length, *std::max_element(work.begin(), work.end())};
  });
}

// All forward, then all backward: a device's last end is all that its next pass needs.
double GpipeLength(const PipelineShape& shape, const std::vector<StagePass>& passes, Seconds transfer) {
  const auto p = static_cast<std::size_t>(shape.stages);
  std::vector<double> ends(p, 0);
  for (Count micro_batch = 0; micro_batch < shape.micro_batches; ++micro_batch) {
    for (std::size_t i = 0; i < p; ++i) {
      ends[i] = std::max(ends[i], i > 0 ? ends[i - 1] + transfer.base() : 0) + passes[i].forward.base();
    }
  }
  for (Count micro_batch = 0; micro_batch < shape.micro_batches; ++micro_batch) {
    for (std::size_t i = p; i-- > 0;) {
      ends[i] = std::max(ends[i], i + 1 < p ? ends[i + 1] + transfer.base() : 0) + passes[i].backward.base();
    }
  }
  return *std::max_element(ends.begin(), ends.end());
}

}  // namespace

std::vector<ScheduledPass> Timeline(const PipelineShape& shape, const std::vector<StagePass>& passes, Seconds transfer) {
  std::vector<ScheduledPass> boxes;
  Simulation(shape, passes, transfer).Run([&](Count device, const Pass& pass, double start, double end) {
    boxes.push_back({device, pass.visit / shape.stages, pass.micro_batch, kKindNames[static_cast<std::size_t>(pass.kind)],
                     Seconds::FromBase(start), Seconds::FromBase(end)});
  });
  return boxes;
}

Seconds ScheduleLength(const PipelineShape& shape, const std::vector<StagePass>& passes, Seconds transfer) {
  if (shape.schedule == PipelineSchedule::kGpipe && shape.chunks == 1) return Seconds::FromBase(GpipeLength(shape, passes, transfer));
  const bool interleaves = shape.schedule == PipelineSchedule::kOneFOneB || shape.stages == 1;
  return Seconds::FromBase(interleaves ? InterleavedLength(shape, passes, transfer) : SimulatedLength(shape, passes, transfer));
}

}  // namespace slipstick
