#include "core/search/training_tuner.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/training/memo.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

constexpr Seconds kNoLimit = 1e30 * kS;

// The result for a mapping. Mappings that fit rank first; then the shortest time per sequence, or the least memory.
struct TrainingCost {
  bool fits = false;
  bool is_bounded = false;  // the time is only a lower bound, which ruled the mapping out
  Bytes needed;             // device memory
  Bytes missing;            // device or host memory
  Seconds per_sequence;
  [[nodiscard]] bool IsBetterThan(const TrainingCost& other) const {
    if (fits != other.fits) return fits;
    if (!fits) return missing < other.missing;
    return !is_bounded && per_sequence < other.per_sequence;
  }
  // The time per sequence that a better mapping must beat.
  [[nodiscard]] Seconds Limit() const { return fits ? per_sequence : kNoLimit; }
};

class TrainingTuner {
 public:
  TrainingTuner(const Model& model, const Cluster& cluster, const TrainingRun& run, const TrainingFreedom& freedom)
      : model_(model),
        cluster_(cluster),
        freedom_(freedom),
        wanted_(run),
        run_(run),
        kept_batch_(WithBatchKept(freedom)),
        kept_(model, cluster, wanted_, kept_batch_),
        moved_(model, cluster, wanted_, freedom_) {
    if (freedom.recompute) run_.recompute = Recompute::kAuto;
    run_.batch_ramp.reset();
    can_prune_ = [this](const TrainingReport& bound) {
      bounded_ = bound.step_time / static_cast<double>(run_.global_batch);
      return bounded_ >= limit_;
    };
  }
  TrainingTuner(const TrainingTuner&) = delete;
  TrainingTuner& operator=(const TrainingTuner&) = delete;

  TunedTraining Run() {
    TunedTraining tuned{wanted_};
    const std::optional<Point> kept = freedom_.global_batch && freedom_.batch_gain <= 0 ? std::nullopt : Walk();
    std::optional<Point> best = kept;
    if (freedom_.global_batch) {
      moves_ = &moved_;
      const std::optional<Point> moved = Walk();
      const bool is_worth_it =
          moved && (!kept || (moved->cost.fits && !kept->cost.fits) ||
                    (moved->cost.fits == kept->cost.fits &&
                     moved->cost.per_sequence * (1 + freedom_.batch_gain) < kept->cost.per_sequence));
      if (is_worth_it) best = moved;
      if (!is_worth_it) moves_ = &kept_;
    }
    tuned.moves = moves_made_, tuned.tried = static_cast<Count>(costs_.size());
    if (!best) return tuned;
    const Degrees& degrees = best->degrees;
    tuned.is_legal = true;
    tuned.fits = best->cost.fits;
    tuned.run.mapping = moves_->MappingOf(degrees);
    tuned.run.global_batch = moves_->GlobalBatch(degrees);
    tuned.chosen = ReasonsFor(degrees);
    if (freedom_.batch_gain > 0 && tuned.run.global_batch != wanted_.global_batch) {
      tuned.chosen.push_back({"training.global_batch", tuned.run.global_batch, "", WhyMoved(*best, kept)});
    }
    if (freedom_.recompute) SettleRecompute(degrees, tuned);
    return tuned;
  }

 private:
  static constexpr std::size_t kWalks = 4;

  struct Point {
    Degrees degrees;
    TrainingCost cost;
  };

  static TrainingFreedom WithBatchKept(TrainingFreedom freedom) {
    freedom.global_batch = false;
    return freedom;
  }

  [[nodiscard]] std::string WhyMoved(const Point& moved, const std::optional<Point>& kept) const {
    const std::string wanted = std::to_string(wanted_.global_batch) + " sequences";
    if (!kept) return "No legal mapping divides " + wanted + ".";
    if (!kept->cost.fits) return "No mapping that divides " + wanted + " fits.";
    return "With " + wanted + " a sequence is " + SlowerBy(kept->cost.per_sequence / moved.cost.per_sequence) + ".";
  }

  // Every evaluation with the same batch shares its sub-results.
  TrainingMemo& MemoOf(Count batch) {
    std::unique_ptr<TrainingMemo>& memo = memos_[batch];
    if (!memo) memo = std::make_unique<TrainingMemo>(model_, cluster_, run_);
    return *memo;
  }

  // Device memory that the run may fill.
  [[nodiscard]] Bytes Budget() const { return (1 - run_.memory_margin.value_or(0)) * capacity_; }

  TrainingCost CostOf(const Degrees& degrees, Seconds limit) {
    const auto [known, is_new] = costs_.try_emplace(degrees);
    if (!is_new && !(known->second.is_bounded && known->second.per_sequence < limit)) return known->second;
    run_.mapping = moves_->MappingOf(degrees);
    run_.global_batch = moves_->GlobalBatch(degrees);
    limit_ = limit;
    const TrainingReport report =
        EvaluateTraining(model_, cluster_, run_, {false, false, false, &MemoOf(run_.global_batch), &can_prune_});
    capacity_ = report.memory.capacity;
    TrainingCost cost{report.infeasible.empty(), report.pruned, report.memory.Total(), {}, {}};
    const Bytes host = report.memory.host - cluster_.device.host.memory, device = report.memory.Total() - Budget();
    if (!cost.fits) cost.missing = max(host, device);
    if (cost.fits)
      cost.per_sequence = cost.is_bounded ? bounded_ : report.step_time / static_cast<double>(run_.global_batch);
    return known->second = cost;
  }

  // Starting points: the best of each tensor-parallel degree, best first; the best that full sharding makes fit with
  // the fewest stages; and the best of the deepest pipelines. A walk to the second would pass mappings with both
  // sharding and stages, slower than either; one to the last, pipelines of a few stages, slower than none and than
  // many.
  std::vector<Point> Starts() {
    std::map<Count, Point> best_of;
    std::optional<Point> sharded, deepest;
    for (const std::vector<Degrees>& column : moves_->Columns()) {
      for (const Degrees& one : column) {
        const auto [best, is_new] = best_of.try_emplace(one[MappingAxis::kTp]);
        const TrainingCost cost = CostOf(one, best->second.cost.Limit());
        if (is_new || cost.IsBetterThan(best->second.cost)) best->second = {one, cost};
        if (cost.fits) break;
        const std::optional<Degrees> other = moves_->FullySharded(one);
        if (!other || !(one == column.front())) continue;
        const TrainingCost other_cost = CostOf(*other, sharded ? sharded->cost.Limit() : kNoLimit);
        if (other_cost.fits && (!sharded || other_cost.IsBetterThan(sharded->cost))) sharded = {*other, other_cost};
      }
      const TrainingCost cost = CostOf(column.back(), deepest ? deepest->cost.Limit() : kNoLimit);
      if (cost.fits && (!deepest || cost.IsBetterThan(deepest->cost))) deepest = {column.back(), cost};
    }
    std::vector<Point> starts;
    for (const auto& [tp, point] : best_of) starts.push_back(point);
    std::stable_sort(starts.begin(), starts.end(),
                     [](const Point& a, const Point& b) { return a.cost.IsBetterThan(b.cost); });
    starts.resize(std::min(kWalks, starts.size()));
    if (sharded) starts.push_back(*sharded);
    if (deepest) starts.push_back(*deepest);
    return starts;
  }

  // Moves to a mapping if it is better.
  bool MovesTo(const Degrees& to, Point& at) {
    const TrainingCost cost = CostOf(to, at.cost.Limit());
    if (!cost.IsBetterThan(at.cost)) return false;
    at = {to, cost};
    return true;
  }

  // Walks from neighbor to better neighbor.
  Point Walked(Point at) {
    Count moves = 0;
    for (bool moved = true; moved && moves < kMostMoves; ++moves) {
      moved = false;
      const Degrees from = at.degrees;
      moves_->VisitNeighbors(from, [&](const Degrees& to) { moved = MovesTo(to, at) || moved; });
    }
    moves_made_ = std::max(moves_made_, moves);
    return at;
  }

  std::optional<Point> Walk() {
    std::optional<Point> best;
    for (const Point& start : Starts()) {
      const Point end = Walked(start);
      if (!best || end.cost.IsBetterThan(best->cost)) best = end;
    }
    if (!best) return best;
    Point beyond = *best;
    moves_->VisitNewPipelines(best->degrees, [&](const Degrees& to) { MovesTo(to, beyond); });
    return beyond.degrees == best->degrees ? best : Walked(beyond);
  }

  // Chooses no recomputation if everything fits without it.
  void SettleRecompute(const Degrees& best, TunedTraining& tuned) {
    costs_.clear();
    run_.recompute = Recompute::kNone;
    const TrainingCost without = CostOf(best, {});
    tuned.run.recompute = without.fits ? Recompute::kNone : Recompute::kAuto;
    const std::string why =
        without.fits ? "Everything fits without recomputation."
                     : Sentence({"Without recomputation it " + DoesNotFit(without.needed, capacity_, Budget())}, "");
    tuned.chosen.push_back({"training.recompute", 0, std::string(NameOf(tuned.run.recompute)), why});
  }

  // A reason for every free member, from the nearest values that were tried beside it.
  std::vector<Chosen> ReasonsFor(const Degrees& best) {
    const TrainingCost chosen = costs_[best];
    std::array<std::map<Count, TrainingCost>, kAxisNames.size()> others;
    moves_->VisitNeighbors(best, [&](const Degrees& to) {
      const TrainingCost cost = CostOf(to, chosen.Limit());
      for (std::size_t i = 0; i < others.size(); ++i) {
        const auto axis = static_cast<MappingAxis>(i);
        if (to[axis] == best[axis]) continue;
        const auto [known, is_new] = others[i].try_emplace(to[axis], cost);
        const bool is_better = cost.fits == known->second.fits ? cost.per_sequence < known->second.per_sequence ||
                                                                     cost.missing < known->second.missing
                                                               : cost.fits;
        if (!is_new && is_better) known->second = cost;
      }
    });
    std::vector<Chosen> reasons;
    for (std::size_t i = 0; i < others.size(); ++i) {
      const auto axis = static_cast<MappingAxis>(i);
      if (!moves_->IsFree(axis) || !moves_->Matters(axis, best)) continue;
      std::vector<std::string> verdicts;
      const auto above = others[i].upper_bound(best[axis]);
      if (above != others[i].begin()) verdicts.push_back(VerdictOn(axis, *std::prev(above), chosen));
      if (above != others[i].end()) verdicts.push_back(VerdictOn(axis, *above, chosen));
      Chosen one{"training.mapping." + std::string(kAxisNames[i]), best[axis], "", ""};
      if (axis == MappingAxis::kSchedule) one.word = NameOf(best.Schedule());
      if (axis == MappingAxis::kDispatch) one.word = NameOf(static_cast<ExpertDispatch>(best[axis]));
      if (axis == MappingAxis::kExpertOverlap) one.word = best[axis] != 0 ? "true" : "false";
      if (axis == MappingAxis::kSequenceParallel) one.word = best[axis] != 0 ? "true" : "false";
      one.why = Sentence(verdicts, "The only valid value here");
      reasons.push_back(std::move(one));
    }
    return reasons;
  }

  [[nodiscard]] std::string VerdictOn(MappingAxis axis, const std::pair<const Count, TrainingCost>& other,
                                      const TrainingCost& chosen) const {
    constexpr std::array<std::string_view, kAxisNames.size()> kLabels{
        "TP", "CP", "PP", "EP", "ETP", "Interleaving", "Micro-batch size", "ZeRO", "", "", "", ""};
    const auto& [value, cost] = other;
    std::string text = std::string(kLabels[static_cast<std::size_t>(axis)]) + " " + std::to_string(value);
    if (axis == MappingAxis::kSchedule) text = NameOf(static_cast<PipelineSchedule>(value));
    if (axis == MappingAxis::kSequenceParallel) text = value != 0 ? "Sequence parallelism" : "No sequence parallelism";
    if (axis == MappingAxis::kDispatch) text = value != 0 ? "Dedicated dispatch" : "All-to-all dispatch";
    if (axis == MappingAxis::kExpertOverlap)
      text = value != 0 ? "Overlapped expert exchange" : "Expert exchange without overlap";
    if (!cost.fits)
      return text + " " +
             (chosen.fits ? DoesNotFit(cost.needed, capacity_, Budget()) : NeedsMore(cost.missing, chosen.missing));
    const std::string slower = SlowerBy(chosen.fits ? cost.per_sequence / chosen.per_sequence : Ratio(1));
    const Count inner = cluster_.networks.empty() ? Tally(1) : cluster_.networks.front().size;
    const bool leaves_node = axis == MappingAxis::kTp && value > inner && !slower.empty();
    const std::string because = leaves_node ? " (it leaves the " + std::to_string(inner) + " devices of a node)" : "";
    return text + " is " + (slower.empty() ? "no faster" : (cost.is_bounded ? "at least " : "") + slower) + because;
  }

  const Model& model_;
  const Cluster& cluster_;
  const TrainingFreedom& freedom_;
  const TrainingRun wanted_;
  TrainingRun run_;
  const TrainingFreedom kept_batch_;
  const TrainingMoves kept_, moved_;  // with the batch as it is, and with a batch that may move
  const TrainingMoves* moves_ = &kept_;
  std::map<Count, std::unique_ptr<TrainingMemo>> memos_;
  std::map<Degrees, TrainingCost> costs_;
  Count moves_made_ = 0;
  Seconds limit_, bounded_;
  Bytes capacity_;
  std::function<bool(const TrainingReport&)> can_prune_;
};

}  // namespace

TunedTraining TuneTraining(const Model& model, const Cluster& cluster, const TrainingRun& run,
                           const TrainingFreedom& freedom) {
  return TrainingTuner(model, cluster, run, freedom).Run();
}

}  // namespace slipstick
