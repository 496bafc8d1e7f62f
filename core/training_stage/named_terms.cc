#include "core/training_stage/named_terms.h"

#include <deque>
#include <memory>

#include "core/base/field_table.h"
#include "core/collectives/fabric.h"
#include "core/collectives/named_terms.h"
#include "core/operators/named_terms.h"

namespace slipstick {
namespace {

// `framework` has nodes.
std::shared_ptr<const StepCluster> Named(const StepCluster& plain, const Framework& framework, Trace& trace) {
  auto named = std::make_shared<StepCluster>(plain);
  named->requested.device = Named(plain.requested.device, trace);
  named->stated.device = Named(plain.stated.device, trace);
  Device& device = named->cluster.device = Named(plain.cluster.device, trace);
  BindInputs(device.host, "cluster.device.host", trace);
  BindInputs(device.idle, "cluster.device.idle", trace);
  std::vector<NetworkLevel>& stated = named->stated.networks;
  BindInputs(stated, "cluster.networks", trace);
  BindInputs(named->stated.devices, "cluster.devices", trace);
  for (NetworkLevel& level : stated) {
    level.fabric = Fabric(trace.Kept<FabricConstants>("fabric " + level.fabric->id, [&level, &trace] {
      return std::make_shared<FabricConstants>(Named(*level.fabric, trace));
    }));
  }
  named->cluster.devices = named->stated.devices;
  named->cluster.networks = stated;
  for (std::size_t i = 1; i < stated.size(); ++i)
    named->cluster.networks[i].bandwidth = CollectiveBandwidth(stated[i].bandwidth, framework);
  return named;
}

}  // namespace

TrainingContext MakeContext(const Model& model, const Cluster& cluster, const TrainingRun& run, Trace& trace) {
  if (!trace.on()) return MakeContext(model, cluster, run);
  if (const auto& utilization = run.framework.utilization)
    ReplaceByUtilizations(cluster, *utilization, "training.framework.utilization", trace);
  struct Asked {
    Model model;
    TrainingRun run;
  };
  using Kept = std::deque<Asked>;
  Asked& named = trace.Kept<Kept>("training", [] { return std::make_shared<Kept>(); }).emplace_back(Asked{model, run});
  BindInputs(named.model, "model", trace);
  BindInputs(named.run, "training", trace);
  TrainingContext context =
      MakeContext(named.model, Named(*PrepareCluster(cluster, run.framework), named.run.framework, trace), named.run);
  context.explained = &trace;
  return context;
}

}  // namespace slipstick
