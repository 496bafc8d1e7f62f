// Serving: latency, throughput, memory and energy of a load on a cluster.
#pragma once

#include <string>

#include "core/base/issue.h"
#include "core/engine_step/serving_load.h"
#include "core/hardware/cluster.h"
#include "core/serving/serving_report.h"
#include "core/workload/model.h"

namespace slipstick {

// Reports contradictions between load, model and cluster, each with the nearest valid values; fills `devices` and
// `replicas`.
void ValidateAndFillDefaults(ServingLoad& load, const Model& model, const Cluster& cluster, const std::string& path,
                             Issues& issues);

class ServingMemo;
// With a memo (memo.h), for a search: an infeasible mapping is not timed, and figures that no search uses (static
// latency, longest context, messages) stay empty.
ServingReport EvaluateServing(const Model& model, const Cluster& cluster, const ServingLoad& asked, bool operators,
                              Tape* tape = nullptr, ServingMemo* memo = nullptr);

}  // namespace slipstick
