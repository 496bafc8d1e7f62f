#include "core/training/schedule.h"

#include <algorithm>
#include <limits>

#include "core/training/stage.h"

namespace slipstick {
namespace {

enum class Kind : std::int8_t { kForward, kBackward, kWeight };
constexpr std::array<std::string_view, 3> kKindNames{"forward", "backward", "weight"};

struct Pass {
  Count visit = 0;  // virtual stage
  Count micro_batch = 0;
  Kind kind = Kind::kForward;
};

// Times at which passes end; negative: not yet.
class Ends {
 public:
  Ends(Count visits, Count micro_batches)
      : micro_batches_(micro_batches), ends_(static_cast<std::size_t>(3 * visits * micro_batches), -1) {}
  double& Of(const Pass& pass) {
    const Count place = (static_cast<Count>(pass.kind) + 3 * pass.visit) * micro_batches_ + pass.micro_batch;
    return ends_[static_cast<std::size_t>(place)];
  }

 private:
  Count micro_batches_;
  std::vector<double> ends_;
};

// The order of one stage's passes, for schedules that fix it.
std::vector<Pass> OrderOf(const PipelineShape& shape, Count stage) {
  const Count p = shape.stages, v = shape.chunks, m = shape.micro_batches;
  std::vector<Pass> order;
  if (shape.schedule == PipelineSchedule::kGpipe) {
    for (Count i = 0; i < m; ++i) order.push_back({stage, i, Kind::kForward});
    for (Count i = 0; i < m; ++i) order.push_back({stage, i, Kind::kBackward});
    return order;
  }
  if (shape.schedule == PipelineSchedule::kZbH1) {
    const Count warm_up = std::min(m, p - stage);
    Count forward = 0, weight = 0;
    for (; forward < warm_up; ++forward) order.push_back({stage, forward, Kind::kForward});
    for (Count backward = 0; backward < m; ++backward) {
      order.push_back({stage, backward, Kind::kBackward});
      if (backward >= stage) order.push_back({stage, weight++, Kind::kWeight});
      if (forward < m) order.push_back({stage, forward++, Kind::kForward});
    }
    while (weight < m) order.push_back({stage, weight++, Kind::kWeight});
    return order;
  }
  // Interleaved 1F1B; plain where there is one chunk. Chunk passes go in groups of p micro-batches a chunk.
  const Count total = m * v;
  const Count warm_up = v == 1 ? std::min(m, p - 1 - stage) : std::min(total, 2 * (p - 1 - stage) + (v - 1) * p);
  const auto forward_at = [&](Count q) {
    const Count group = q / (p * v), first = group * p, width = std::min(p, m - first), inside = q - group * p * v;
    return Pass{(inside / width) * p + stage, first + inside % width, Kind::kForward};
  };
  const auto backward_at = [&](Count q) {
    Pass pass = forward_at(q);
    pass.visit = (v - 1 - pass.visit / p) * p + stage;
    pass.kind = Kind::kBackward;
    return pass;
  };
  for (Count q = 0; q < warm_up; ++q) order.push_back(forward_at(q));
  for (Count q = warm_up; q < total; ++q) {
    order.push_back(forward_at(q));
    order.push_back(backward_at(q - warm_up));
  }
  for (Count q = total - warm_up; q < total; ++q) order.push_back(backward_at(q));
  return order;
}

struct Simulation {
  const PipelineShape& shape;
  const std::vector<StagePass>& passes;
  Ends ends;
  std::vector<ScheduledPass> boxes;
  Count visits;

  // A micro-batch of dualpipe's second half enters at the last stage.
  [[nodiscard]] bool Reversed(Count micro_batch) const {
    return shape.schedule == PipelineSchedule::kDualPipe && 2 * micro_batch >= shape.micro_batches;
  }
  [[nodiscard]] Count StageAt(const Pass& pass) const {
    const Count stage = StageOf(pass.visit, shape.stages, shape.schedule);
    return Reversed(pass.micro_batch) ? shape.stages - 1 - stage : stage;
  }
  [[nodiscard]] Seconds Duration(const Pass& pass) const {
    const StagePass& times = passes[static_cast<std::size_t>(pass.visit)];
    return pass.kind == Kind::kForward ? times.forward : pass.kind == Kind::kBackward ? times.backward : times.weight;
  }
  // When the pass's inputs are there; negative: not known yet.
  double Ready(const Pass& pass) {
    const auto after = [&](Count visit, Kind kind) { return ends.Of({visit, pass.micro_batch, kind}); };
    switch (pass.kind) {
      case Kind::kForward:
        return pass.visit == 0 ? 0 : after(pass.visit - 1, Kind::kForward);
      case Kind::kBackward:
        return pass.visit + 1 == visits ? after(pass.visit, Kind::kForward) : after(pass.visit + 1, Kind::kBackward);
      case Kind::kWeight:
        return after(pass.visit, Kind::kBackward);
    }
    return 0;
  }
  double Run(const Pass& pass, double free) {
    const double start = std::max(free, Ready(pass)), end = start + Duration(pass).base();
    ends.Of(pass) = end;
    boxes.push_back({StageAt(pass), pass.visit / shape.stages, pass.micro_batch, kKindNames[static_cast<std::size_t>(pass.kind)],
                     Seconds::FromBase(start), Seconds::FromBase(end)});
    return end;
  }
};

void RunInOrder(Simulation& simulation) {
  const auto stages = static_cast<std::size_t>(simulation.shape.stages);
  std::vector<std::vector<Pass>> orders;
  for (std::size_t stage = 0; stage < stages; ++stage) orders.push_back(OrderOf(simulation.shape, static_cast<Count>(stage)));
  std::vector<std::size_t> next(stages, 0);
  std::vector<double> free(stages, 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t stage = 0; stage < stages; ++stage) {
      while (next[stage] < orders[stage].size() && simulation.Ready(orders[stage][next[stage]]) >= 0) {
        free[stage] = simulation.Run(orders[stage][next[stage]++], free[stage]);
        moved = true;
      }
    }
  }
}

// Takes, on the stage that is free first, the pass that may start first; backward before forward before weight among equals.
void RunGreedily(Simulation& simulation) {
  const PipelineShape& shape = simulation.shape;
  const auto stages = static_cast<std::size_t>(shape.stages);
  // Micro-batches under way at once, in each direction: those that may begin never wait for one that may not.
  const Count limit = shape.stages + 1;
  std::vector<std::vector<Pass>> waiting(stages);
  for (Count visit = 0; visit < simulation.visits; ++visit) {
    for (Count micro_batch = 0; micro_batch < shape.micro_batches; ++micro_batch) {
      for (const Kind kind : {Kind::kForward, Kind::kBackward, Kind::kWeight}) {
        const Pass pass{visit, micro_batch, kind};
        if (simulation.Duration(pass) > Seconds{} || kind != Kind::kWeight) {
          waiting[static_cast<std::size_t>(simulation.StageAt(pass))].push_back(pass);
        }
      }
    }
  }
  std::vector<double> free(stages, 0);
  std::array<Count, 2> held{};
  for (;;) {
    std::size_t best_stage = stages, best_place = 0;
    double best_start = std::numeric_limits<double>::infinity();
    int best_rank = 3;
    for (std::size_t stage = 0; stage < stages; ++stage) {
      for (std::size_t place = 0; place < waiting[stage].size(); ++place) {
        const Pass& pass = waiting[stage][place];
        const double ready = simulation.Ready(pass);
        const bool begins = pass.visit == 0 && pass.kind == Kind::kForward;
        if (ready < 0 || (begins && held[simulation.Reversed(pass.micro_batch) ? 1 : 0] >= limit)) continue;
        const double start = std::max(ready, free[stage]);
        const int rank = pass.kind == Kind::kBackward ? 0 : pass.kind == Kind::kForward ? 1 : 2;
        if (start < best_start - 1e-15 || (start <= best_start + 1e-15 && rank < best_rank)) {
          best_start = start, best_stage = stage, best_place = place, best_rank = rank;
        }
      }
    }
    if (best_stage == stages) return;
    const Pass pass = waiting[best_stage][best_place];
    waiting[best_stage].erase(waiting[best_stage].begin() + static_cast<std::ptrdiff_t>(best_place));
    free[best_stage] = simulation.Run(pass, free[best_stage]);
    Count& under_way = held[simulation.Reversed(pass.micro_batch) ? 1 : 0];
    if (pass.visit == 0 && pass.kind == Kind::kForward) ++under_way;
    if (pass.visit == 0 && pass.kind == Kind::kBackward) --under_way;
  }
}

}  // namespace

std::vector<ScheduledPass> Timeline(const PipelineShape& shape, const std::vector<StagePass>& passes) {
  const auto visits = static_cast<Count>(passes.size());
  Simulation simulation{shape, passes, Ends(visits, shape.micro_batches), {}, visits};
  const bool greedy = shape.schedule == PipelineSchedule::kZbV || shape.schedule == PipelineSchedule::kDualPipe;
  greedy ? RunGreedily(simulation) : RunInOrder(simulation);
  return std::move(simulation.boxes);
}

Seconds BubbleTime(const PipelineShape& shape, const StagePass& others, const StagePass& slowest) {
  const double stages = static_cast<double>(shape.stages), chunks = static_cast<double>(shape.chunks);
  if (shape.stages <= 1) return {};
  const Seconds whole = others.forward + others.backward + others.weight;
  const Seconds none;
  switch (shape.schedule) {
    case PipelineSchedule::kGpipe:
      return whole;
    case PipelineSchedule::kOneFOneB: {
      const Count left = shape.micro_batches % shape.stages;
      const Seconds chunk = (slowest.forward + slowest.backward + slowest.weight) / chunks;
      const double lost = left == 0 ? 0 : (chunks - 1) * static_cast<double>(shape.stages - left);
      return whole / chunks + lost * chunk;
    }
    case PipelineSchedule::kZbH1:
      return max(others.forward, others.backward, others.forward + others.backward - others.weight, none);
    case PipelineSchedule::kZbV:
      return max(none, others.forward + others.backward - 2 * others.weight) / 2;
    case PipelineSchedule::kDualPipe:
      // With passes of one micro-batch, F + B for the overlapped pair: F&B + B - 3W.
      return max(none, (stages / 2 - 1) / (stages - 1) * (others.forward + 2 * (others.backward + others.weight) - 3 * others.weight));
  }
  return whole;
}

}  // namespace slipstick
