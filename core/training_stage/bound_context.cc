#include "core/training_stage/bound_context.h"

#include <deque>
#include <memory>

#include "core/base/bind_inputs.h"
#include "core/base/field_table.h"
#include "core/collectives/bound_fabric.h"
#include "core/operators/bound_device.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// `framework` has nodes. What the roofline scales is bound before it does, what rules fill after they did.
std::shared_ptr<const StepCluster> ClusterWithNodes(const Cluster& cluster, const Framework& framework, Tape& tape) {
  Cluster asked = cluster;
  BindNetworks(asked.networks, tape);
  BindInputs(asked.devices, "cluster.devices", &tape);
  if (framework.utilization) {
    CompleteEfficiency(asked.device);
    asked.device = WithNodes(asked.device, tape);
  }
  auto step = std::make_shared<StepCluster>(*PrepareCluster(asked, framework));
  for (Cluster* part : {&step->cluster, &step->stated, &step->requested}) part->device = WithNodes(part->device, tape);
  return step;
}

}  // namespace

TrainingContext ContextWithNodes(const Model& model, const Cluster& cluster, const TrainingRun& run, Tape& tape) {
  struct Asked {
    Model model;
    TrainingRun run;
  };
  using Kept = std::deque<Asked>;
  Asked& asked = tape.Kept<Kept>("training", [] { return std::make_shared<Kept>(); }).emplace_back(Asked{model, run});
  BindInputs(asked.model, "model", &tape);
  BindInputs(asked.run, "training", &tape);
  TrainingContext context = MakeContext(asked.model, ClusterWithNodes(cluster, asked.run.framework, tape), asked.run);
  context.tape = &tape;
  return context;
}

}  // namespace slipstick
