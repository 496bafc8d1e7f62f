#include "core/training/weight_update.h"

#include <string_view>

#include "core/base/trace.h"
#include "core/training_stage/named_terms.h"

namespace slipstick {
namespace {

constexpr std::string_view kUpdateSource =
    "operands of a fused update and of gradient clipping, each counted once; Kingma and Ba 2015";

// Bytes of optimizer state per parameter that the update reads and writes.
double StateTraffic(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kAdamW:
      return 24;
    case Optimizer::kAdam8Bit:
      return 12;
    case Optimizer::kMuon:
    case Optimizer::kSgd:
      return 16;
    case Optimizer::kAdafactor:
      return 8;
    case Optimizer::kNone:
      return 0;
  }
  return 24;
}

}  // namespace

UpdateTime UpdateWeights(const TrainingContext& context, const TrainedParameters& trained, Trace& trace) {
  const TrainingRun& run = context.run;
  const bool frozen = run.optimizer == Optimizer::kNone;
  const auto [dense, experts, dense_shards, expert_shards] = trained;
  const double state_traffic = StateTraffic(run.optimizer);
  const BytesPerSecond stream_rate = context.stream_rate;
  const double owned = run.mapping.zero >= 2 ? trained.OfShard() : dense + experts;
  trace.Input("state_traffic", state_traffic, "training.optimizer");
  const bool owns_shard = run.mapping.zero >= 2;
  const Note note{"Gradients that the device clips and zeroes", owns_shard ? "of its shard" : "of all its weights"};
  if (owns_shard) {
    trace.Record("owned", "dense / dense_shards + experts / expert_shards", owned, note,
                 "dense, dense_shards, experts, expert_shards", dense, dense_shards, experts, expert_shards);
  } else {
    trace.Record("owned", "dense + experts", owned, note, "dense, experts", dense, experts);
  }
  const double on_host = context.framework().offload.host_update ? run.offload.optimizer : Ratio(0);
  trace.Input("on_host", on_host,
              context.framework().offload.host_update ? "training.offload.optimizer"
                                                      : "training.framework.offload.host_update");
  FIGURE(trace, updated, (1 - on_host) * (dense / dense_shards + experts / expert_shards),
         (Note{"Parameters that the device updates", "of its shard; not those that the host updates"}), on_host, dense,
         dense_shards, experts, expert_shards);
  FIGURE(trace, optimizer_time, ((state_traffic + 10) * updated + 6 * owned) * kB / stream_rate,
         (Note{"Optimizer step", "state read and written, gradient and weight; norm and zeroing of all gradients",
               kUpdateSource}),
         state_traffic, updated, owned, stream_rate);
  UpdateTime update;
  update.optimizer = frozen ? Seconds{} : optimizer_time;
  if (!context.framework().compute.separate_accumulation) {
    trace.Input("accumulation_time", Seconds(), "training.framework.compute.separate_accumulation");
  } else {
    const double micro_batches = context.shape.micro_batches;
    FIGURE(trace, accumulation_time, micro_batches * 8 * kB * (dense + experts) / stream_rate,
           (Note{"Gradient accumulation", "16-bit gradients added into the fp32 copy after every micro-batch"}),
           micro_batches, dense, experts, stream_rate);
    update.accumulation = accumulation_time;
  }
  return update;
}

HostTime UpdateOffloaded(const TrainingContext& context, const TrainedParameters& trained, Seconds device_update,
                         Trace& trace) {
  const auto [dense, experts, dense_shards, expert_shards] = trained;
  const double offloaded = context.run.offload.optimizer;
  const BytesPerSecond host_bandwidth = context.device().host.bandwidth;
  trace.Input("offloaded", offloaded, "training.offload.optimizer");
  FIGURE(trace, offloaded_state, offloaded * (dense / dense_shards + experts / expert_shards),
         (Note{"Parameters with offloaded optimizer state", "of the rank's shard"}), offloaded, dense, dense_shards,
         experts, expert_shards);
  const Seconds optimizer_time = device_update;
  if (!context.framework().offload.host_update) {
    const StateBytes state = StateBytesOf(context);
    const double optimizer_bytes = state.optimizer;
    trace.Alias("optimizer_bytes", optimizer_bytes, "state_optimizer");
    FIGURE(trace, state_link, optimizer_bytes * kB * offloaded_state / host_bandwidth,
           (Note{"Optimizer state on the host link", "both directions at once, piece by piece"}), optimizer_bytes,
           offloaded_state, host_bandwidth);
    FIGURE(trace, state_exposed, max(0 * kS, state_link - optimizer_time),
           (Note{"Exposed transfer of the optimizer state", "the update of one piece hides the transfer of another"}),
           state_link, optimizer_time);
    return {state_link, state_exposed, {}};
  }
  const BytesPerSecond host_update = *context.framework().offload.host_update;
  const double state_traffic = StateTraffic(context.run.optimizer);
  trace.Input("host_update", host_update, "training.framework.offload.host_update");
  FIGURE(trace, state_link, 2 * kB * offloaded_state / host_bandwidth,
         (Note{"Updated weights on the host link", "in 16 bits"}), offloaded_state, host_bandwidth);
  FIGURE(trace, host_update_time, (state_traffic + 10) * kB * offloaded_state / host_update,
         (Note{"Update by the host", "state, gradient and weight in its memory", kUpdateSource}), state_traffic,
         offloaded_state, host_update);
  FIGURE(trace, state_exposed, max(0 * kS, state_link - host_update_time),
         (Note{"Exposed return of the weights", "they return as they are updated"}), state_link, host_update_time);
  return {state_link, state_exposed, host_update_time};
}

}  // namespace slipstick
