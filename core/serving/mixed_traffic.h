// A traffic of several classes of requests, such as chat beside summaries, at the same engines.
#pragma once

#include "core/engine_step/serving_load.h"
#include "core/hardware/cluster.h"
#include "core/serving/serving_report.h"
#include "core/workload/model.h"

namespace slipstick {

class ServingMemo;
// For a load with a mixture, which arrives at random. TTFT and TPOT of the report are means over all requests (TPOT:
// over those of several output tokens), its figures of one kind of request are the mixture's. Without a rate one
// request runs at a time: TTFT is the mean of the classes and TPOT the lowest, below that of any load. What no sizing
// asks for stays empty.
ServingReport EvaluateMixture(const Model& model, const Cluster& cluster, const ServingLoad& load, ServingMemo* memo);

}  // namespace slipstick
