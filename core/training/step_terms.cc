#include "core/training/step_terms.h"

#include <vector>

#include "core/base/figure.h"
#include "core/collectives/fabric.h"
#include "core/training_stage/shape.h"

namespace slipstick {
namespace {

// Relative slowdown of a step per doubling of the pods or nodes.
Ratio PodJitter(const TrainingContext& context) {
  const std::vector<NetworkLevel>& levels = context.cluster.networks;
  if (levels.size() < 2) return InputAt("cluster.networks", Ratio(0), context.tape);
  if (context.framework().utilization) return InputAt("training.framework.utilization", Ratio(0), context.tape);
  return levels[1].fabric->in_step.pod_jitter;
}

}  // namespace

StepTerms::StepTerms(const TrainingContext& of)
    : run(of.run),
      tensor(of.shape.tensor),
      context(of.shape.context),
      pipeline(of.shape.pipeline),
      chunks(of.shape.chunks),
      data(of.shape.data),
      expert(of.shape.expert),
      expert_tensor(of.shape.expert_tensor),
      micro_batches(of.shape.micro_batches),
      tokens(of.shape.tokens),
      own_tokens(of.shape.sequence_parallel_tokens),
      offloaded_gradients(InputAt(InputOfOffloadedGradients(run), OffloadedGradients(run), of.tape)),
      host_bandwidth(of.device().host.bandwidth),
      pod_jitter(PodJitter(of)),
      node_devices(InputAt("cluster.networks.0.size", Ratio(of.node_devices), of.tape)) {}

}  // namespace slipstick
