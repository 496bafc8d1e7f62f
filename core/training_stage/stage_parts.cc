#include "core/training_stage/stage_parts.h"

#include <array>
#include <string>

#include "core/base/sum.h"
#include "core/training_stage/exchange.h"

namespace slipstick {

HostTransfer ExposedOffload(Seconds one, const LayerTime& time, const ShardedLayer& sharded, Trace& trace) {
  const Seconds forward_total = time.forward.Total(), backward_total = time.Backward();
  const Seconds sharded_forward = sharded.forward, sharded_backward = sharded.backward;
  HostTransfer host;
  FIGURE(trace, host_forward, max(0 * kS, one - (forward_total + sharded_forward)),
         (Note{"Exposed offload of a layer's activations"}), one, forward_total, sharded_forward);
  host.forward = host_forward;
  if (time.weight_gradient > Seconds{}) {
    const Seconds weight_gradient_pass = time.weight_gradient, sharded_weight = sharded.weight_gradient;
    FIGURE(trace, host_weight, max(0 * kS, one / 2 - (weight_gradient_pass + sharded_weight)),
           (Note{"Exposed reload behind the weight gradients"}), one, weight_gradient_pass, sharded_weight);
    FIGURE(trace, host_backward,
           max(0 * kS, one / 2 - ((backward_total + sharded_backward) - (weight_gradient_pass + sharded_weight))) +
               host_weight,
           (Note{"Exposed reload of a layer's activations"}), one, backward_total, sharded_backward,
           weight_gradient_pass, sharded_weight, host_weight);
    host.weight_gradient = host_weight;
    host.backward = host_backward;
  } else {
    FIGURE(trace, host_backward, max(0 * kS, one - (backward_total + sharded_backward)),
           (Note{"Exposed reload of a layer's activations"}), one, backward_total, sharded_backward);
    host.backward = host_backward;
  }
  return host;
}

namespace {

// Figures of a layer that a stage sums up.
constexpr std::array kSummed{
    "forward_compute", "backward_compute", "recompute_compute", "layer_tp",   "layer_cp",      "layer_ep",
    "layer_tp_link",   "layer_cp_link",    "layer_ep_link",     "host_waits", "forward_total", "backward_total",
    "sharded_forward", "sharded_backward", "sharded_link",      "one",        "host_forward",  "host_backward"};

constexpr std::string_view kLayerFlops = "layer_flops";

// Symbol of such a figure that tells components of a stage apart.
std::string PartSymbol(std::string_view component, bool is_full, std::string_view figure) {
  return std::string(component) + (is_full ? ".full recomputation." : ".") + std::string(figure);
}

// Values of these figures.
std::array<Seconds, kSummed.size()> SummedOf(const LayerTime& time, const ShardedLayer& sharded, Seconds one,
                                             const HostTransfer& host) {
  const auto total = [&time](Seconds LayerPass::* part) {
    return time.forward.*part + time.backward.*part + time.recompute.*part;
  };
  return {time.forward.compute,
          time.backward.compute,
          time.recompute.compute,
          total(&LayerPass::tp),
          total(&LayerPass::cp),
          total(&LayerPass::ep),
          total(&LayerPass::tp_link),
          total(&LayerPass::cp_link),
          total(&LayerPass::ep_link),
          time.forward.host + time.backward.host + time.recompute.host,
          time.forward.Total(),
          time.Backward(),
          sharded.forward,
          sharded.backward,
          sharded.forward_link + sharded.backward_link,
          one,
          host.forward,
          host.backward};
}

// Binds PartSymbol for the figures of a component; called in its scope.
void BindParts(const LayerTime& time, const ShardedLayer& sharded, Seconds one, const HostTransfer& host,
               std::string_view component, bool is_full, Trace& trace) {
  if (!trace.on()) return;
  const auto values = SummedOf(time, sharded, one, host);
  for (std::size_t i = 0; i < kSummed.size(); ++i) {
    trace.Alias(PartSymbol(component, is_full, kSummed[i]), values[i], kSummed[i]);
  }
  trace.Alias(PartSymbol(component, is_full, kLayerFlops), time.all_flops, kLayerFlops);
}

// The same for embedding and head, whose passes are their compute.
void BindEnds(const LayerTimes& times, Trace& trace) {
  const auto bind = [&trace](std::string_view scope_name, std::string_view component, const LayerTime& time,
                             const ShardedLayer& sharded) {
    const Trace::Scope scope(trace, scope_name);
    trace.Alias("forward_total", time.forward.Total(), "forward_compute");
    trace.Alias("backward_total", time.Backward(), "backward_compute");
    BindParts(time, sharded, {}, {}, component, false, trace);
  };
  bind("embedding", "embedding", times.embedding, times.sharded_embedding);
  bind("head", "output_head", times.head, {});
}

// Activations of a layer on the host link, explained whether any are offloaded or not.
void ExplainOffload(const TrainingContext& context, const LayerTime& time, const ShardedLayer& sharded,
                    Bytes activations, std::string_view component, bool is_full, Trace& trace) {
  if (!trace.on()) return;
  const BytesPerSecond host_bandwidth = context.device().host.bandwidth;
  const bool has_host = host_bandwidth > BytesPerSecond{};
  const double offloaded = context.run.offload.activations;
  trace.Input("host_bandwidth", host_bandwidth, "cluster.device.host.bandwidth");
  trace.Input("offloaded", offloaded, "training.offload.activations");
  Seconds one_way;
  HostTransfer host;
  if (const double zero = static_cast<double>(context.run.mapping.zero); zero < 3) {
    RecordNone({"sharded_forward", "sharded_backward", "sharded_weight"}, "max(0, zero - 2)",
               Note{"ZeRO-3 communication of a layer", "none below ZeRO-3"}, "zero", zero, trace);
  }
  if (has_host) {
    one_way = offloaded * (activations / host_bandwidth);
    trace.Record("one", "offloaded * (activations / host_bandwidth)", one_way,
                 Note{"Offloaded activations of a layer on the host link", "one way"},
                 "offloaded, activations, host_bandwidth", offloaded, activations, host_bandwidth);
    host = ExposedOffload(one_way, time, sharded, trace);
    trace.Alias(PartSymbol(component, is_full, "one"), one_way, "one");
  }
  BindParts(time, sharded, one_way, host, component, is_full, trace);
}

// How a device's time adds up from the components of its stages.
class StageSums {
 public:
  StageSums(const TrainingContext& context, Trace& trace) : context_(context), trace_(trace) {}

  // `count` components, whose number is the nearest figure `count`.
  void Add(std::string_view name, std::string_view component, const StagePart& part, double count) {
    const double offloaded = context_.run.offload.activations;
    Trace off = Trace::Off();
    const Seconds one = offloaded > 0 ? offloaded * part.offload : Seconds{};
    const HostTransfer host = offloaded > 0 ? ExposedOffload(one, *part.time, part.sharded, off) : HostTransfer{};
    const auto values = SummedOf(*part.time, part.sharded, one, host);
    for (std::size_t i = 0; i < kSummed.size(); ++i) {
      const bool is_layer = part.offload > Seconds{};
      if (values[i] == Seconds{} && ((i < kOffload && i != kHost) || !is_layer)) continue;
      texts_[i].Add(trace_, name, internal::ValueOf(values[i]), count, PartSymbol(component, part.is_full, kSummed[i]),
                    "count");
      is_empty_[i] = false;
    }
  }

  void Record(const StageTime& stage) const {
    const auto total = [&stage](Seconds LayerPass::* part) {
      return stage.forward.*part + stage.backward.*part + stage.recompute.*part;
    };
    constexpr std::string_view kSlowest = "slowest stage: its layers, embedding and head",
                               kAll = "forward, backward and recomputation";
    RecordOne(0, "pass_forward", stage.forward.compute, {"Forward compute of a micro-batch", kSlowest});
    RecordOne(1, "pass_backward", stage.backward.compute, {"Backward compute of a micro-batch", kSlowest});
    RecordOne(2, "pass_recompute", stage.recompute.compute,
              {"Recomputation of a micro-batch", "slowest stage: its layers"});
    RecordOne(3, "pass_tp", total(&LayerPass::tp), {"Exposed TP communication of a micro-batch", kAll});
    RecordOne(4, "pass_cp", total(&LayerPass::cp), {"Exposed CP communication of a micro-batch", kAll});
    RecordOne(5, "pass_ep", total(&LayerPass::ep), {"Exposed EP communication of a micro-batch", kAll});
    RecordOne(6, "pass_tp_link", total(&LayerPass::tp_link), {"TP link time of a micro-batch", kAll});
    RecordOne(7, "pass_cp_link", total(&LayerPass::cp_link), {"CP link time of a micro-batch", kAll});
    RecordOne(8, "pass_ep_link", total(&LayerPass::ep_link), {"EP link time of a micro-batch", kAll});
    RecordOne(9, "pass_host", total(&LayerPass::host), {"Launch overhead of a micro-batch", kAll});
    RecordOne(10, "forward_passes", stage.forward.Total(),
              {"Forward passes of the layers", "sharded weights and offload apart"});
    RecordOne(11, "backward_passes", stage.backward.Total() + stage.recompute.Total(),
              {"Backward passes of the layers", "sharded weights and offload apart"});
    RecordOne(12, "sharded_forward", stage.sharded_forward, {"Exposed all-gathers of weights, forward"});
    RecordOne(13, "sharded_backward", stage.sharded_backward,
              {"Exposed gathers of weights and scatters of gradients, backward"});
    RecordOne(14, "pass_sharded_link", stage.sharded_link, {"ZeRO-3 link time of a micro-batch"});
    RecordOne(15, "offloaded_way", stage.host_link / 2,
              {"Offloaded activations of a micro-batch on the host link", "one way"});
    RecordOne(16, "host_forward", stage.host_forward, {"Exposed offload of a micro-batch"});
    RecordOne(17, "host_backward", stage.host_backward, {"Exposed reload of a micro-batch"});
    RecordTotals(stage);
  }

 private:
  // Zeros of the host, and from the offload on, are explained too.
  static constexpr std::size_t kHost = 9, kSharded = 12, kOffload = 15;

  void RecordOne(std::size_t i, std::string_view symbol, Seconds total, const Note& note) const {
    if (!is_empty_[i]) return texts_[i].Record(trace_, symbol, internal::ValueOf(total), note);
    const double cp = context_.shape.context, ep = context_.shape.expert * context_.shape.expert_tensor,
                 tp = context_.shape.tensor;
    if (i == 3 || i == 6) RecordNone({symbol}, "(tp - 1)", note, "tp", tp, trace_);
    if (i == 4 || i == 7) RecordNone({symbol}, "(cp - 1)", note, "cp", cp, trace_);
    if ((i == 5 || i == 8) && ep == 1) RecordNone({symbol}, "(ep - 1)", note, "ep", ep, trace_);
    if (i == 5 && ep > 1) trace_.Input(symbol, total, "training.framework.experts.exposed");
    if (i == 8 && ep > 1) trace_.Input(symbol, total, "model.moe.dense_layers");
    const bool is_of_layers = i == kHost || i >= kOffload || (i >= kSharded && context_.run.mapping.zero == 3);
    if (is_of_layers) trace_.Input(symbol, total, "model.layers");  // none of them on the stage
    if (i == 2) trace_.Input(symbol, total, "training.recompute");
  }

  void RecordTotals(const StageTime& stage) const {
    const Seconds forward_passes = stage.forward.Total(),
                  backward_passes = stage.backward.Total() + stage.recompute.Total();
    const Seconds sharded_forward = stage.sharded_forward, sharded_backward = stage.sharded_backward;
    const Seconds host_forward = stage.host_forward, host_backward = stage.host_backward,
                  offloaded_way = stage.host_link / 2;
    Trace& trace = trace_;
    const double zero = static_cast<double>(context_.run.mapping.zero);
    if (zero < 3) {
      RecordNone({"sharded_forward", "sharded_backward", "pass_sharded_link"}, "max(0, zero - 2)",
                 Note{"ZeRO-3 communication of a micro-batch", "none below ZeRO-3"}, "zero", zero, trace);
    }
    FIGURE(
        trace, pass_sharded, sharded_forward + sharded_backward,
        (Note{"Exposed ZeRO-3 communication of a micro-batch", "all-gather of weights, reduce-scatter of gradients"}),
        sharded_forward, sharded_backward);
    FIGURE(trace, pass_offload, host_forward + host_backward,
           (Note{"Exposed offload of a micro-batch's activations", "out and back"}), host_forward, host_backward);
    FIGURE(trace, pass_offload_link, 2 * offloaded_way, (Note{"Host link time of a micro-batch", "out and back"}),
           offloaded_way);
    trace.Record("stage_forward", "forward_passes + sharded_forward + host_forward", stage.Forward(),
                 Note{"Forward pass of the stage", "one micro-batch"}, "forward_passes, sharded_forward, host_forward",
                 forward_passes, sharded_forward, host_forward);
    trace.Record("stage_backward", "backward_passes + sharded_backward + host_backward", stage.Backward(),
                 Note{"Backward pass of the stage", "one micro-batch"},
                 "backward_passes, sharded_backward, host_backward", backward_passes, sharded_backward, host_backward);
    const Seconds stage_forward = stage.Forward(), stage_backward = stage.Backward();
    FIGURE(trace, pass_time, stage_forward + stage_backward, (Note{"Passes of the stage", "one micro-batch"}),
           stage_forward, stage_backward);
  }

  const TrainingContext& context_;
  Trace& trace_;
  std::array<SumText, kSummed.size()> texts_;
  std::array<bool, kSummed.size()> is_empty_ = [] {
    std::array<bool, kSummed.size()> all{};
    all.fill(true);
    return all;
  }();
};

// Number of layers that a component stands for, on a device with this share of a stage: the figure `count`.
// `placed_is`: the figure of the layers of its kind; `leading_is`: of those that recomputation by blocks repeats.
void ExplainCount(const TrainingContext& context, std::string_view name, const StagePart& part, double device_share,
                  std::string_view placed_is, std::string_view leading_is, double count,
                  const RecomputeChoice& recompute, Trace& trace) {
  const double placed = part.placed, recomputed = part.recomputed, full_share = recompute.full_share;
  const Trace::Scope scope(trace, part.is_full ? std::string(name) + " recomputed" : std::string(name));
  trace.Input("device_share", device_share, "training.mapping.schedule");
  if (name == "embedding") return trace.Alias("count", count, "device_share");
  if (name == "output_head" || name == "mtp_module") {
    const double mtp_layers = static_cast<double>(context.model.mtp_layers);
    trace.Input("mtp_layers", mtp_layers, "model.mtp_layers");
    if (name == "output_head") {
      trace.Record("count", "device_share * (1 + mtp_layers)", count,
                   Note{"Heads on the slowest device", "one for each MTP module too"}, "device_share, mtp_layers",
                   device_share, mtp_layers);
      return;
    }
    trace.Alias("placed", placed, "mtp_layers");
  } else {
    trace.Alias("placed", placed, placed_is);
  }
  if (recompute.is_leading) {
    if (name == "mtp_module") {
      trace.Input("recomputed", recomputed, "training.recompute_method");
    } else {
      trace.Alias("recomputed", recomputed, leading_is);
    }
    trace.Record("full_share", "recomputed / placed", recomputed / placed,
                 Note{"Share of these layers that are recomputed as a whole"}, "recomputed, placed", recomputed,
                 placed);
  }
  const double own_share = recompute.is_leading ? recomputed / placed : full_share;
  const double kept_share = part.is_full ? own_share : 1 - own_share;
  if (part.is_full) {
    trace.Alias("kept_share", kept_share, "full_share");
  } else {
    trace.Record("kept_share", "1 - full_share", kept_share,
                 Note{"Share of the layers that are not recomputed as a whole"}, "full_share", own_share);
  }
  trace.Record("count", "device_share * placed * kept_share", count,
               Note{"Layers of a kind on the slowest device", "recomputed alike"}, "device_share, placed, kept_share",
               device_share, placed, kept_share);
}

}  // namespace

void BindComponents(const TrainingContext& context, const LayerTimes& times, Trace& trace) {
  if (!trace.on()) return;
  for (const LayerKind kind : kLayerKinds) {
    if (!(times.selective[kind].forward.compute > Seconds{})) continue;
    const Trace::Scope scope(trace, NameOf(kind));
    ExplainOffload(context, times.selective[kind], times.sharded_selective[kind], times.kept_selective[kind],
                   NameOf(kind), false, trace);
    if (!(times.recompute.full_share > 0)) continue;
    const Trace::Scope full_scope(trace, "full recomputation");
    ExplainOffload(context, times.full_recompute[kind], times.sharded_full_recompute[kind],
                   times.kept_full_recompute[kind], NameOf(kind), true, trace);
  }
  BindEnds(times, trace);
}

namespace {

// Layers of all stages, recorded under the names of their kinds.
KindCounts LayersOf(const LayerTimes& times, const std::vector<Stage>& stages, Trace& trace) {
  KindCounts layers;
  const bool is_leading = times.recompute.is_leading;
  for (const Stage& stage : stages) {
    for (const LayerKind kind : kLayerKinds) {
      layers.of[kind] += stage.layers.of[kind];
      if (is_leading) layers.leading[kind] += stage.layers.leading[kind];
    }
  }
  for (const LayerKind kind : kLayerKinds) {
    if (!trace.on() || layers.of[kind] == 0) continue;
    ListedSum<double> placed(trace), leading(trace);
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const double here = stages[i].layers.of[kind], recomputed = stages[i].layers.leading[kind];
      if (here > 0) placed.Add(StageName(i), here, 1, PlacedSymbol(i, NameOf(kind)));
      if (here > 0 && is_leading) leading.Add(StageName(i), recomputed, 1, LeadingSymbol(i, NameOf(kind)));
    }
    placed.Total(NameOf(kind), {"Layers of a kind on all stages"});
    if (is_leading) leading.Total(LeadingName(NameOf(kind)), {"Layers of a kind that are recomputed on all stages"});
  }
  return layers;
}

}  // namespace

Flops FlopsOfStages(const TrainingContext& context, const LayerTimes& times, const std::vector<Stage>& stages,
                    Trace& trace) {
  const KindCounts layers = LayersOf(times, stages, trace);
  ListedSum<Flops> sum(trace);
  VisitStage(context, times, layers, true, true, [&](std::string_view name, const StagePart& part, double count) {
    if (part.time->all_flops == Flops{}) return;
    if (!trace.on()) return sum.Add(name, part.time->all_flops, count);
    ExplainCount(context, name, part, 1, name, LeadingName(name), count, times.recompute, trace);
    const std::string_view component = name == "mtp_module" ? NameOf(MtpKind(context)) : name;
    sum.Add(name, part.time->all_flops, count, PartSymbol(component, part.is_full, kLayerFlops), "count");
  });
  return sum.Total("micro_batch_flops", {"FLOPs of a micro-batch", "on all stages, as the kernels execute them"});
}

void ExplainStage(const TrainingContext& context, const LayerTimes& times, const std::vector<StageShare>& stages,
                  const StageTime& stage, Trace& trace) {
  StageSums sums(context, trace);
  for (const StageShare& one : stages) {
    VisitStage(context, times, one.stage->layers, one.stage->embedding, one.stage->head,
               [&](std::string_view name, const StagePart& part, double parts) {
                 const double count = one.share * parts;
                 if (count == 0) return;
                 ExplainCount(context, name, part, one.share, PlacedSymbol(one.index, name),
                              LeadingSymbol(one.index, name), count, times.recompute, trace);
                 const std::string_view component = name == "mtp_module" ? NameOf(MtpKind(context)) : name;
                 sums.Add(name, component, part, count);
               });
  }
  sums.Record(stage);
}

}  // namespace slipstick
