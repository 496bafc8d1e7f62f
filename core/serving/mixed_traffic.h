// Mixed traffic: several classes of requests, such as chat next to summaries, on the same engines.
#pragma once

#include "core/engine_step/serving_load.h"
#include "core/hardware/cluster.h"
#include "core/serving/serving_report.h"
#include "core/workload/model.h"

namespace slipstick {

class ServingMemo;
// For a load with a mixture, which arrives at random. TTFT and TPOT of the report are means over all requests (TPOT:
// over requests with several output tokens); figures for a single kind of request are those of the mixture. Without a
// rate one request runs at a time: TTFT is the mean of the classes, and TPOT is the lowest, below that of any load.
// Figures that sizing does not use stay empty.
ServingReport EvaluateMixture(const Model& model, const Cluster& cluster, const ServingLoad& load, ServingMemo* memo);

}  // namespace slipstick
