#include "core/training/weight_update.h"

#include <string_view>

#include "core/base/figure.h"
#include "core/base/units.h"

namespace slipstick {
namespace {

constexpr std::string_view kUpdateSource =
    "operands of a fused update and of gradient clipping, each counted once; Kingma and Ba 2015";

}  // namespace

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

UpdateTime UpdateWeights(const WeightUpdate& update) {
  const TrainedParameters& trained = update.trained;
  const Ratio all = trained.dense + trained.experts;
  const Ratio owned = update.owns_shard
                          ? Figure("Owned parameters", trained.OfShard(), "whose gradients the device clips: its shard")
                          : Figure("Owned parameters", all, "whose gradients the device clips: all its weights");
  const Ratio on_host = update.host_update ? update.offloaded : Ratio(0);
  const Ratio updated = Figure("Updated parameters", (1 - on_host) * trained.OfShard(),
                               "by the device: of its shard, not those that the host updates");
  UpdateTime time;
  time.optimizer =
      Figure("Optimizer time", ((update.state_traffic + 10) * updated + 6 * owned) * kB / update.stream_rate,
             "state read and written, gradient and weight; norm and zeroing of all gradients", kUpdateSource);
  if (update.separate_accumulation)
    time.accumulation = Figure("Gradient accumulation", update.micro_batches * 8 * kB * all / update.stream_rate,
                               "16-bit gradients added into the fp32 copy after every micro-batch");
  return time;
}

HostTime UpdateOffloaded(const WeightUpdate& update, Seconds device_update) {
  const Ratio state = Figure("Offloaded parameters", update.offloaded * update.trained.OfShard(),
                             "with optimizer state in host memory, of the rank's shard");
  HostTime time;
  if (!update.host_update) {
    time.link = Figure("Optimizer state on the host link", update.optimizer_bytes * kB * state / update.host_bandwidth,
                       "both directions at once, piece by piece");
    time.exposed = Figure("Exposed transfer of the optimizer state", max(0 * kS, time.link - device_update),
                          "the update of one piece hides the transfer of another");
    return time;
  }
  time.link = Figure("Updated weights on the host link", 2 * kB * state / update.host_bandwidth, "in 16 bits");
  time.update = Figure("Update by the host", (update.state_traffic + 10) * kB * state / *update.host_update,
                       "state, gradient and weight in its memory", kUpdateSource);
  time.exposed =
      Figure("Exposed return of the weights", max(0 * kS, time.link - time.update), "they return as they are updated");
  return time;
}

}  // namespace slipstick
