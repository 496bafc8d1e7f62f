#include "core/training/step_terms.h"

#include <vector>

#include "core/collectives/fabric.h"
#include "core/training_stage/shape.h"

namespace slipstick {
namespace {

// Relative slow-down of a step per doubling of the pods or nodes.
Ratio PodJitter(const TrainingContext& context, Trace& trace) {
  const std::vector<NetworkLevel>& levels = context.cluster.networks;
  if (levels.size() < 2) return InputAt(Ratio(0), "cluster.networks", trace);
  if (context.framework().utilization) return InputAt(Ratio(0), "training.framework.utilization", trace);
  const FabricConstants& fabric = *levels[1].fabric;
  const Ratio pod_jitter = fabric.in_step.pod_jitter;
  if (!trace.on()) return pod_jitter;
  return Ratio::FromBase(pod_jitter, trace.tape().Constant("fabrics." + fabric.id + ".pod_jitter", pod_jitter,
                                                           Ratio::kDimension, "pod jitter", kInStepSource));
}

}  // namespace

StepTerms::StepTerms(const TrainingContext& of, Trace& trace)
    : run(of.run),
      tensor(trace.Carry("tp", Ratio(of.shape.tensor))),
      context(trace.Carry("cp", Ratio(of.shape.context))),
      pipeline(trace.Carry("pp", Ratio(of.shape.pipeline))),
      chunks(InputAt(Ratio(of.shape.chunks), "training.mapping.virtual_stages", trace)),
      data(trace.Carry("dp", Ratio(of.shape.data))),
      expert(trace.Carry("ep", Ratio(of.shape.expert))),
      expert_tensor(trace.Carry("expert_tp", Ratio(of.shape.expert_tensor))),
      micro_batches(trace.Carry("micro_batches", Ratio(of.shape.micro_batches))),
      tokens(trace.Carry("tokens", Ratio(of.shape.tokens))),
      own_tokens(trace.Carry("own_tokens", Ratio(of.shape.sequence_parallel_tokens))),
      offloaded_gradients(InputAt(Ratio(OffloadedGradients(run)), InputOfOffloadedGradients(run), trace)),
      host_bandwidth(InputAt(of.device().host.bandwidth, "cluster.device.host.bandwidth", trace)),
      pod_jitter(PodJitter(of, trace)),
      node_devices(InputAt(Ratio(of.node_devices), "cluster.networks.0.size", trace)) {}

Ratio StepTerms::DataRanks() const { return Figure("Ranks that hold the same dense weights", data * context); }
Ratio StepTerms::ExpertDataRanks() const {
  return Figure("Ranks that hold the same experts", data * context * tensor / (expert * expert_tensor));
}

Ratio StepTerms::ShardsFrom(int from, Ratio data_ranks) const {
  const TrainingMapping& mapping = run.mapping;
  const Ratio zero = mapping.zero, is_sharded = from == 1 ? min(1, zero) : floor(zero / from);
  const Ratio group = mapping.shard_within ? min(data_ranks, Ratio(*mapping.shard_within) * context) : data_ranks;
  return Figure("Shards", max(1, is_sharded * group),
                "ranks that split a state, of one replica group; one where ZeRO does not split it");
}

}  // namespace slipstick
