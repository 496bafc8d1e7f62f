#include "core/search/mapping_space.h"

#include <cassert>
#include <set>

#include "core/search/framework_limits.h"
#include "core/training_stage/context.h"

namespace slipstick {
namespace {

// Schedules and their virtual stages per device: one, two (a V), or any number that divides the layers evenly.
std::vector<std::pair<PipelineSchedule, Count>> Pipelines(Count layers, Count pp, const SpaceLimits& limits) {
  std::vector<std::pair<PipelineSchedule, Count>> all{{PipelineSchedule::kOneFOneB, 1}};
  if (pp > 1) {
    if (layers % pp == 0) {
      for (const Count chunks : Divisors(layers / pp)) {
        if (chunks > 1) all.emplace_back(PipelineSchedule::kOneFOneB, chunks);
      }
    }
    all.emplace_back(PipelineSchedule::kGpipe, 1);
    all.emplace_back(PipelineSchedule::kZbH1, 1);
    if (2 * pp <= layers) all.emplace_back(PipelineSchedule::kZbV, 2);
    if (pp % 2 == 0) all.emplace_back(PipelineSchedule::kDualPipe, 1);
  }
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const auto& one) {
                             return !Allows(limits, "schedule", NameOf(one.first)) ||
                                    !Allows(limits, "virtual_stages", one.second);
                           }),
            all.end());
  return all;
}

// Rank orders, the run's own first. Expert parallelism regroups the ranks of tp, cp and dp, so with experts the
// pipeline stays outermost.
std::vector<std::string> Orders(const std::string& own, bool has_experts, const SpaceLimits& limits) {
  std::vector<std::string> orders{own};
  std::vector<std::string_view> names{"tp", "cp", "dp", "pp"};
  std::vector<std::size_t> axes{0, 1, 2, 3};
  do {
    std::string order;
    for (const std::size_t axis : axes) {
      if (names[axis] == "dp") order += "ep-";
      order += std::string(names[axis]) + "-";
    }
    order.pop_back();
    const bool pipeline_outermost = axes.back() == 3;
    if (order != own && (pipeline_outermost || !has_experts)) orders.push_back(order);
  } while (std::next_permutation(axes.begin(), axes.end()));
  orders.erase(
      std::remove_if(orders.begin(), orders.end(),
                     [&](const std::string& order) { return !Allows(limits, "order", std::string_view(order)); }),
      orders.end());
  return orders;
}

// The network levels on which an order puts the groups of a mapping: equal levels mean equivalent orders.
std::vector<double> LevelsOf(const Cluster& cluster, TrainingRun& run, const std::string& order) {
  run.mapping.order = order;
  const TrainingShape shape = ShapeOf(run);
  const Strides strides = StridesOf(order, shape);
  const Span tensor{strides.tensor, shape.tensor}, ring{strides.context, shape.context};
  std::vector<double> levels;
  const auto add = [&](const GroupPlacement& group) {
    levels.insert(levels.end(), group.extent.begin(), group.extent.end());
  };
  add(PlaceSpans(cluster, {tensor}));
  add(PlaceSpans(cluster, {ring}));
  add(PlaceSpans(cluster, {ring, {strides.data, shape.data}}));
  for (const Span& hop : {Span{strides.pipeline, shape.pipeline}, ring}) {
    double joined = 1, level = 0;
    for (const NetworkLevel& network : cluster.networks) {
      joined *= static_cast<double>(network.size);
      if (hop.stride * hop.size > joined) level += 1;
    }
    levels.push_back(hop.size > 1 ? level : 0);
  }
  return levels;
}

// Shares of offload to try: 0, `own` and, if `is_any`, 1.
std::vector<double> Shares(double own, bool is_any, const SpaceLimits& limits, std::string_view member) {
  std::set<double> shares{0, own};
  if (is_any) shares.insert(1);
  std::vector<double> kept;
  for (const double share : shares) {
    if (Allows(limits, member, share)) kept.push_back(share);
  }
  return kept;
}

bool IsLegalContext(const Model& model, const TrainingRun& run, Count tp, Count cp) {
  if (run.sequence % cp != 0) return false;
  return run.mapping.cp_kind != ContextKind::kUlysses || model.heads % (cp * tp) == 0;
}

}  // namespace

std::vector<std::string_view> TrainingSpace::Members() {
  return {"tp",
          "cp",
          "ep",
          "expert_tp",
          "dispatch",
          "pp",
          "dp",
          "virtual_stages",
          "schedule",
          "micro_batch",
          "zero",
          "sequence_parallel",
          "recompute",
          "order",
          "offload.activations",
          "offload.optimizer"};
}

// Passes for `sequences` of a data-parallel rank. A limit that names virtual stages overrides the framework, even if
// the framework has none.
std::vector<TrainingSpace::Passes> TrainingSpace::PassesOf(const FrameworkCapabilities& can, const Model& model,
                                                           Count tp, Count pp, Count sequences,
                                                           const SpaceLimits& limits) {
  const auto named = limits.find("virtual_stages");
  const bool is_named = named != limits.end() && !named->second.among.empty();
  std::vector<Passes> all;
  const auto pipelines = Pipelines(model.layers, pp, limits);
  for (const Count micro_batch : Kept(limits, "micro_batch", Divisors(sequences))) {
    for (const Count sp :
         Kept(limits, "sequence_parallel", tp > 1 ? std::vector<Count>{0, 1} : std::vector<Count>{0})) {
      for (const auto& [schedule, chunks] : pipelines) {
        const bool is_interleaved = schedule == PipelineSchedule::kOneFOneB && chunks > 1;
        if (is_interleaved && !is_named && !InterleavesBatches(can, pp, sequences / micro_batch)) continue;
        all.push_back({schedule, chunks, sp == 1, micro_batch});
      }
    }
  }
  return all;
}

TrainingSpace::TrainingSpace(const Model& model, const Cluster& cluster, const TrainingRun& run, Count devices,
                             const SpaceLimits& named)
    : base_(run.mapping), can_(run.framework.capabilities) {
  const SpaceLimits limits = WithinFramework(can_, named);
  for (const Recompute one : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
    // With flash attention, selective recomputation has no scores to drop, unless the framework selects differently;
    // MLA has more to drop.
    const bool is_none = one == Recompute::kSelective && run.flash_attention && !model.mla &&
                         run.framework.memory.selective_kept == 1 && run.framework.compute.selective_share == 0;
    if (!is_none && Allows(limits, "recompute", NameOf(one))) recomputes_.push_back(one);
  }
  const bool has_host = cluster.device.host.memory > Bytes{};
  const bool has_state = run.optimizer != Optimizer::kNone;
  for (const double optimizer : Shares(run.offload.optimizer, has_host && has_state, limits, "offload.optimizer")) {
    for (const double activations : Shares(run.offload.activations, has_host, limits, "offload.activations")) {
      Offload offload = run.offload;
      offload.activations = activations, offload.optimizer = optimizer;
      offloads_.push_back(offload);
    }
  }
  base_.shard_within.reset();
  orders_ = Orders(run.mapping.order, model.moe.has_value(), limits);
  const Count experts = model.moe ? model.moe->experts : Tally(1);
  TrainingRun trial = run;
  trial.mapping = base_;
  for (const Count tp : Kept(limits, "tp", Divisors(devices))) {
    if (model.heads % tp != 0) continue;
    for (const Count pp : Kept(limits, "pp", Divisors(devices / tp))) {
      if (pp > model.MostStages()) continue;
      for (const Count cp : Kept(limits, "cp", Divisors(devices / tp / pp))) {
        const Count dp = devices / tp / pp / cp;
        if (!IsLegalContext(model, run, tp, cp) || run.global_batch % dp != 0 || !Allows(limits, "dp", dp)) continue;
        Block degrees{tp, pp, cp, 1, 1, dp, {}, {}, {}, {}, 0};
        degrees.passes = PassesOf(can_, model, tp, pp, run.global_batch / dp, limits);
        // If one rank holds the weights, there is nothing to shard.
        degrees.zeros = dp * cp > 1 ? Kept(limits, "zero", {0, 1, 2, 3}) : Kept(named, "zero", {0});
        TrainingMapping& mapping = trial.mapping;
        mapping.tp = tp, mapping.pp = pp, mapping.cp = cp, mapping.dp = dp;
        std::set<std::vector<double>> seen;
        for (std::size_t order = 0; order < orders_.size(); ++order) {
          if (seen.insert(LevelsOf(cluster, trial, orders_[order])).second) degrees.orders.push_back(order);
        }
        for (const Count expert_tp : Kept(limits, "expert_tp", model.moe ? Divisors(tp) : std::vector<Count>{1})) {
          for (const Count ep : Kept(limits, "ep", Divisors(experts))) {
            if ((devices / pp) % (ep * expert_tp) != 0) continue;
            Block block = degrees;
            block.ep = ep;
            block.expert_tp = expert_tp;
            mapping.ep = ep, mapping.expert_tp = expert_tp;
            for (const std::optional<ExpertDispatch>& one : DispatchersOf(can_, mapping)) {
              if (!one || Allows(limits, "dispatch", NameOf(*one))) block.dispatchers.push_back(one);
            }
            block.offset = size_;
            const std::size_t count = block.Size(recomputes_.size() * offloads_.size());
            if (count == 0) continue;
            size_ += static_cast<Count>(count);
            blocks_.push_back(std::move(block));
          }
        }
      }
    }
  }
}

TrainingChoice TrainingSpace::At(Count index) const {
  assert(index >= 0 && index < size_);
  const Block& block = BlockAt(blocks_, index);
  auto rest = static_cast<std::size_t>(index - block.offset);
  // Innermost first: neighboring indices share most sub-results.
  const auto take = [&rest](const auto& values) {
    const auto value = values[rest % values.size()];
    rest /= values.size();
    return value;
  };
  TrainingChoice choice{base_, Recompute::kNone, {}};
  TrainingMapping& mapping = choice.mapping;
  choice.recompute = take(recomputes_);
  choice.offload = take(offloads_);
  mapping.zero = take(block.zeros);
  const Passes passes = take(block.passes);
  mapping.schedule = passes.schedule;
  mapping.virtual_stages = passes.virtual_stages;
  mapping.sequence_parallel = passes.sequence_parallel;
  mapping.micro_batch = passes.micro_batch;
  mapping.order = orders_[take(block.orders)];
  mapping.dispatch = take(block.dispatchers);
  mapping.tp = block.tp;
  mapping.pp = block.pp;
  mapping.cp = block.cp;
  mapping.ep = block.ep;
  mapping.expert_tp = block.expert_tp;
  mapping.dp = block.dp;
  if (MayOverlapExperts(can_, mapping)) mapping.overlap.ep = true;
  return choice;
}

}  // namespace slipstick
