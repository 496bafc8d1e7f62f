// Collectives whose inputs are recorded on a tape.
#pragma once

#include "core/base/bind_inputs.h"
#include "core/collectives/bound_fabric.h"
#include "core/collectives/collective.h"
#include "core/collectives/group_view.h"

namespace slipstick::testing {

// Binds the message as model.bytes and the ranks as training.mapping.tp. Of several levels, the ranks of the innermost
// are cluster.networks.0.size.
inline CollectiveTime ExplainedTime(CollectiveCall call, const GroupPlacement& group, Cluster cluster, Tape& tape) {
  BindNetworks(cluster.networks, tape);
  BindInputs(cluster.devices, "cluster.devices", &tape);
  call.bytes = InputAt("model.bytes", call.bytes, &tape);
  GroupView view = ViewOf(group, cluster);
  view.ranks = InputAt("training.mapping.tp", view.ranks, &tape);
  LevelView& inner = view.levels[0];
  inner.ranks = view.count == 1 ? view.ranks : InputAt("cluster.networks.0.size", inner.ranks, &tape);
  for (int i = 0; i < view.count; ++i) RestOnBlock(view.levels[i]);
  return TimeOf(call, view, cluster.collectives);
}

}  // namespace slipstick::testing
